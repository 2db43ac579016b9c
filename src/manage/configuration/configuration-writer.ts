import type { HandlerCall } from '../../contract/call/handler.js';
import type { AgentKey } from '../../contract/call/namespace.js';
import { withServiceErrors } from '../../storage/database/errors.js';
import { inPortions } from '../../storage/database/in-portions.js';
import type { Scoped } from '../../storage/database/scoped.js';
import { demandedLabelOf } from '../agents/agent-labels.js';
import { createAgentPolicyStore } from '../agents/agent-policy-store.js';
import { keysOf } from '../agents/named-agent.js';
import { createControlBindingStore } from '../controls/control-binding-store.js';
import { type ControlRow, createControlStore } from '../controls/control-store.js';
import { definitionIndex } from '../controls/definition-index.js';
import { createPolicyControlStore } from '../controls/policy-control-store.js';
import { type RecordedVersion, recordVersions } from '../controls/version-recording.js';
import { createPackStore } from '../packs/pack-store.js';
import { writeLabels } from '../policies/policy-labels.js';
import { createPolicyStore } from '../policies/policy-store.js';
import { createBulkStore, type Pair } from './bulk-store.js';
import type { DesiredPolicy } from './configuration-object.js';
import type { StoredPack, StoredPolicy } from './configuration-state.js';
import type { PreparedControl } from './prepared-controls.js';
import type { WantedPack } from './wanted-packs.js';

export interface WritingOptions {
  readonly context: HandlerCall;
  /** For the histories of controls. */
  readonly note: string;
  /** Milliseconds since the epoch. */
  readonly nowMs: number;
}

/** The ids of controls and policies by name, with those that were written. */
export interface KnownIds {
  readonly controls: Map<string, number>;
  readonly policies: Map<string, number>;
  /** Names of the policies that documents give to every agent. */
  readonly forEveryAgent: ReadonlySet<string>;
}

/** What a change of a configuration affects, for programs that were compiled before. */
export interface Affected {
  readonly agents: Set<AgentKey>;
  readonly controls: Set<number>;
  readonly policies: Set<number>;
  /** Whether so much is affected that everything is read again. */
  all: boolean;
}

/**
 * Writes controls, policies and packs, in the transaction of a mutation, with few statements for many objects. What refers to
 * others is written after these. Every method throws a `ServiceError` only.
 */
