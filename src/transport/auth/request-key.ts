/** Header and metadata entry that carries the API key. */
export const API_KEY_HEADER = 'x-api-key';

/** Where the key of a request is read from: the headers by name, and as a flat list of names and values. */
export interface KeyHeaders {
  readonly headers: Readonly<Record<string, string | string[] | undefined>>;
  readonly rawHeaders: readonly string[];
}

/** The API key of a request, never empty; the first one if the header is repeated. Undefined without one. */
export function apiKeyOf(request: KeyHeaders): string | undefined {
  const value = firstOf(request);
  return value === '' ? undefined : value;
}

function firstOf({ headers, rawHeaders }: KeyHeaders): string | undefined {
  const value = headers[API_KEY_HEADER];
  if (typeof value !== 'string' || !value.includes(',')) return Array.isArray(value) ? value[0] : value;
  // Node joins repeated headers with commas; only the raw list distinguishes that from a comma in a key.
  for (let index = 0; index + 1 < rawHeaders.length; index += 2) {
    if (rawHeaders[index]?.toLowerCase() === API_KEY_HEADER) return rawHeaders[index + 1];
  }
  return value;
}
