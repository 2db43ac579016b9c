import { jsonEqual } from '../../../packages/exact-json/src/index.js';
import { readAgentScopedName } from '../controls/definition/agent-scoped-name.js';
import type { AgentRegistration, EvaluatorRegistration, StepDefinition } from './agent-registration.js';
import { compareSteps, compareTexts, type StepKey, stepKey } from './steps-catalogue.js';

/** Changes of an overwriting registration, in printed form. */
export type OverwriteChanges = {
  metadata_changed: boolean;
  steps_added: StepKey[];
  steps_updated: StepKey[];
  steps_removed: StepKey[];
  evaluators_added: string[];
  evaluators_updated: string[];
  evaluators_removed: string[];
  evaluator_removals: EvaluatorRemoval[];
};

/** Remaining references to a removed evaluator; the two lists are parallel. */
export type EvaluatorRemoval = {
  name: string;
  referenced_by_active_controls: boolean;
  control_ids: number[];
  control_names: string[];
};

/** An enabled control linked to the agent, and the names of its evaluators, each once. */
export interface EvaluatorUse {
  readonly id: number;
  readonly name: string;
  readonly evaluatorNames: readonly string[];
}

/** The changes of a new agent, and of strict mode: none, because nothing was overwritten. */
export function noChanges(): OverwriteChanges {
  return {
    metadata_changed: false,
    steps_added: [],
    steps_updated: [],
    steps_removed: [],
    evaluators_added: [],
    evaluators_updated: [],
    evaluators_removed: [],
    evaluator_removals: [],
  };
}

/** Compares two registrations. A different order of steps and evaluators is not a change. */
export function overwriteChanges(
  stored: AgentRegistration,
  incoming: AgentRegistration,
  activeControls: readonly EvaluatorUse[],
): { changes: OverwriteChanges; changed: boolean } {
  const metadataChanged = !jsonEqual(stored.agent, incoming.agent);
  const steps = compareByKey(stored.steps, incoming.steps, stepKey);
  const evaluators = compareByKey(stored.evaluators, incoming.evaluators, ({ name }) => name);
  const removed = namesOf(evaluators.removed);
  return {
    changed: metadataChanged || steps.differ || evaluators.differ,
    changes: {
      metadata_changed: metadataChanged,
      steps_added: keysOf(steps.added),
      steps_updated: keysOf(steps.updated),
      steps_removed: keysOf(steps.removed),
      evaluators_added: namesOf(evaluators.added),
      evaluators_updated: namesOf(evaluators.updated),
      evaluators_removed: removed,
      evaluator_removals: removalsOf(removed, stored.agent.agent_name, activeControls),
    },
  };
}

interface Comparison<T> {
  readonly added: T[];
  readonly updated: T[];
  readonly removed: T[];
  readonly differ: boolean;
}

function compareByKey<T extends StepDefinition | EvaluatorRegistration>(
  stored: readonly T[],
  incoming: readonly T[],
  keyOf: (item: T) => string,
): Comparison<T> {
  const before = new Map(stored.map((item) => [keyOf(item), item]));
  const after = new Map(incoming.map((item) => [keyOf(item), item]));
  const added: T[] = [];
  const updated: T[] = [];
  for (const [key, item] of after) {
    const known = before.get(key);
    if (known === undefined) added.push(item);
    else if (!jsonEqual(known, item)) updated.push(item);
  }
  const removed = [...before].filter(([key]) => !after.has(key)).map(([, item]) => item);
  return { added, updated, removed, differ: added.length + updated.length + removed.length > 0 };
}

function keysOf(steps: readonly StepDefinition[]): StepKey[] {
  return steps.map(({ type, name }) => ({ type, name })).sort(compareSteps);
}

function namesOf(evaluators: readonly EvaluatorRegistration[]): string[] {
  return evaluators.map(({ name }) => name).sort(compareTexts);
}

function removalsOf(
  names: readonly string[],
  agentName: string,
  activeControls: readonly EvaluatorUse[],
): EvaluatorRemoval[] {
  const usersByEvaluator = new Map<string, EvaluatorUse[]>(names.map((name) => [name, []]));
  for (const control of activeControls) {
    for (const reference of control.evaluatorNames) {
      const scoped = readAgentScopedName(reference);
      if (scoped?.agentName === agentName) usersByEvaluator.get(scoped.evaluatorName)?.push(control);
    }
  }
  return [...usersByEvaluator].map(([name, users]) => {
    users.sort((a, b) => compareTexts(a.name, b.name) || a.id - b.id);
    return {
      name,
      referenced_by_active_controls: users.length > 0,
      control_ids: users.map(({ id }) => id),
      control_names: users.map((user) => user.name),
    };
  });
}
