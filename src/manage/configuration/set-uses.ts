import { withServiceErrors } from '../../storage/database/errors.js';
import { inPortions } from '../../storage/database/in-portions.js';
import type { Scoped } from '../../storage/database/scoped.js';
import { type ObjectName, objectKey } from '../controls/applied-object.js';
import type { WrittenSet } from './configuration-set.js';

/**
 * Those of the objects that are to be deleted which something beyond the set uses, and would protect less without. Agents and
 * policies beyond the set are not read: there are some if more use an object than those of the set.
 */
export async function usedElsewhere<T extends ObjectName>(
  { client, namespace }: Scoped,
  set: WrittenSet,
  removed: readonly T[],
): Promise<T[]> {
  const ours = new Set([...set.wanted, ...removed].map(objectKey));
  const policies = [...set.storedPolicies.values()].filter(({ name }) =>
    ours.has(objectKey({ family: 'policy', name })),
  );
  const links = [...set.storedLinks.values()].filter(({ name }) =>
    ours.has(objectKey({ family: 'links', name })),
  );
  const ourUses = {
    policies: countedNames(policies.flatMap(({ controls }) => controls)),
    links: countedNames(links.flatMap(({ controls }) => controls)),
    given: countedNames(links.flatMap((one) => one.policies)),
  };
  const idOf = ({ family, name }: ObjectName): number | undefined => {
    if (family === 'control') return set.storedControls.get(name)?.id;
    const policy = family === 'policy' ? set.storedPolicies.get(name) : undefined;
    // One for every agent is given by its own document.
    return policy?.everyAgent === true ? undefined : policy?.id;
  };
  const idsOf = (family: 'control' | 'policy'): number[] =>
    removed.filter((one) => one.family === family).flatMap((one) => idOf(one) ?? []);
  const [controlIds, policyIds] = [idsOf('control'), idsOf('policy')];
  const of = { namespace: namespace.name };
  return withServiceErrors(async () => {
    const ofControls = (portion: number[]) => ({ controlId: { in: portion }, control: of });
    const bound = await counted(controlIds, async (portion) => {
      const where = { controlId: { in: portion }, ...of };
      const rows = await client.controlBinding.groupBy({ by: ['controlId'], where, _count: true });
      return rows.map(({ controlId, _count }) => [controlId, _count]);
    });
    const inPolicies = await counted(controlIds, async (portion) => {
      const where = ofControls(portion);
      const rows = await client.policyControl.groupBy({ by: ['controlId'], where, _count: true });
      return rows.map(({ controlId, _count }) => [controlId, _count]);
    });
    const linked = await counted(controlIds, async (portion) => {
      const where = ofControls(portion);
      const rows = await client.agentControl.groupBy({ by: ['controlId'], where, _count: true });
      return rows.map(({ controlId, _count }) => [controlId, _count]);
    });
    const given = await counted(policyIds, async (portion) => {
      const where = { policyId: { in: portion }, direct: true, policy: of };
      const rows = await client.agentPolicy.groupBy({ by: ['policyId'], where, _count: true });
      return rows.map(({ policyId, _count }) => [policyId, _count]);
    });
    return removed.filter((one) => {
      const id = idOf(one);
      if (id === undefined) return false;
      const { name } = one;
      if (one.family === 'policy') return (given.get(id) ?? 0) > (ourUses.given.get(name) ?? 0);
      return (
        bound.has(id) ||
        (inPolicies.get(id) ?? 0) > (ourUses.policies.get(name) ?? 0) ||
        (linked.get(id) ?? 0) > (ourUses.links.get(name) ?? 0)
      );
    });
  });
}

async function counted(
  ids: readonly number[],
  count: (portion: number[]) => Promise<(readonly [id: number, count: number])[]>,
): Promise<Map<number, number>> {
  return new Map(await inPortions(ids, count));
}

function countedNames(names: readonly string[]): Map<string, number> {
  const counts = new Map<string, number>();
  for (const name of names) counts.set(name, (counts.get(name) ?? 0) + 1);
  return counts;
}
