/** Name of the cookie that carries a browser session. */
export const SESSION_COOKIE = 'service_session';

/** The session token in a `Cookie` header; undefined without one. */
export function sessionTokenOf(cookieHeader: string): string | undefined {
  // Fast path: most cookies of a page are not session cookies.
  if (!cookieHeader.includes(SESSION_COOKIE)) return undefined;
  for (const pair of cookieHeader.split(';')) {
    const end = pair.indexOf('=');
    if (end === -1 || pair.slice(0, end).trim() !== SESSION_COOKIE) continue;
    const token = pair.slice(end + 1).trim();
    if (token !== '') return token;
  }
  return undefined;
}

/** A `Set-Cookie` value. Tokens consist of characters that need no escaping. */
export function sessionCookie(token: string, maxAgeSeconds: number, secure: boolean): string {
  const attributes = `HttpOnly; SameSite=lax; Path=/; Max-Age=${maxAgeSeconds}`;
  return `${SESSION_COOKIE}=${token}; ${attributes}${secure ? '; Secure' : ''}`;
}
