/**
 * Figures that the service publishes at `/metrics`, by names without their prefix. One that counts a maximum counts it
 * since it was read last.
 * @param {string} url
 */
export async function metricsOf(url) {
  const text = await (await fetch(`${url}/metrics`)).text();
  /** @param {string} name */
  return (name) => {
    const value = new RegExp(`_${name}(?:\\{[^}]*\\})? ([\\d.e+-]+)`).exec(text)?.[1];
    if (value === undefined) throw new Error(`${url}/metrics has no ${name}`);
    return Number(value);
  };
}

/**
 * One of them.
 * @param {string} url
 * @param {string} name
 */
export async function metricOf(url, name) {
  return (await metricsOf(url))(name);
}
