/**
 * Scopes of callers. Each RPC declares in the proto which of them it takes. A set of scopes is a bit mask, so that the
 * check of a call is one operation.
 */
export const SCOPES = [
  'agents.read',
  'agents.register',
  'agents.self',
  'agents.write',
  'approvals.decide',
  'approvals.read',
  'audit.read',
  'audit.verify',
  'bindings.read',
  'bindings.write',
  'controls.read',
  'controls.validate',
  'controls.write',
  'evaluate',
  'events.flush',
  'events.read',
  'events.write',
  'explain',
  'halts.read',
  'halts.write',
  'keys.read',
  'keys.write',
  'memory.read',
  'memory.write',
  'namespaces.read',
  'namespaces.write',
  'notifications.read',
  'notifications.write',
  'policies.read',
  'policies.write',
  'samples.read',
  'samples.write',
  'server.read',
  'tokens.exchange',
] as const;

export type Scope = (typeof SCOPES)[number];

/** A set of scopes: a bit for each of more than 32. */
export type ScopeMask = bigint;

const BITS: ReadonlyMap<string, ScopeMask> = new Map(
  SCOPES.map((scope, index) => [scope, 1n << BigInt(index)]),
);

export function isScope(name: string): name is Scope {
  return BITS.has(name);
}

/** The set of these scopes. Throws for an unknown one. */
export function scopeMask(scopes: readonly string[]): ScopeMask {
  let mask = 0n;
  for (const scope of scopes) {
    const bit = BITS.get(scope);
    if (bit === undefined) throw new Error(`there is no scope ${JSON.stringify(scope)}`);
    mask |= bit;
  }
  return mask;
}

/** The scopes of a set, sorted. */
export function scopesOf(mask: ScopeMask): Scope[] {
  return SCOPES.filter((_scope, index) => (mask & (1n << BigInt(index))) !== 0n);
}

const AGENT: readonly Scope[] = [
  'agents.register',
  'agents.self',
  'evaluate',
  'events.write',
  'server.read',
  'tokens.exchange',
];
const VIEWER: readonly Scope[] = [
  'agents.read',
  'agents.self',
  'approvals.read',
  'bindings.read',
  'controls.read',
  'controls.validate',
  'events.read',
  'explain',
  'halts.read',
  'memory.read',
  'policies.read',
  'server.read',
];
const EDITOR: readonly Scope[] = [
  ...VIEWER,
  'agents.register',
  'agents.write',
  'bindings.write',
  'controls.write',
  'policies.write',
];
const INSTALLATION: readonly Scope[] = ['namespaces.read', 'namespaces.write'];

/** A named set of scopes. */
export interface Role {
  readonly name: string;
  /** What it is for, in one sentence. */
  readonly description: string;
  readonly scopes: ScopeMask;
}

const role = (name: string, description: string, scopes: readonly Scope[]): Role => ({
  name,
  description,
  scopes: scopeMask(scopes),
});

/** The roles, from the one that may do least. All but `operator` concern one namespace. */
export const ROLES: readonly Role[] = [
  role('agent', 'Registers itself, evaluates, sends events and reads its own controls.', AGENT),
  role('viewer', 'Reads everything in its namespace, except for keys and the audit log.', VIEWER),
  role('approver', 'Reads as a viewer does, and decides about approvals.', [...VIEWER, 'approvals.decide']),
  role('regular', 'Does what an agent does, and reads what a viewer does.', [...AGENT, ...VIEWER]),
  role('editor', 'Changes controls, policies, agents and bindings in its namespace.', EDITOR),
  role(
    'admin',
    'Does everything in its namespace, with keys and the audit log.',
    SCOPES.filter((scope) => !INSTALLATION.includes(scope)),
  ),
  role('operator', 'Does everything in its namespace, and manages namespaces.', SCOPES),
];

/** The role of a name. */
export function roleNamed(name: string): Role | undefined {
  return ROLES.find((one) => one.name === name);
}

/** The roles by name, as the settings of the service have them. */
export type RoleTable = ReadonlyMap<string, Role>;

/** The role that loses scopes by a setting: the one whose keys deployed clients have. */
const ADJUSTED_ROLE = 'regular';

/** The roles, with one that may not validate definitions unless regular keys may. */
export function roleTable(validationAccess: 'key' | 'admin'): RoleTable {
  const lost = validationAccess === 'admin' ? scopeMask(['controls.validate']) : 0n;
  return new Map(
    ROLES.map((one) => [one.name, one.name === ADJUSTED_ROLE ? { ...one, scopes: one.scopes & ~lost } : one]),
  );
}

/** The roles when no setting changes them. */
export const DEFAULT_ROLES: RoleTable = roleTable('key');

const ADMIN_SCOPE: ScopeMask = scopeMask(['controls.write']);

/** Whether deployed clients are told that scopes are those of an admin. */
export function levelOfScopes(scopes: ScopeMask): 'key' | 'admin' {
  return (scopes & ADMIN_SCOPE) === 0n ? 'key' : 'admin';
}

/** The scopes of a role that exists. */
export function scopesOfRole(name: 'regular' | 'admin' | 'operator' | 'agent'): ScopeMask {
  return roleNamed(name)?.scopes ?? 0n;
}

/** All scopes: of callers while keys are off. */
export const ALL_SCOPES: ScopeMask = scopeMask(SCOPES);
