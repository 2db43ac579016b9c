import type { Principal } from '../../contract/call/handler.js';
import { NAMESPACE_NAME, namespaceNamed } from '../../contract/call/namespace.js';
import { isScope, type RoleTable, type ScopeMask, scopeMask } from '../../contract/call/scopes.js';
import { unknownNamespace } from '../../contract/errors/unknown-namespace.js';
import { fingerprintOf } from './known-key.js';
import type { ProtectedMethod } from './protected-method.js';
import { EXCHANGE_OPERATION } from './runtime-tokens.js';
import type { UpstreamGrant } from './upstream-client.js';
import { malformed, notGranted } from './upstream-errors.js';

/** The scopes that the methods of each operation take. */
export type OperationScopes = ReadonlyMap<string, ScopeMask>;

export function operationScopes(methods: Iterable<ProtectedMethod>): OperationScopes {
  const scopes = new Map<string, ScopeMask>();
  for (const { operation, scopeMask: taken } of methods)
    scopes.set(operation, (scopes.get(operation) ?? 0n) | taken);
  return scopes;
}

/** What was asked, and when, in milliseconds since 1970. */
export interface AskedAbout {
  readonly method: ProtectedMethod;
  readonly credentials: string;
  readonly nowMs: number;
}

/**
 * The principal of a grant for the method that was asked about. Fails with AUTH_INSUFFICIENT_PRIVILEGES if the grant is
 * for other operations or a namespace that cannot exist here, and with AUTH_MISCONFIGURED if it has
 * expired.
 */
export function grantedPrincipal(
  grant: UpstreamGrant,
  { method, credentials, nowMs }: AskedAbout,
  operations: OperationScopes,
  roles: RoleTable,
): Omit<Principal, 'grant'> {
  const { namespace, isAdmin, callerId, expiresAtMs } = grant;
  if (!NAMESPACE_NAME.test(namespace)) throw unknownNamespace(namespace);
  if (expiresAtMs !== null && expiresAtMs <= nowMs) throw malformed('has expired already (expires_at)');
  const role = isAdmin ? 'admin' : 'regular';
  return {
    level: isAdmin ? 'admin' : 'key',
    keyFingerprint: fingerprintOf(`upstream ${namespace} ${callerId ?? credentials}`),
    name: callerId,
    agents: null,
    namespace: namespaceNamed(namespace),
    scopes: grantedScopes(grant, method, operations, roles.get(role)?.scopes ?? 0n),
    role: grant.scopes.length === 0 ? role : null,
    target: grant.target,
    ...(expiresAtMs === null ? {} : { expiresAtMs }),
  };
}

/** The scopes of the role and of the operation, which is permitted; of them those that the grant lists, if it lists any. */
function grantedScopes(
  { scopes }: UpstreamGrant,
  method: ProtectedMethod,
  operations: OperationScopes,
  ofRole: ScopeMask,
): ScopeMask {
  const all = ofRole | method.scopeMask;
  if (scopes.length === 0) return all;
  let listed = 0n;
  for (const name of scopes) listed |= isScope(name) ? scopeMask([name]) : (operations.get(name) ?? 0n);
  // Those of an exchange are the scopes of the token.
  const isForIt = method.operation === EXCHANGE_OPERATION || (listed & method.scopeMask) !== 0n;
  if (!isForIt) throw notGranted(`with the scope ${method.operation}, which its answer does not list`);
  return all & listed;
}
