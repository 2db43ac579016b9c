import { createHash, timingSafeEqual } from 'node:crypto';
import { Access } from '../../../gen/proto/enforcement/v1/options_pb.js';
import { ServiceError } from '../../errors/service-error.js';
import type { Principal } from '../../rpc/handler.js';

/** Decides who is calling. */
export interface Authenticator {
  /**
   * The principal behind a key, if it may do what `access` demands. `apiKey` is the value of the `x-api-key` header
   * or metadata entry. Throws AUTH_MISSING_KEY, AUTH_INVALID_KEY or AUTH_INSUFFICIENT_PRIVILEGES.
   */
  authorize(apiKey: string | undefined, access: Access): Principal;
}

export interface AuthenticatorOptions {
  readonly enabled: boolean;
  readonly keys: readonly string[];
  readonly adminKeys: readonly string[];
}

interface KnownKey {
  readonly digest: Buffer;
  readonly principal: Principal;
}

const ANONYMOUS: Principal = { level: 'anonymous', keyFingerprint: null };

export function createAuthenticator(options: AuthenticatorOptions): Authenticator {
  if (!options.enabled) return { authorize: () => ANONYMOUS };
  // Admin keys come last: a key in both lists is an admin key.
  const known = [
    ...options.keys.map((key) => knownKey(key, 'key')),
    ...options.adminKeys.map((key) => knownKey(key, 'admin')),
  ];
  return {
    authorize(apiKey, access) {
      if (access === Access.PUBLIC) return ANONYMOUS;
      if (apiKey === undefined || apiKey === '') throw missingKey();
      const principal = lookUp(known, apiKey);
      if (principal === undefined) throw invalidKey();
      // Whatever is not stated to be open to regular keys is for admins.
      if (access !== Access.KEY && principal.level !== 'admin') throw insufficientPrivileges();
      return principal;
    },
  };
}

function knownKey(key: string, level: 'key' | 'admin'): KnownKey {
  const digest = sha256(key);
  return { digest, principal: { level, keyFingerprint: digest.toString('hex').slice(0, 12) } };
}

/** Compares digests of equal length and always looks at every key, so that time tells nothing about any of them. */
function lookUp(known: readonly KnownKey[], apiKey: string): Principal | undefined {
  const digest = sha256(apiKey);
  let found: Principal | undefined;
  for (const candidate of known) {
    if (timingSafeEqual(candidate.digest, digest)) found = candidate.principal;
  }
  return found;
}

function sha256(text: string): Buffer {
  return createHash('sha256').update(text).digest();
}

function missingKey(): ServiceError {
  return new ServiceError('AUTH_MISSING_KEY', {
    detail: 'This call needs an API key.',
    hint: 'Send the key in the X-API-Key header (x-api-key metadata over gRPC).',
  });
}

function invalidKey(): ServiceError {
  return new ServiceError('AUTH_INVALID_KEY', {
    detail: 'The API key is not known.',
    hint: 'Send the key exactly as configured, without blanks or quotes.',
  });
}

function insufficientPrivileges(): ServiceError {
  return new ServiceError('AUTH_INSUFFICIENT_PRIVILEGES', {
    detail: 'This call needs an admin key.',
    hint: 'Use a key from SERVICE_ADMIN_API_KEYS.',
  });
}
