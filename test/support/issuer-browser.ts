/** A browser without pages: it keeps cookies by host and path, and follows redirects as long as it should. */
export interface CookieBrowser {
  /** Requests an address without following redirects. */
  open(address: string, form?: Record<string, string>): Promise<Response>;
  /** The cookies for an address, as a header. */
  cookiesFor(address: string): string;
  /** Sets the cookies of an address, from a header. */
  setCookies(address: string, header: string): void;
}

interface Cookie {
  readonly host: string;
  readonly path: string;
  readonly value: string;
}

export function createCookieBrowser(): CookieBrowser {
  /** By host, path and name. */
  const cookies = new Map<string, Cookie & { readonly name: string }>();
  const set = (host: string, path: string, name: string, value: string) =>
    cookies.set(`${host} ${path} ${name}`, { host, path, name, value });

  function cookiesFor(address: string): string {
    const { host, pathname } = new URL(address);
    return [...cookies.values()]
      .filter((cookie) => cookie.host === host && pathname.startsWith(cookie.path) && cookie.value !== '')
      .map(({ name, value }) => `${name}=${value}`)
      .join('; ');
  }
  return {
    cookiesFor,
    setCookies(address, header) {
      const { host } = new URL(address);
      for (const pair of header.split('; ')) {
        const at = pair.indexOf('=');
        set(host, '/', pair.slice(0, at), pair.slice(at + 1));
      }
    },
    async open(address, form) {
      const reply = await fetch(address, {
        method: form === undefined ? 'GET' : 'POST',
        redirect: 'manual',
        headers: { cookie: cookiesFor(address) },
        ...(form === undefined ? {} : { body: new URLSearchParams(form) }),
      });
      for (const line of reply.headers.getSetCookie()) {
        const [pair = '', ...attributes] = line.split(/; ?/);
        const at = pair.indexOf('=');
        const path = attributes.find((one) => /^path=/i.test(one))?.slice('path='.length) ?? '/';
        const isOver = attributes.some(
          (one) => /^max-age=0$/i.test(one) || /^expires=thu, 01 jan 1970/i.test(one),
        );
        set(new URL(address).host, path, pair.slice(0, at), isOver ? '' : pair.slice(at + 1));
      }
      return reply;
    },
  };
}

/**
 * Logs a person in at the issuer, from the address that the service has sent the browser to. Returns the address of
 * the callback, which is not opened.
 */
export async function logInAtIssuer(
  browser: CookieBrowser,
  address: string,
  person: string,
): Promise<string> {
  const { origin } = new URL(address);
  let next = address;
  for (let step = 0; step < 12; step += 1) {
    if (new URL(next).origin !== origin) return next;
    const reply = await browser.open(next);
    const location = reply.headers.get('location');
    if (location !== null) {
      next = new URL(location, next).href;
      continue;
    }
    const page = await reply.text();
    const action = /action="([^"]+)"/.exec(page)?.[1];
    if (action === undefined) throw new Error(`the issuer answered ${reply.status}: ${page.slice(0, 500)}`);
    const form = page.includes('name="login"')
      ? { prompt: 'login', login: person, password: 'any' }
      : { prompt: 'consent' };
    const answer = await browser.open(new URL(action, next).href, form);
    next = new URL(answer.headers.get('location') ?? '', next).href;
  }
  throw new Error(`the login does not end: ${next}`);
}
