import type { EvaluatorRegistry } from '../../kernel/core/evaluator.js';
import type { Change } from '../../storage/database/change-log.js';
import type { Scoped } from '../../storage/database/scoped.js';
import type { WrittenSet } from '../configuration/configuration-set.js';
import { createConfigurationState, type StoredPolicy } from '../configuration/configuration-state.js';
import { idIn, type WritingOptions } from '../configuration/configuration-writer.js';
import type { PreparedControl } from '../configuration/prepared-controls.js';
import { usedElsewhere } from '../configuration/set-uses.js';
import { writeSet } from '../configuration/set-writing.js';
import { objectKey } from '../controls/applied-object.js';
import { readStoredDefinition } from '../controls/definition-presentation.js';
import { definitionText, type ListedPack } from '../packs/catalogue.js';
import type { InstallationRow } from '../packs/pack-store.js';
import type { PlannedControl } from './pack-plan.js';

/** Where a plan is carried out. */
export interface PackTarget {
  /** Null for a pack that is installed now. */
  readonly installation: InstallationRow | null;
  /** What is remembered as installed; null for an installation that ends. */
  readonly pack: ListedPack | null;
  readonly policyName: string;
  /** What the names of new controls begin with. */
  readonly prefix: string;
}

/** A control with what is done: `delete` and `leave` take it out of the policy. */
export interface WrittenControl extends PlannedControl {
  readonly name: string;
  readonly act: 'create' | 'update' | 'delete' | 'leave' | 'none';
}

/** What was written. */
export interface WrittenPack {
  readonly controls: readonly (WrittenControl & { readonly id: number | null })[];
  /** Those that were created or updated. */
  readonly prepared: readonly PreparedControl[];
  readonly policyId: number;
  readonly change: Change;
}

/**
 * Writes a pack in the transaction of a mutation: its controls, the policy that has them, and what is remembered as installed.
 * What the plan deletes leaves the policy, and is deleted if nothing else uses it; if the installation ends, all controls leave.
 */
export async function writePack(
  scope: Scoped,
  plan: readonly PlannedControl[],
  target: PackTarget,
  registry: EvaluatorRegistry,
  options: WritingOptions,
): Promise<WrittenPack> {
  const { installation, pack, policyName } = target;
  const [policy] = await createConfigurationState(scope).policies([policyName]);
  const wanted = await namedControls(scope, plan, target);
  const set = packSet(wanted, target, policy, registry);
  const deletions = wanted.filter(({ act }) => act === 'delete').map(objectOf);
  const used = new Set((await usedElsewhere(scope, set, deletions)).map(({ name }) => name));
  const controls = wanted.map(
    (one): WrittenControl => (one.act === 'delete' && used.has(one.name) ? { ...one, act: 'leave' } : one),
  );
  const ofPack = pack === null ? 'delete' : installation === null ? 'create' : 'update';
  const changes = [
    ...controls.flatMap((one) =>
      one.act === 'leave' || one.act === 'none' ? [] : { ...objectOf(one), change: one.act },
    ),
    { family: 'policy', name: policyName, change: policy === undefined ? 'create' : 'update' } as const,
    { ...packOf(target), change: ofPack } as const,
  ];
  const { change = {}, ids } = await writeSet(scope, set, changes, options, () => undefined);
  return {
    controls: controls.map((one) => ({ ...one, id: ids.controls.get(one.name) ?? null })),
    prepared: set.controls,
    policyId: idIn(ids.policies, policyName),
    change,
  };
}

/** The controls with their names, and what becomes of them; new ones get names that are free. */
async function namedControls(
  scope: Scoped,
  plan: readonly PlannedControl[],
  { pack, prefix }: PackTarget,
): Promise<WrittenControl[]> {
  const state = createConfigurationState(scope);
  const taken = new Set<string>();
  const named: WrittenControl[] = [];
  for (const one of plan) {
    const control = one.row?.control ?? null;
    const change = one.planned?.change ?? 'unchanged';
    let name = control?.name ?? `${prefix}${one.key}`;
    for (
      let number = 2;
      change === 'create' && (taken.has(name) || (await state.controls([name])).length > 0);
      number += 1
    ) {
      name = `${prefix}${one.key}-${number}`;
    }
    taken.add(name);
    const stays = pack === null && control !== null ? 'leave' : 'none';
    named.push({ ...one, name, act: change === 'unchanged' ? stays : change });
  }
  return named;
}

/** The documents of a pack with what is stored of them. Of its policy they have the controls alone. */
function packSet(
  controls: readonly WrittenControl[],
  target: PackTarget,
  policy: StoredPolicy | undefined,
  registry: EvaluatorRegistry,
): WrittenSet {
  const { installation, pack, policyName } = target;
  const namesOf = (...acts: readonly WrittenControl['act'][]) =>
    controls.filter(({ act }) => acts.includes(act)).map(({ name }) => name);
  const gone = new Set(namesOf('delete', 'leave'));
  const members = (policy?.controls ?? []).filter((name) => !gone.has(name));
  const given = { everyAgent: false, agentLabels: [] };
  const desiredPolicy = { family: 'policy', kind: 'Policy', index: 0, name: policyName, ...given } as const;
  const ofPack = packOf(target);
  const stored = controls.flatMap(({ row }) => row?.control ?? []);
  const installed = controls.flatMap(({ key, name, row, act }) =>
    row?.control != null || act === 'create' ? [[key, name] as const] : [],
  );
  return {
    controls: controls.flatMap((one) => preparedControl(one, registry)),
    policies: [{ ...desiredPolicy, controls: [...members, ...namesOf('create')] }],
    packs:
      pack === null
        ? []
        : [
            {
              desired: { ...ofPack, kind: 'Pack', index: 0, version: pack.version, installed },
              bases: new Map(pack.controls.map((one) => [one.key, definitionText(one)])),
            },
          ],
    links: [],
    wanted: [{ ...desiredPolicy, text: '' }],
    storedControls: new Map(stored.map((row) => [row.name, row])),
    storedPolicies: new Map(policy === undefined ? [] : [[policyName, { ...policy, ...given }]]),
    storedPacks: new Map(
      installation === null ? [] : [[objectKey(ofPack), { ...ofPack, ...installation, installed: [] }]],
    ),
    storedLinks: new Map(),
  };
}

/** One that is written. Throws an `Error` for a definition that cannot be stored. */
function preparedControl(
  { name, act, planned, offered }: WrittenControl,
  registry: EvaluatorRegistry,
): PreparedControl[] {
  const text = planned?.after ?? null;
  if ((act !== 'create' && act !== 'update') || text === null || offered === null) return [];
  const read = readStoredDefinition(text, registry);
  if (!read.ok) throw new Error('a definition of a pack cannot be stored');
  const { definition: data } = offered;
  const desired = { family: 'control', kind: 'Control', index: 0, name, data, enabled: null } as const;
  return [{ desired, control: read.stored, text, sameAs: null }];
}

function packOf({ installation, pack, policyName: policy }: PackTarget) {
  return { family: 'pack', name: pack?.name ?? installation?.pack ?? '', policy } as const;
}

function objectOf({ name }: Pick<WrittenControl, 'name'>) {
  return { family: 'control', name } as const;
}