export function createConfigurationWriter(
  scope: Scoped,
  known: KnownIds,
  affected: Affected,
  { context, note, nowMs }: WritingOptions,
) {
  const controlStore = createControlStore(scope);
  const members = createPolicyControlStore(scope);
  const bulk = createBulkStore(scope);
  return {
    /** Creates controls, and gives others their definitions, each with a version. */
    async writeControls(
      controls: readonly PreparedControl[],
      stored: ReadonlyMap<string, ControlRow>,
    ): Promise<void> {
      const versions: RecordedVersion[] = [];
      const changed = [];
      const created = [];
      for (const { desired, control, text } of controls) {
        const columns = { data: text, ...definitionIndex(control), updatedAtMs: nowMs };
        const before = stored.get(desired.name);
        if (before === undefined) {
          created.push({ name: desired.name, clonedFromId: null, createdAtMs: nowMs, ...columns });
          continue;
        }
        const after = { ...before, ...columns };
        changed.push(after);
        affected.controls.add(before.id);
        versions.push({ eventType: 'updated', note, before, after });
      }
      await controlStore.updateAll(changed);
      for (const after of await controlStore.insertAll(created)) {
        known.controls.set(after.name, after.id);
        versions.push({ eventType: 'created', note, before: null, after });
      }
      await recordVersions(scope, context, versions);
    },

    /** Makes policies what they are to be. */
    async writePolicies(
      policies: readonly DesiredPolicy[],
      stored: ReadonlyMap<string, StoredPolicy>,
    ): Promise<void> {
      const news = policies.filter(({ name }) => !stored.has(name)).map(({ name }) => name);
      for (const [name, id] of await bulk.insertPolicies(news, nowMs)) known.policies.set(name, id);
      const added: Pair[] = [];
      const removed: Pair[] = [];
      const touched: number[] = [];
      for (const { name, controls } of policies) {
        const id = idIn(known.policies, name);
        const had = stored.get(name)?.controls ?? [];
        const [more, less] = changesOf(had, controls);
        added.push(...more.map((control): Pair => [id, idIn(known.controls, control)]));
        removed.push(...less.map((control): Pair => [id, idIn(known.controls, control)]));
        if (more.length + less.length === 0) continue;
        affected.policies.add(id);
        if (stored.has(name)) touched.push(id);
      }
      await bulk.removeMembers(removed);
      await bulk.addMembers(added);
      await members.touch(touched, nowMs);
      for (const one of policies) await give(one, stored.get(one.name));
    },

    /** Remembers a pack as installed in a policy. */
    async writePack({ desired, bases }: WantedPack, before: StoredPack | undefined): Promise<void> {
      const { name, policy, version, installed } = desired;
      const packs = createPackStore(scope);
      const id = before?.id ?? (await packs.insert(name, version, idIn(known.policies, policy), nowMs)).id;
      const names = new Map(installed);
      const rows = [...bases].map(([key, base]) => {
        const control = names.get(key);
        return { key, base, controlId: control === undefined ? null : idIn(known.controls, control) };
      });
      await packs.write(id, version, rows, nowMs);
    },

    async removePack({ id }: StoredPack): Promise<void> {
      await createPackStore(scope).remove(id);
    },

    /** Removes policies from all agents, and deletes them. */
    async removePolicies(names: readonly string[]): Promise<void> {
      if (names.length > 0) affected.all = true;
      await bulk.removePolicies(names.map((name) => idIn(known.policies, name)));
    },

    /** Deletes controls, wherever they are used. */
    async removeControls(names: readonly string[], stored: ReadonlyMap<string, ControlRow>): Promise<void> {
      const rows = names.flatMap((name) => stored.get(name) ?? []);
      const ids = rows.map(({ id }) => id);
      await members.touch(await policiesWith(scope, ids), nowMs);
      await createControlBindingStore(scope).removeOfAll(ids);
      await controlStore.removeAll(ids, nowMs);
      for (const id of ids) affected.controls.add(id);
      const versions = rows.map(
        (before): RecordedVersion => ({
          eventType: 'deleted',
          note,
          before,
          after: { ...before, updatedAtMs: nowMs },
        }),
      );
      await recordVersions(scope, context, versions);
    },
  };

  /** Gives a policy to agents by labels, and to every agent, or to none of them. */
  async function give(
    { name, everyAgent, agentLabels }: DesiredPolicy,
    before: StoredPolicy | undefined,
  ): Promise<void> {
    const wasForAny = before?.everyAgent === true;
    if (agentLabels.length === 0 && (before?.agentLabels.length ?? 0) === 0 && everyAgent === wasForAny)
      return;
    const id = idIn(known.policies, name);
    // Whether every agent can have its controls is a matter of the plan.
    const { missing, stale } = await writeLabels(scope, id, agentLabels.map(demandedLabelOf));
    for (const agent of keysOf([...missing, ...stale])) affected.agents.add(agent);
    if (everyAgent === wasForAny) return;
    affected.all = true;
    await createPolicyStore(scope).setEveryAgent(id, everyAgent);
    // Its document gives it to no agent any more; those of agents do.
    if (!everyAgent) await createAgentPolicyStore(scope).withdrawFromAll(id);
  }
}

/** What a list has more than before, and what it has no longer. */
export function changesOf(
  before: readonly string[],
  after: readonly string[],
): readonly [string[], string[]] {
  const [had, has] = [new Set(before), new Set(after)];
  return [after.filter((one) => !had.has(one)), before.filter((one) => !has.has(one))];
}

export function idIn(ids: ReadonlyMap<string, number>, name: string): number {
  const id = ids.get(name);
  if (id === undefined) throw new Error(`${name} of a configuration is not stored`);
  return id;
}

/** The ids of the policies with some of the controls. */
function policiesWith({ client, namespace }: Scoped, controlIds: readonly number[]): Promise<number[]> {
  return withServiceErrors(async () => {
    const rows = await inPortions(controlIds, (portion) =>
      client.policyControl.findMany({
        where: { controlId: { in: portion }, policy: { namespace: namespace.name } },
        select: { policyId: true },
        distinct: ['policyId'],
      }),
    );
    return [...new Set(rows.map(({ policyId }) => policyId))];
  });
}
