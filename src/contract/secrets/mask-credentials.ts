/** Replacement of a secret in a text or a value. */
export const MASK = '***';

/** A key in PEM form (RFC 7468); one that is cut off ends with the text. */
const PEM_BLOCK = /-----BEGIN [^-]{0,60}-----[\s\S]*?(?:-----END [^-]{0,60}-----|$)/g;
/** Headers whose whole line is secret. */
const SECRET_HEADER = /\b((?:set-)?cookie|(?:proxy-)?authorization)( ?: ?)[^\r\n]+/gi;
/** `scheme://user:password@host` and `scheme://token@host`: the part before the last `@` of the authority (RFC 3986). */
const URL_CREDENTIALS = /:\/\/[^\s/]{1,700}@/g;
/** Credentials of an Authorization header (RFC 9110) without its name. */
const AUTH_SCHEME = /\b(bearer|basic)( {1,4})[\w.~+/=-]{8,}/gi;
/** A JSON Web Token (RFC 7519), whole or cut off: base64url of `{"` begins with `eyJ`. */
const JSON_WEB_TOKEN = /\beyJ[\w-]{8,}(?:\.[\w-]*){0,4}/g;
/** Keys of well-known vendors, identified by their prefix. */
const PREFIXED_KEY =
  /\b(?:(?:sk|pk|rk)[-_]|gh[pousr]_|github_pat_|glpat-|xox[abeoprs]-|npm_|hf_|AKIA|ASIA|AIza|ya29\.)[\w-]{12,}/g;

/**
 * Replaces what has the form of a credential by MASK: keys, tokens, and the user part of addresses. The time is linear
 * in the text: no pattern can read the same characters repeatedly without a bound.
 */
export function maskCredentials(text: string): string {
  return text
    .replace(PEM_BLOCK, MASK)
    .replace(SECRET_HEADER, `$1$2${MASK}`)
    .replace(URL_CREDENTIALS, `://${MASK}@`)
    .replace(AUTH_SCHEME, `$1$2${MASK}`)
    .replace(JSON_WEB_TOKEN, MASK)
    .replace(PREFIXED_KEY, MASK);
}
