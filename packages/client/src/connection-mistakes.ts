import { Code, ConnectError } from '@connectrpc/connect';
import { withHint } from './failures.js';

/** Messages of OpenSSL for an answer without TLS, and for the alert of a plaintext port of the service. */
const NO_TLS = /:SSL routines:[^:]*:(?:wrong version number|tlsv1 alert protocol version):/;

/** Codes of Node.js for a certificate of an unknown authority. */
const NOT_TRUSTED = new Set([
  'DEPTH_ZERO_SELF_SIGNED_CERT',
  'SELF_SIGNED_CERT_IN_CHAIN',
  'UNABLE_TO_GET_ISSUER_CERT',
  'UNABLE_TO_GET_ISSUER_CERT_LOCALLY',
  'UNABLE_TO_VERIFY_LEAF_SIGNATURE',
  'CERT_UNTRUSTED',
]);

/** Codes of Node.js for a certificate that is not valid for this server or at this time. */
const NOT_VALID = new Set([
  'ERR_TLS_CERT_ALTNAME_INVALID',
  'CERT_HAS_EXPIRED',
  'CERT_NOT_YET_VALID',
  'CERT_REVOKED',
]);

/** The HTTP/2 error of a TLS port of the service without TLS in the client, by Node.js and Connect. */
const NEEDS_TLS =
  /^Session closed with error code (?:12|NGHTTP2_INADEQUATE_SECURITY)$|INADEQUATE_SECURITY \(0xc\)$/;

/** Most causes that are inspected; a chain of causes may be circular. */
const MAX_CAUSES = 8;

/**
 * The cause of a broken call or stream, as a ConnectError with the advice of the service in its message. A mistake in the
 * address or the trusted certificates becomes one of code `FailedPrecondition` whose message contains the remedy: a retry would not
 * help.
 */
export function explainedError(reason: unknown): ConnectError {
  const error = ConnectError.from(reason);
  const cure = cureOf(error);
  return cure === undefined
    ? withHint(error)
    : new ConnectError(cure, Code.FailedPrecondition, undefined, undefined, error);
}

function cureOf(error: ConnectError): string | undefined {
  if (NEEDS_TLS.test(error.rawMessage)) return 'the server speaks TLS: use https:// in baseUrl';
  let cause: unknown = error.cause;
  for (let depth = 0; cause instanceof Error && depth < MAX_CAUSES; depth += 1) {
    const { code = '', message } = cause as NodeJS.ErrnoException;
    if (NO_TLS.test(message)) return 'the server does not speak TLS: use http:// in baseUrl';
    if (NOT_TRUSTED.has(code))
      return `certificate not trusted (${message}): give \`ca\` the certificate of the server or of its authority`;
    if (NOT_VALID.has(code)) return `certificate of the server not valid: ${message}`;
    cause = cause.cause;
  }
  return undefined;
}
