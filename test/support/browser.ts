import { exchange, type HttpAnswer, type HttpExchange } from './http.js';

/** A `Set-Cookie` value taken apart. */
export interface SetCookie {
  readonly name: string;
  readonly value: string;
  /** Attributes by lower-case name; those without a value are `true`. */
  readonly attributes: Readonly<Record<string, string | true>>;
}

/** The only cookie a reply sets; undefined when it sets none. */
export function cookieSetBy(reply: HttpAnswer): SetCookie | undefined {
  const [only, ...others] = reply.headers['set-cookie'] ?? [];
  if (others.length > 0) throw new Error('more than one cookie was set');
  if (only === undefined) return undefined;
  const [pair = '', ...rest] = only.split('; ');
  const [name = '', value = ''] = halves(pair);
  const attributes = rest.map((attribute): [string, string | true] => {
    const [key = '', setting] = halves(attribute);
    return [key.toLowerCase(), setting ?? true];
  });
  return { name, value, attributes: Object.fromEntries(attributes) };
}

function halves(text: string): string[] {
  const at = text.indexOf('=');
  return at === -1 ? [text] : [text.slice(0, at), text.slice(at + 1)];
}

/** Sends JSON and the given headers, exactly these. */
export function sendJson(
  baseUrl: string,
  method: string,
  path: string,
  body?: unknown,
  headers: NonNullable<HttpExchange['headers']> = {},
  ca?: Buffer,
): Promise<HttpAnswer> {
  const content = body === undefined ? {} : { body: typeof body === 'string' ? body : JSON.stringify(body) };
  const all = { 'content-type': 'application/json', ...headers };
  return exchange(baseUrl, { method, path, headers: all, ...content }, ca);
}

/** Logs in and returns the `Cookie` header of the session. */
export async function logIn(baseUrl: string, apiKey: string): Promise<string> {
  const reply = await sendJson(baseUrl, 'POST', '/api/login', { api_key: apiKey });
  const cookie = cookieSetBy(reply);
  if (cookie === undefined) throw new Error(`the login was refused: ${reply.status} ${reply.text}`);
  return `${cookie.name}=${cookie.value}`;
}

/** The token in a `Cookie` header of a session. */
export function tokenOf(cookieHeader: string): string {
  return cookieHeader.slice(cookieHeader.indexOf('=') + 1);
}
