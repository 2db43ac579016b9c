import { withServiceErrors } from '../../storage/database/errors.js';
import { inPortions } from '../../storage/database/in-portions.js';
import type { Scoped } from '../../storage/database/scoped.js';
import { createControlVersionStore } from '../controls/control-version-store.js';
import type { Conflict } from './configuration-plan.js';
import type { ConfigurationSet } from './configuration-set.js';

/** Conflicts about policies and links of which the audit log is asked who made the change. */
const MAX_SEARCHED = 100;

/** Changes of the links of an agent. */
const LINK_ACTIONS = [
  'agent.add_control',
  'agent.remove_control',
  'agent.add_policy',
  'agent.remove_policy',
  'agent.remove_policies',
  'agent.set_policy',
];

/** The conflicts with who made the last change of their objects: of controls by their histories, of others by the audit log. */
export async function withAuthors(
  scope: Scoped,
  conflicts: readonly Conflict[],
  { storedControls, storedPolicies }: Pick<ConfigurationSet, 'storedControls' | 'storedPolicies'>,
): Promise<Conflict[]> {
  if (conflicts.length === 0) return [];
  const names = conflicts.filter(({ family }) => family === 'control').map(({ name }) => name);
  const ids = new Map(
    names.flatMap((name) => {
      const row = storedControls.get(name);
      return row === undefined ? [] : [[name, row.id] as const];
    }),
  );
  const gone = names.filter((name) => !ids.has(name));
  for (const [name, id] of await deletedControls(scope, gone)) ids.set(name, id);
  const authors = new Map(
    await inPortions([...ids.values()], async (portion) => [
      ...(await createControlVersionStore(scope).ends(portion)),
    ]),
  );
  let searched = 0;
  const completed: Conflict[] = [];
  for (const one of conflicts) {
    let changedBy: string | null = null;
    if (one.family === 'control') changedBy = authors.get(ids.get(one.name) ?? 0)?.updatedBy ?? null;
    else if (searched < MAX_SEARCHED) {
      searched += 1;
      changedBy = await lastActor(scope, one, storedPolicies.get(one.name)?.id);
    }
    completed.push({ ...one, changedBy });
  }
  return completed;
}

/** The newest of the deleted controls of each name. */
function deletedControls(
  { client, namespace }: Scoped,
  names: readonly string[],
): Promise<Map<string, number>> {
  return withServiceErrors(async () => {
    const rows = await inPortions(names, (portion) =>
      client.control.findMany({
        where: { name: { in: portion }, namespace: namespace.name, deletedAtMs: { not: null } },
        select: { id: true, name: true },
        orderBy: { id: 'asc' },
      }),
    );
    return new Map(rows.map(({ id, name }) => [name, id]));
  });
}

/** Who changed a policy, or the links of an agent, last. */
async function lastActor(
  { client, namespace }: Scoped,
  { family, name }: Conflict,
  policyId: number | undefined,
): Promise<string | null> {
  const of = { namespace: namespace.name };
  const where =
    family === 'links'
      ? { resource: 'agent', resourceId: name, action: { in: LINK_ACTIONS }, ...of }
      : family === 'policy' && policyId !== undefined
        ? { resource: 'policy', resourceId: String(policyId), ...of }
        : null;
  if (where === null) return null;
  const select = { actorName: true, actorKind: true } as const;
  const entry = await withServiceErrors(() =>
    client.auditEntry.findFirst({ where, select, orderBy: { position: 'desc' } }),
  );
  return entry === null ? null : (entry.actorName ?? entry.actorKind);
}
