/**
 * The address of a service. Throws a TypeError with the remedy when it does not begin with http:// or
 * https://, is not a URL, or has more than a host and a port.
 */
export function checkedBaseUrl(baseUrl: unknown): string {
  if (typeof baseUrl !== 'string' || !/^https?:\/\//i.test(baseUrl)) {
    const given = typeof baseUrl === 'string' && baseUrl !== '' ? `, not ${quoted(baseUrl)}` : '';
    throw new TypeError(
      `baseUrl must begin with http:// or https://${given}; for example http://localhost:8000`,
    );
  }
  if (!URL.canParse(baseUrl)) throw new TypeError(`baseUrl is not a URL: ${quoted(baseUrl)}`);
  const { origin, pathname, search, hash, username, password } = new URL(baseUrl);
  if (username !== '' || password !== '') {
    throw new TypeError(`baseUrl must have no user name or password: use ${origin}, and apiKey`);
  }
  if (pathname !== '/' || search !== '' || hash !== '') {
    throw new TypeError(`baseUrl must have no path: use ${origin} instead of ${quoted(baseUrl)}`);
  }
  return origin;
}

/** A text in quotes. The part before an @ may be a password. */
function quoted(text: string): string {
  return JSON.stringify(text.replace(/^.*@/s, '…@'));
}
