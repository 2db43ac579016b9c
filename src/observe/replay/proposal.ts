import type { HandlerCall } from '../../contract/call/handler.js';
import type { StoredDefinition } from '../../decide/agent-state/agent-control-store.js';
import type { DesiredControl, DesiredPolicy } from '../../manage/configuration/configuration-object.js';
import { objectsOf, refuseProblems, unknownName } from '../../manage/configuration/configuration-problems.js';
import { readSet } from '../../manage/configuration/configuration-set.js';
import { createConfigurationState } from '../../manage/configuration/configuration-state.js';
import {
  type PreparationOptions,
  prepareControls,
  referenceItems,
} from '../../manage/configuration/prepared-controls.js';
import type { ReferenceProblems } from '../../manage/controls/reference-problems.js';
import type { PackCatalogue } from '../../manage/packs/catalogue.js';
import { scopeOf } from '../../storage/database/scoped.js';
import type { ReplayInput } from './replay-schemas.js';

/** Ids of controls that do not exist yet begin here: larger than all others, as they would be. */
const FIRST_NEW_ID = 2_000_000_000;

/** What would be different. Controls are named by ids; those that do not exist yet have ids that no other has. */
export interface Proposal {
  /** Controls as they would be, by id. */
  readonly controls: ReadonlyMap<number, StoredDefinition>;
  /** Controls that would not be there. */
  readonly without: ReadonlySet<number>;
  /** Policies as they would be. */
  readonly policies: readonly ProposedPolicy[];
  /** What would be linked to agents, by their names. */
  readonly links: ReadonlyMap<string, ProposedLinks>;
}

export interface ProposedLinks {
  readonly controlIds: readonly number[];
  /** Names of all its policies. */
  readonly policies: ReadonlySet<string>;
  /** Ids of those of them that stay as they are. */
  readonly policyIds: readonly number[];
}

export interface ProposedPolicy extends Pick<DesiredPolicy, 'name' | 'everyAgent' | 'agentLabels'> {
  /** Null for one that does not exist yet. */
  readonly id: number | null;
  /** Whether it is for every agent now: then no agent has it for another reason. */
  readonly wasEveryAgent: boolean;
  readonly controlIds: readonly number[];
}

export interface ProposalOptions extends PreparationOptions {
  readonly catalogue: PackCatalogue;
  readonly referenceProblems: ReferenceProblems;
}

/** Reads the documents of a replay as those of an application. Throws VALIDATION_ERROR with the problems of all of them. */
export async function readProposal(
  context: HandlerCall,
  { documents, without_controls: without }: Pick<ReplayInput, 'documents' | 'without_controls'>,
  options: ProposalOptions,
): Promise<Proposal> {
  const { client, catalogue, referenceProblems } = options;
  const scope = scopeOf(context, client);
  const { objects, problems } = objectsOf(documents, scope.namespace.name);
  const desired = objects.filter((one): one is DesiredControl => one.family === 'control');
  const names = [...new Set([...desired.map(({ name }) => name), ...without])];
  const rows = new Map((await createConfigurationState(scope).controls(names)).map((row) => [row.name, row]));
  const prepared = await prepareControls(context, desired, rows, false, options);
  refuseProblems([...problems, ...prepared.problems]);
  const wanted = { owner: NO_OWNER, prune: false, objects, controls: prepared.controls };
  const set = await readSet(scope, wanted, catalogue);
  const references = await referenceItems(context, scope, prepared.controls, referenceProblems);

  const idOf = new Map([...set.storedControls, ...rows].map(([name, { id }]) => [name, id]));
  const controls = new Map<number, StoredDefinition>();
  for (const [at, { desired: one, text }] of prepared.controls.entries()) {
    const id = idOf.get(one.name) ?? FIRST_NEW_ID + at;
    idOf.set(one.name, id);
    controls.set(id, { id, name: one.name, data: text });
  }
  const unknown = without.flatMap((name, at) =>
    idOf.has(name) ? [] : unknownName('control', `without_controls[${at}]`, name, [...idOf.keys()]),
  );
  refuseProblems([...set.problems, ...references, ...unknown]);
  const idsOf = (all: readonly string[]): number[] => all.flatMap((name) => idOf.get(name) ?? []);
  const proposedPolicies = new Set(set.policies.map(({ name }) => name));
  return {
    controls,
    without: new Set(idsOf(without)),
    policies: set.policies.map((one) => ({
      name: one.name,
      everyAgent: one.everyAgent,
      agentLabels: one.agentLabels,
      id: set.storedPolicies.get(one.name)?.id ?? null,
      wasEveryAgent: set.storedPolicies.get(one.name)?.everyAgent ?? false,
      controlIds: idsOf(one.controls),
    })),
    links: new Map(
      set.links.map((one) => [
        one.name,
        {
          controlIds: idsOf(one.controls),
          policies: new Set(one.policies),
          policyIds: one.policies
            .filter((name) => !proposedPolicies.has(name))
            .flatMap((name) => set.storedPolicies.get(name)?.id ?? []),
        },
      ]),
    ),
  };
}

/** No object belongs to it. */
const NO_OWNER = '';
