import type { ErrorItem } from '../../contract/errors/service-error.js';
import { MAX_ERROR_ITEMS } from '../../contract/input/items.js';
import type { EvaluatorRegistry } from '../../kernel/core/evaluator.js';
import type { Scoped } from '../../storage/database/scoped.js';
import { readStoredRegistration } from '../agents/agent-schemas.js';
import { createAgentStore } from '../agents/agent-store.js';
import {
  type CandidateControl,
  compatibilityProblems,
  dependsOnAgent,
  readCandidates,
} from '../agents/control-compatibility.js';
import { objectKey } from '../controls/applied-object.js';
import { isDraft, type Leaf, leavesOf, type StoredControl } from '../controls/definition/definition.js';
import type { PlannedChange } from './configuration-plan.js';
import type { ConfigurationSet } from './configuration-set.js';
import { withoutSteps } from './links-writer.js';

/** Agents that are to get controls which they cannot run, as linking them one by one would refuse. */
export async function incompatibleLinks(
  scope: Scoped,
  set: ConfigurationSet,
  changes: readonly PlannedChange[],
  registry: EvaluatorRegistry,
): Promise<ErrorItem[]> {
  const written = new Set(changes.filter(({ change }) => isWritten(change)).map(objectKey));
  const dependent = dependentControls(set, registry);
  const controlsOf = policyControls(set);
  const items: ErrorItem[] = [];
  for (const one of set.policies) {
    if (!written.has(objectKey(one)) || (!one.everyAgent && one.agentLabels.length === 0)) continue;
    for (const { name } of one.controls.flatMap((control) => dependent(control) ?? [])) {
      items.push({
        resource: 'Control',
        field: `documents[${one.index}].controls`,
        code: 'incompatible',
        message: `control "${name}" names an evaluator of one agent, or cannot be read, so it cannot be for agents that are registered later`,
      });
    }
  }
  for (const one of set.links) {
    if (!written.has(objectKey(one)) || items.length >= MAX_ERROR_ITEMS) continue;
    const before = set.storedLinks.get(one.name);
    const added = new Set([
      ...one.controls.filter((name) => before?.controls.includes(name) !== true),
      ...one.policies.filter((name) => before?.policies.includes(name) !== true).flatMap(controlsOf),
    ]);
    const candidates = [...added].flatMap((name) => dependent(name) ?? []);
    if (candidates.length === 0) continue;
    const agent = await createAgentStore(scope).find(one.name);
    const registration = agent === null ? withoutSteps(one.name) : readStoredRegistration(agent.data);
    const problems = compatibilityProblems(registration, one.name, candidates);
    items.push(...problems.map((item) => ({ ...item, field: `documents[${one.index}]` })));
  }
  return items;
}

function isWritten(change: PlannedChange['change']): boolean {
  return change === 'create' || change === 'update';
}

/** By name: a control that not every agent may be able to run; undefined for one that every agent can. */
function dependentControls(
  { controls, storedControls }: ConfigurationSet,
  registry: EvaluatorRegistry,
): (name: string) => CandidateControl | undefined {
  const prepared = new Map(controls.map(({ desired, control }) => [desired.name, control]));
  const known = new Map<string, CandidateControl | undefined>();
  return (name) => {
    if (known.has(name)) return known.get(name);
    const row = storedControls.get(name);
    const control = prepared.get(name);
    const candidates =
      control === undefined
        ? readCandidates(row === undefined ? [] : [row], registry)
        : [{ id: row?.id ?? 0, name, leaves: leavesIn(control) }];
    const found = candidates.find(dependsOnAgent);
    known.set(name, found);
    return found;
  };
}

function leavesIn(control: StoredControl): Leaf[] {
  return isDraft(control) ? [] : [...leavesOf(control.condition, '')].map(({ leaf }) => leaf);
}

/** By name of a policy: the controls that it is to have. */
function policyControls({ policies, storedPolicies }: ConfigurationSet): (name: string) => readonly string[] {
  const desired = new Map(policies.map(({ name, controls }) => [name, controls]));
  return (name) => desired.get(name) ?? storedPolicies.get(name)?.controls ?? [];
}
