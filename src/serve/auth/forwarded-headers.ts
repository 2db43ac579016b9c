import { API_KEY_HEADER, type KeyHeaders } from './key-reader.js';

/** Headers with credentials that are always forwarded. */
const ALWAYS = [API_KEY_HEADER, 'authorization', 'cookie'];

/** The headers with credentials, as one text that identifies them; undefined if a request has none of them. */
export function createForwardedText(
  further: readonly string[],
): (headers: KeyHeaders['headers']) => string | undefined {
  const names = [...new Set([...ALWAYS, ...further])];
  return (headers) => {
    let found: string[] | undefined;
    for (const name of names) {
      const value = headers[name];
      if (value === undefined || value === '') continue;
      found ??= [];
      found.push(name, typeof value === 'string' ? value : value.join(', '));
    }
    return found === undefined ? undefined : JSON.stringify(found);
  };
}

/** The headers in such a text. */
export function readForwarded(text: string): Record<string, string> {
  const flat = JSON.parse(text) as string[];
  const headers: Record<string, string> = {};
  for (let index = 0; index + 1 < flat.length; index += 2)
    headers[flat[index] as string] = flat[index + 1] as string;
  return headers;
}
