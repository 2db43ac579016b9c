import type { Change } from '../../storage/database/change-log.js';
import type { Scoped } from '../../storage/database/scoped.js';
import { type Family, type ObjectName, objectKey } from '../controls/applied-object.js';
import { createAppliedStore } from '../controls/applied-store.js';
import type { Plan, PlannedChange } from './configuration-plan.js';
import type { WrittenSet } from './configuration-set.js';
import { createConfigurationState } from './configuration-state.js';
import {
  type Affected,
  createConfigurationWriter,
  type KnownIds,
  type WritingOptions,
} from './configuration-writer.js';
import { type WantedLinks, writeLinks } from './links-writer.js';

/** What was written. */
export interface Written {
  /** What it affects; absent if that may be anything. */
  readonly change?: Change;
  readonly ids: Pick<KnownIds, 'controls' | 'policies'>;
}

/**
 * Makes changes of a plan: first what others name, and deletions in the other order. `demandTime` is called between its
 * parts.
 */
export async function writeSet(
  scope: Scoped,
  set: WrittenSet,
  changes: readonly (ObjectName & Pick<PlannedChange, 'change'>)[],
  options: WritingOptions,
  demandTime: () => void,
): Promise<Written> {
  const keys = new Map(changes.map((one) => [objectKey(one), one.change]));
  const isWritten = (one: ObjectName): boolean => {
    const change = keys.get(objectKey(one));
    return change === 'create' || change === 'update';
  };
  const removed = changes.filter(({ change }) => change === 'delete');
  const removedOf = (family: Family): string[] =>
    removed.filter((one) => one.family === family).map(({ name }) => name);
  const known: KnownIds = {
    controls: idsOf(set.storedControls),
    policies: idsOf(set.storedPolicies),
    forEveryAgent: new Set(set.policies.filter(({ everyAgent }) => everyAgent).map(({ name }) => name)),
  };
  const affected: Affected = { agents: new Set(), controls: new Set(), policies: new Set(), all: false };
  const writer = createConfigurationWriter(scope, known, affected, options);

  await writer.writeControls(
    set.controls.filter(({ desired }) => isWritten(desired)),
    set.storedControls,
  );
  demandTime();
  const policies = set.policies.filter(isWritten);
  await writer.writePolicies(policies, set.storedPolicies);
  demandTime();
  for (const pack of set.packs) {
    if (isWritten(pack.desired)) await writer.writePack(pack, set.storedPacks.get(objectKey(pack.desired)));
  }
  demandTime();
  // One that was for every agent was taken from all of them, and their documents may give it to them.
  const endsEveryAgent = policies.some(
    ({ name, everyAgent }) => !everyAgent && set.storedPolicies.get(name)?.everyAgent === true,
  );
  const links: WantedLinks[] = set.links.filter((one) => isWritten(one) || endsEveryAgent);
  const emptied = removedOf('links').map((name): WantedLinks => ({ name, controls: [], policies: [] }));
  const before = endsEveryAgent ? await currentLinks(scope, links) : set.storedLinks;
  await writeLinks(scope, links, before, known, affected, options.nowMs);
  await writeLinks(scope, emptied, set.storedLinks, known, affected, options.nowMs);
  demandTime();
  for (const one of removed) {
    const pack = one.family === 'pack' ? set.storedPacks.get(objectKey(one)) : undefined;
    if (pack !== undefined) await writer.removePack(pack);
  }
  await writer.removePolicies(removedOf('policy'));
  await writer.removeControls(removedOf('control'), set.storedControls);
  demandTime();
  return { ...changeOf(affected), ids: known };
}

/** Remembers what the owner has applied. */
export async function rememberSet(scope: Scoped, owner: string, plan: Plan, nowMs: number): Promise<void> {
  const store = createAppliedStore(scope);
  const changed = plan.changes.filter(({ remembers }) => remembers);
  const gone = changed.filter(({ digest }) => digest === null);
  await store.forget([...gone, ...plan.forgotten].map(objectKey));
  const kept = changed.flatMap((one) =>
    one.digest === null ? [] : { key: objectKey(one), digest: one.digest, base: one.base },
  );
  await store.remember(owner, kept, nowMs);
}

async function currentLinks(scope: Scoped, wanted: readonly WantedLinks[]) {
  const links = await createConfigurationState(scope).links(wanted.map(({ name }) => name));
  return new Map(links.map((one) => [one.name, one]));
}

function idsOf(rows: ReadonlyMap<string, { readonly id: number }>): Map<string, number> {
  return new Map([...rows].map(([name, { id }]) => [name, id]));
}

/** A row of the log of changes lists agents or policies. */
function changeOf({ agents, controls, policies, all }: Affected): Pick<Written, 'change'> {
  if (all || (agents.size > 0 && policies.size > 0)) return {};
  return { change: { agents: [...agents], controls: [...controls], policies: [...policies] } };
}
