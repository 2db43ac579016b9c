/** Scopes that pages and their actions depend on. The server checks each call in any case. */
export type Scope =
  | 'agents.read'
  | 'agents.self'
  | 'agents.write'
  | 'approvals.decide'
  | 'approvals.read'
  | 'audit.read'
  | 'audit.verify'
  | 'bindings.read'
  | 'bindings.write'
  | 'controls.read'
  | 'controls.validate'
  | 'controls.write'
  | 'events.read'
  | 'explain'
  | 'halts.read'
  | 'halts.write'
  | 'keys.read'
  | 'keys.write'
  | 'memory.read'
  | 'memory.write'
  | 'namespaces.read'
  | 'namespaces.write'
  | 'notifications.read'
  | 'notifications.write'
  | 'policies.read'
  | 'policies.write'
  | 'samples.read'
  | 'samples.write'
  | 'server.read';

/** What a server without scopes allows a regular key. */
const OF_A_REGULAR_KEY: readonly Scope[] = [
  'agents.read',
  'agents.self',
  'controls.read',
  'controls.validate',
  'events.read',
  'explain',
  'policies.read',
  'server.read',
];
/** What a server without scopes allows an admin key besides. */
const OF_AN_ADMIN_KEY: readonly Scope[] = [
  'agents.write',
  'audit.read',
  'audit.verify',
  'controls.write',
  'policies.write',
];

/** Scopes of RPCs that a caller with a limit to agents may not call, whatever its role. */
const BEYOND_AGENTS: ReadonlySet<string> = new Set<Scope>([
  'approvals.decide',
  'audit.read',
  'audit.verify',
  'bindings.read',
  'bindings.write',
  'controls.write',
  'keys.read',
  'keys.write',
  'namespaces.read',
  'namespaces.write',
  'notifications.read',
  'notifications.write',
  'policies.write',
  'samples.read',
  'samples.write',
]);

/** What decides about the scopes of a caller. */
interface Caller {
  readonly isAdmin: boolean;
  readonly isLimitedToAgents: boolean;
  /** As the server lists them. Empty from a server of an earlier version. */
  readonly scopes: readonly string[];
}

/** The scopes that a caller can use. */
export function usableScopes({ isAdmin, isLimitedToAgents, scopes }: Caller): ReadonlySet<string> {
  const assumed = isAdmin ? [...OF_A_REGULAR_KEY, ...OF_AN_ADMIN_KEY] : OF_A_REGULAR_KEY;
  const all = scopes.length > 0 ? scopes : assumed;
  return new Set(isLimitedToAgents ? all.filter((scope) => !BEYOND_AGENTS.has(scope)) : all);
}
