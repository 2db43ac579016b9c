import { createHmac, createSecretKey, type KeyObject, timingSafeEqual } from 'node:crypto';
import { type JsonValue, parseJson, stringifyJson } from '../../../packages/exact-json/src/index.js';
import { printedClaims, readClaims, type TokenClaims } from './token-claims.js';
import { invalidRuntimeToken } from './token-errors.js';

/** The first part of every token: `{"alg":"HS256","typ":"JWT"}`. A token with another header is none of this service. */
const HEADER = Buffer.from('{"alg":"HS256","typ":"JWT"}').toString('base64url');
const START = `${HEADER}.`;
/** Longest token, in characters. */
export const MAX_TOKEN_LENGTH = 8_192;
/** Of an HMAC with SHA-256, in base64url. */
const SIGNATURE_LENGTH = 43;
const PAYLOAD = /^[\w-]+$/;

/** Signs tokens, and verifies them. Neither waits for anything. */
export interface TokenCodec {
  /** The token with these claims, signed with the first secret. It may be longer than `MAX_TOKEN_LENGTH`. */
  sign(claims: TokenClaims): string;
  /**
   * The claims of a token that is signed with one of the secrets; it may have expired. Fails with AUTH_INVALID_KEY and
   * the reason. `now` is in seconds since 1970.
   */
  verify(token: string, now: number): TokenClaims;
}

/** Whether a text can only be a token of this kind: no key and no token of an issuer begins like one. */
export function isRuntimeToken(text: string): boolean {
  return text.startsWith(START);
}

/** `secrets` are one or two texts; the first one signs, each of them verifies. */
export function createTokenCodec(secrets: readonly string[]): TokenCodec {
  const keys = secrets.map((secret) => createSecretKey(secret, 'utf8'));
  const [signing] = keys;
  if (signing === undefined) throw new Error('tokens need a secret');

  function isSigned(signed: string, signature: string): boolean {
    const given = Buffer.from(signature, 'latin1');
    // All keys are tried, so that the time does not tell which one it was.
    let matches = false;
    for (const key of keys) {
      const expected = Buffer.from(signatureOf(signed, key), 'latin1');
      matches = (given.length === expected.length && timingSafeEqual(given, expected)) || matches;
    }
    return matches;
  }

  return {
    sign(claims) {
      const payload = Buffer.from(stringifyJson(printedClaims(claims))).toString('base64url');
      const signed = START + payload;
      return `${signed}.${signatureOf(signed, signing)}`;
    },
    verify(token, now) {
      if (token.length > MAX_TOKEN_LENGTH)
        throw invalidRuntimeToken(`has more than ${MAX_TOKEN_LENGTH} characters`);
      if (!isRuntimeToken(token)) throw invalidRuntimeToken('is not one of this service (JWT, HS256)');
      const end = token.lastIndexOf('.');
      const payload = token.slice(START.length, end);
      const signature = token.slice(end + 1);
      if (!PAYLOAD.test(payload) || signature.length !== SIGNATURE_LENGTH)
        throw invalidRuntimeToken('is malformed');
      if (!isSigned(token.slice(0, end), signature)) throw invalidRuntimeToken('has a wrong signature');
      return readClaims(parsed(payload), now);
    },
  };
}

function signatureOf(signed: string, key: KeyObject): string {
  return createHmac('sha256', key).update(signed).digest('base64url');
}

function parsed(payload: string): JsonValue {
  try {
    return parseJson(Buffer.from(payload, 'base64url'), { duplicates: 'refuse' });
  } catch {
    throw invalidRuntimeToken('is malformed');
  }
}
