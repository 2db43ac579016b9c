import type { Access } from '../../../gen/proto/enforcement/v1/options_pb.js';
import type { Principal } from '../../contract/call/handler.js';
import { type RoleTable, type ScopeMask, scopesOfRole } from '../../contract/call/scopes.js';
import { callerError, type ServiceError } from '../../contract/errors/service-error.js';

/** The properties of an RPC that determine who may call it. */
export interface ProtectedMethod {
  readonly access: Access;
  /** A caller needs any one of these scopes. */
  readonly scopes: readonly string[];
  /** The same as a set. */
  readonly scopeMask: ScopeMask;
  /** Name of the operation, for an upstream that decides about calls. */
  readonly operation: string;
}

/** What a caller has shown. */
export type CredentialKind = 'key' | 'token' | 'session';

/** How texts name the credentials. */
const NAMES: Readonly<Record<CredentialKind, string>> = {
  key: 'key',
  token: 'bearer token',
  session: 'browser session',
};

/** Completes "This call needs …" for a caller that may not do what admins may. Deployed clients show the first one. */
const ADMIN_NEEDS: Readonly<Record<CredentialKind, string>> = {
  key: 'an admin key',
  token: 'a bearer token with a role that stands for admin',
  session: 'a session that was started with an admin key',
};

const ADMIN_HINTS: Readonly<Record<CredentialKind, string>> = {
  key: 'Use a key with the role admin: one of SERVICE_ADMIN_API_KEYS, or of the keys file (SERVICE_KEYS_FILE).',
  token: 'Assign a role of SERVICE_OIDC_ADMIN_ROLES at the issuer, or use an admin key.',
  session: 'Log out, and log in again with a key that has the role admin.',
};

/** The error of a call whose caller has none of the scopes of its method: it names them. */
export function missingScope(
  principal: Principal,
  { scopes, scopeMask }: ProtectedMethod,
  kind: CredentialKind,
  roles: RoleTable,
): ServiceError {
  const names = scopes.join(' or ');
  const isForAdmins = isOfAdminsOnly(scopeMask, roles) && principal.level !== 'admin';
  if (isForAdmins)
    return callerError('AUTH_INSUFFICIENT_PRIVILEGES', {
      detail: `This call needs ${ADMIN_NEEDS[kind]}, or the scope ${names}.`,
      hint: ADMIN_HINTS[kind],
    });
  const able = [...roles.values()].filter((role) => (role.scopes & scopeMask) !== 0n).map(({ name }) => name);
  return callerError('AUTH_INSUFFICIENT_PRIVILEGES', {
    detail: `This call needs the scope ${names}, which its ${NAMES[kind]} does not have.`,
    hint: `Use a key with the scope, or with one of the roles that have it: ${able.join(', ')}.`,
  });
}

/** Whether regular keys have none of these scopes, and admin keys have one. */
function isOfAdminsOnly(scopeMask: ScopeMask, roles: RoleTable): boolean {
  const regular = roles.get('regular')?.scopes ?? 0n;
  return (regular & scopeMask) === 0n && (scopesOfRole('admin') & scopeMask) !== 0n;
}
