import type { Config } from '../../contract/config/config.js';
import { isRuntimeToken } from '../runtime-tokens/token-codec.js';

/** Header and metadata entry that carries the API key. */
export const API_KEY_HEADER = 'x-api-key';

/** Where the key of a request is read from: the headers by name, and as a flat list of names and values. */
export interface KeyHeaders {
  readonly headers: Readonly<Record<string, string | string[] | undefined>>;
  readonly rawHeaders: readonly string[];
}

/** Reads what a caller without a session shows. All texts that it returns have at least one character. */
export interface KeyReader {
  /** The key of `x-api-key`, else of the first further header that has one. */
  headerKeyOf(request: KeyHeaders): string | undefined;
  /** The same, else that of `authorization: Bearer KEY`. Credentials of other schemes are not for this service. */
  keyOf(request: KeyHeaders): string | undefined;
  /** A runtime token, as far as evaluations take tokens. */
  runtimeTokenOf(request: KeyHeaders): string | undefined;
  /** What an evaluation is allowed by: such a key, or a runtime token; undefined if it needs nothing. */
  evaluationKeyOf(request: KeyHeaders): string | undefined;
}

export interface KeyReaderOptions {
  /** Headers that carry a key besides `x-api-key`, in lower case. */
  readonly keyHeaders?: readonly string[];
  /** What evaluations take; by default the same as other calls. */
  readonly runtime?: Pick<Config['auth']['runtime'], 'mode' | 'header'>;
  /** Instead of keys: all headers with credentials as one text, if another service decides about them. */
  readonly forwarded?: ((headers: KeyHeaders['headers']) => string | undefined) | undefined;
}

export function createKeyReader(options: KeyReaderOptions = {}): KeyReader {
  const { keyHeaders = [], runtime = { mode: 'auth', header: 'authorization' }, forwarded } = options;
  const names = [API_KEY_HEADER, ...keyHeaders];

  function headerKeyOf(request: KeyHeaders): string | undefined {
    for (const name of names) {
      const value = firstOf(request, name);
      if (value !== undefined && value !== '') return value;
    }
    return undefined;
  }

  function keyOf(request: KeyHeaders): string | undefined {
    if (forwarded !== undefined) return forwarded(request.headers);
    const key = headerKeyOf(request);
    const { authorization } = request.headers;
    return key !== undefined || authorization === undefined ? key : bearerOf(authorization);
  }

  /** Only the header of tokens is read; another one than Authorization may have the token alone. */
  function tokenOf({ headers }: KeyHeaders): string | undefined {
    const value = headers[runtime.header];
    if (value === undefined) return undefined;
    const bearer = bearerOf(value);
    if (bearer !== undefined || runtime.header === 'authorization') return bearer;
    const text = (typeof value === 'string' ? value : (value[0] ?? '')).trim();
    return text === '' ? undefined : text;
  }

  /** Where keys are taken as well, only what can be a token is one. */
  function runtimeTokenOf(request: KeyHeaders): string | undefined {
    const { mode } = runtime;
    if (mode !== 'jwt' && mode !== 'both') return undefined;
    const token = tokenOf(request);
    return token === undefined || mode === 'jwt' || isRuntimeToken(token) ? token : undefined;
  }

  function evaluationKeyOf(request: KeyHeaders): string | undefined {
    const { mode } = runtime;
    if (mode === 'auth') return keyOf(request);
    return runtimeTokenOf(request) ?? (mode === 'both' ? keyOf(request) : undefined);
  }

  return { headerKeyOf, keyOf, runtimeTokenOf, evaluationKeyOf };
}

/** The name of the scheme is case-insensitive (RFC 9110, section 11.1). */
const BEARER = /^bearer +(\S.*)$/i;

function bearerOf(authorization: string | string[]): string | undefined {
  const value = Array.isArray(authorization) ? authorization[0] : authorization;
  return BEARER.exec(value ?? '')?.[1];
}

/** The value of a header; the first one if it is repeated. */
function firstOf({ headers, rawHeaders }: KeyHeaders, name: string): string | undefined {
  const value = headers[name];
  if (typeof value !== 'string' || !value.includes(',')) return Array.isArray(value) ? value[0] : value;
  // Node joins repeated headers with commas; only the raw list distinguishes that from a comma in a key.
  for (let index = 0; index + 1 < rawHeaders.length; index += 2) {
    if (rawHeaders[index]?.toLowerCase() === name) return rawHeaders[index + 1];
  }
  return value;
}
