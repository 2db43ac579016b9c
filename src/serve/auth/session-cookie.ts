/** Name of the cookie that carries a browser session. */
export const SESSION_COOKIE = 'service_session';

/** Name of the cookie that carries a login at the issuer while it lasts. */
export const LOGIN_COOKIE = 'service_login';

/** The session token in a `Cookie` header; undefined without one. */
export function sessionTokenOf(cookieHeader: string): string | undefined {
  return cookieOf(cookieHeader, SESSION_COOKIE);
}

/** The value of a cookie in a `Cookie` header; undefined without one. */
export function cookieOf(cookieHeader: string, name: string): string | undefined {
  // Fast path: most cookies of a page are not session cookies.
  if (!cookieHeader.includes(name)) return undefined;
  for (const pair of cookieHeader.split(';')) {
    const end = pair.indexOf('=');
    if (end === -1 || pair.slice(0, end).trim() !== name) continue;
    const token = pair.slice(end + 1).trim();
    if (token !== '') return token;
  }
  return undefined;
}

/** A `Set-Cookie` value, for all paths below the base. Tokens consist of characters that need no escaping. */
export function sessionCookie(
  token: string,
  maxAgeSeconds: number,
  basePath: string,
  secure: boolean,
): string {
  return setCookie(SESSION_COOKIE, token, maxAgeSeconds, `${basePath}/`, secure);
}

/** The same for a login at the issuer; only the routes below `path` get it. */
export function loginCookie(flow: string, maxAgeSeconds: number, path: string, secure: boolean): string {
  return setCookie(LOGIN_COOKIE, flow, maxAgeSeconds, path, secure);
}

/** Lax: the browser comes back from the issuer by a link of another site. */
function setCookie(
  name: string,
  value: string,
  maxAgeSeconds: number,
  path: string,
  secure: boolean,
): string {
  const attributes = `HttpOnly; SameSite=lax; Path=${path}; Max-Age=${maxAgeSeconds}`;
  return `${name}=${value}; ${attributes}${secure ? '; Secure' : ''}`;
}
