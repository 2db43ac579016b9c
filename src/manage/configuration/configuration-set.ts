import type { ErrorItem } from '../../contract/errors/service-error.js';
import type { Scoped } from '../../storage/database/scoped.js';
import { type AppliedObject, objectKey } from '../controls/applied-object.js';
import { createAppliedStore } from '../controls/applied-store.js';
import type { ControlRow } from '../controls/control-store.js';
import type { PackCatalogue } from '../packs/catalogue.js';
import {
  contentText,
  type DesiredLinks,
  type DesiredObject,
  type DesiredPack,
  type DesiredPolicy,
} from './configuration-object.js';
import { nameOf, type StoredObject, type WantedObject } from './configuration-plan.js';
import {
  createConfigurationState,
  type StoredLinks,
  type StoredPack,
  type StoredPolicy,
} from './configuration-state.js';
import type { PreparedControl } from './prepared-controls.js';
import { unknownNames } from './set-references.js';
import { type WantedPack, wantedPacks } from './wanted-packs.js';

/** Objects that are to be stored, with those that are. */
export interface WrittenSet {
  readonly controls: readonly PreparedControl[];
  readonly policies: readonly DesiredPolicy[];
  readonly packs: readonly WantedPack[];
  readonly links: readonly DesiredLinks[];
  readonly wanted: readonly WantedObject[];
  /** By name. */
  readonly storedControls: ReadonlyMap<string, ControlRow>;
  /** By name. */
  readonly storedPolicies: ReadonlyMap<string, StoredPolicy>;
  /** By key of the object. */
  readonly storedPacks: ReadonlyMap<string, StoredPack>;
  /** By name of the agent. */
  readonly storedLinks: ReadonlyMap<string, StoredLinks>;
}

/** The objects of a request, with everything in the database that they concern. */
export interface ConfigurationSet extends WrittenSet {
  /** All of these, by key. */
  readonly stored: ReadonlyMap<string, StoredObject>;
  /** By key. */
  readonly applied: ReadonlyMap<string, AppliedObject>;
  readonly problems: readonly ErrorItem[];
}

/** What a request wants. */
export interface Wanted {
  readonly owner: string;
  readonly prune: boolean;
  readonly objects: readonly DesiredObject[];
  readonly controls: readonly PreparedControl[];
}

/** Reads what a request concerns, in its transaction. */
export async function readSet(
  scope: Scoped,
  { owner, prune, objects, controls }: Wanted,
  catalogue: PackCatalogue,
): Promise<ConfigurationSet> {
  const packs = objects.filter((one): one is DesiredPack => one.family === 'pack');
  const policies = objects.filter((one): one is DesiredPolicy => one.family === 'policy');
  const links = objects.filter((one): one is DesiredLinks => one.family === 'links');
  const appliedStore = createAppliedStore(scope);
  // Those that no document has any more.
  const own = prune ? await appliedStore.ofOwner(owner) : [];
  const named = await appliedStore.find(objects.map(objectKey));
  const applied = new Map([...own, ...named].map((one) => [objectKey(one), one]));

  const state = createConfigurationState(scope);
  const namesOf = (family: AppliedObject['family']): string[] =>
    own.filter((one) => one.family === family).map(({ name }) => name);
  const policyNames = unique([
    ...policies.map(({ name }) => name),
    ...links.flatMap((one) => one.policies),
    ...packs.map(({ policy }) => policy),
    ...namesOf('policy'),
    ...own.flatMap(({ policy }) => policy ?? []),
  ]);
  const storedLinks = byName(
    await state.links(unique([...links.map(({ name }) => name), ...namesOf('links')])),
  );
  const ofAgents = [...storedLinks.values()].flatMap((one) => one.policies);
  const storedPolicies = byName(await state.policies(unique([...policyNames, ...ofAgents])));
  const installed = policyNames.length === 0 ? [] : await state.packs(policyNames);
  const storedPacks = new Map(installed.map((one) => [objectKey(one), one]));
  const controlNames = unique([
    // By their names, not those of their definitions: only those that could be prepared have one.
    ...objects.flatMap((one) => (one.family === 'control' ? one.name : [])),
    ...policies.flatMap((one) => one.controls),
    ...links.flatMap((one) => one.controls),
    ...packs.flatMap((one) => one.installed.map(([, name]) => name)),
    ...namesOf('control'),
    // What is taken out of a policy or an agent.
    ...[...storedPolicies.values(), ...storedLinks.values()].flatMap((one) => one.controls),
  ]);
  const storedControls = byName(await state.controls(controlNames));

  const problems: ErrorItem[] = [];
  const everyAgent = new Set(
    [...storedPolicies.values()].filter((one) => one.everyAgent).map(({ name }) => name),
  );
  for (const one of policies) {
    if (one.everyAgent) everyAgent.add(one.name);
    else everyAgent.delete(one.name);
  }
  const set = {
    controls,
    policies,
    packs: await wantedPacks(packs, storedPacks, catalogue, problems),
    // An agent has those by itself.
    links: links.map((one) => ({ ...one, policies: one.policies.filter((name) => !everyAgent.has(name)) })),
  };
  const known = {
    controls: new Set(storedControls.keys()),
    policies: new Set(storedPolicies.keys()),
  };
  for (const { family, name } of objects) {
    if (family === 'control') known.controls.add(name);
    if (family === 'policy') known.policies.add(name);
  }
  return {
    ...set,
    wanted: wantedObjects(set),
    storedControls,
    storedPolicies,
    storedPacks,
    storedLinks,
    stored: storedObjects(storedControls, [
      ...storedPolicies.values(),
      ...storedPacks.values(),
      ...withLinks(storedLinks, set.links),
    ]),
    applied,
    problems: [...problems, ...unknownNames(set, known)],
  };
}

type Documents = Pick<ConfigurationSet, 'controls' | 'policies' | 'packs' | 'links'>;

function wantedObjects({ controls, policies, packs, links }: Documents): WantedObject[] {
  const others = [...policies, ...packs.map(({ desired }) => desired), ...links];
  return [
    ...controls.map(({ desired, text, sameAs }) => ({
      ...nameOf(desired),
      kind: desired.kind,
      text,
      sameAs,
    })),
    ...others.map((one) => ({ ...nameOf(one), kind: one.kind, text: contentText(one) })),
  ];
}

function storedObjects(
  controls: ReadonlyMap<string, ControlRow>,
  others: readonly (StoredPolicy | StoredPack | StoredLinks)[],
): Map<string, StoredObject> {
  const stored: StoredObject[] = [
    ...[...controls.values()].map(({ name, data }) => ({ family: 'control' as const, name, text: data })),
    ...others.map((one) => ({ ...nameOf(one), text: contentText(one) })),
  ];
  return new Map(stored.map((one) => [objectKey(one), one]));
}

/** Agents with links, which alone have documents, and those whose documents say that they have none. */
function withLinks(stored: ReadonlyMap<string, StoredLinks>, wanted: readonly DesiredLinks[]): StoredLinks[] {
  const isEmpty = ({ controls, policies }: Pick<StoredLinks, 'controls' | 'policies'>): boolean =>
    controls.length + policies.length === 0;
  const emptied = new Set(wanted.filter(isEmpty).map(({ name }) => name));
  return [...stored.values()].filter((one) => !isEmpty(one) || emptied.has(one.name));
}

function byName<T extends { readonly name: string }>(rows: readonly T[]): Map<string, T> {
  return new Map(rows.map((row) => [row.name, row]));
}

function unique(names: readonly string[]): string[] {
  return [...new Set(names)];
}
