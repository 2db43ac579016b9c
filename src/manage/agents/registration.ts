import { jsonEqual } from '../../../packages/exact-json/src/index.js';
import { type ErrorItem, ServiceError } from '../../contract/errors/service-error.js';
import { MAX_ERROR_ITEMS } from '../../contract/input/items.js';
import type { EvaluatorRegistry } from '../../kernel/core/evaluator.js';
import type { AgentRegistration, EvaluatorRegistration, StepDefinition } from './agent-registration.js';
import {
  type EvaluatorUse,
  noChanges,
  type OverwriteChanges,
  overwriteChanges,
} from './overwrite-changes.js';
import { incompatibleChanges } from './schema-compatibility.js';
import { stepKey } from './steps-catalogue.js';

/** Details of more than 500 characters are cut; the items have all reasons. */
const MAX_DETAIL_LENGTH = 470;

/** Result of a registration. */
export interface Merge {
  /** The registration to store. */
  readonly registration: AgentRegistration;
  /** Whether it differs from the stored one in a relevant way. */
  readonly changed: boolean;
  /** Changes of an overwrite; empty in strict mode. */
  readonly changes: OverwriteChanges;
}

/**
 * Checks a registration independent of stored data. Throws EVALUATOR_NAME_CONFLICT when it has an evaluator
 * of the service, then VALIDATION_ERROR (400) when it has a duplicate step; each for the first offender.
 */
export function checkRegistration(incoming: AgentRegistration, registry: EvaluatorRegistry): void {
  const taken = incoming.evaluators.find(({ name }) => registry.has(name));
  if (taken !== undefined) throw evaluatorNameConflict(taken.name);
  const seen = new Set<string>();
  for (const step of incoming.steps) {
    const key = stepKey(step);
    if (seen.has(key)) throw duplicateStep(step);
    seen.add(key);
  }
}

/**
 * Adds new parts to a stored registration, refreshes compatible ones and keeps those not mentioned. A change
 * of a step's description or metadata alone is not written. Throws SCHEMA_INCOMPATIBLE for the first step
 * whose schemas differ, then for the first evaluator whose schema became incompatible.
 */
export function mergeStrict(stored: AgentRegistration, incoming: AgentRegistration): Merge {
  const steps = mergeSteps(stored.steps, incoming.steps);
  const evaluators = mergeEvaluators(stored.evaluators, incoming.evaluators);
  const changed = !jsonEqual(stored.agent, incoming.agent) || steps.changed || evaluators.changed;
  const registration = { agent: incoming.agent, steps: steps.merged, evaluators: evaluators.merged };
  return { registration, changed, changes: noChanges() };
}

/**
 * Replaces a stored registration. `activeControls` are the enabled controls linked to the agent: they
 * determine which removed evaluators are still in use, which is reported and does not prevent the removal.
 */
export function mergeOverwrite(
  stored: AgentRegistration,
  incoming: AgentRegistration,
  activeControls: readonly EvaluatorUse[],
): Merge {
  const { changes, changed } = overwriteChanges(stored, incoming, activeControls);
  // A different order alone is not a change, and is not stored.
  return { registration: changed ? incoming : stored, changed, changes };
}

interface Merged<T> {
  readonly merged: T[];
  readonly changed: boolean;
}

function mergeSteps(
  stored: readonly StepDefinition[],
  incoming: readonly StepDefinition[],
): Merged<StepDefinition> {
  const steps = new Map(stored.map((step) => [stepKey(step), step]));
  let changed = false;
  for (const step of incoming) {
    const known = steps.get(stepKey(step));
    if (known === undefined) changed = true;
    else if (!sameSchemas(known, step)) throw stepSchemaMismatch(step);
    steps.set(stepKey(step), step);
  }
  return { merged: [...steps.values()], changed };
}

function sameSchemas(a: StepDefinition, b: StepDefinition): boolean {
  return jsonEqual(a.input_schema, b.input_schema) && jsonEqual(a.output_schema, b.output_schema);
}

function mergeEvaluators(
  stored: readonly EvaluatorRegistration[],
  incoming: readonly EvaluatorRegistration[],
): Merged<EvaluatorRegistration> {
  const evaluators = new Map(stored.map((evaluator) => [evaluator.name, evaluator]));
  const lastByName = new Map(incoming.map((evaluator) => [evaluator.name, evaluator]));
  let changed = false;
  for (const [name, evaluator] of lastByName) {
    const known = evaluators.get(name);
    if (known !== undefined) {
      const reasons = incompatibleChanges(known.config_schema, evaluator.config_schema);
      if (reasons.length > 0) throw evaluatorSchemaIncompatible(name, reasons);
    }
    if (known === undefined || !jsonEqual(known, evaluator)) changed = true;
    evaluators.set(name, evaluator);
  }
  return { merged: [...evaluators.values()], changed };
}

function evaluatorNameConflict(name: string): ServiceError {
  const message = `the evaluator name "${name}" conflicts with built-in evaluator "${name}" of the service`;
  return new ServiceError('EVALUATOR_NAME_CONFLICT', {
    detail: message,
    hint: 'Register the evaluator under another name.',
    name,
    kind: 'Evaluator',
    items: [{ resource: 'Evaluator', field: 'name', code: 'name_conflict', message, value: name }],
  });
}

function duplicateStep(step: StepDefinition): ServiceError {
  const message = `step "${step.name}" of type "${step.type}" is there twice`;
  return new ServiceError('VALIDATION_ERROR', {
    detail: message,
    httpStatus: 400,
    items: [{ resource: 'Step', field: 'name', code: 'duplicate_step_name', message, value: step.name }],
  });
}

function stepSchemaMismatch(step: StepDefinition): ServiceError {
  const message = `schema conflict: step "${step.name}" of type "${step.type}" is registered with other schemas`;
  return schemaIncompatible(step.name, 'Step', message, [
    { resource: 'Step', field: 'schema', code: 'schema_mismatch', message },
  ]);
}

function evaluatorSchemaIncompatible(name: string, reasons: readonly string[]): ServiceError {
  const items = reasons.slice(0, MAX_ERROR_ITEMS).map((message): ErrorItem => {
    return { resource: 'Evaluator', field: 'config_schema', code: 'schema_incompatible', message };
  });
  const problem = `the schema of evaluator "${name}" is not backward compatible with the registered one`;
  const detail = `${problem}: ${joined(reasons, MAX_DETAIL_LENGTH - problem.length)}`;
  return schemaIncompatible(name, 'Evaluator', detail, items);
}

/** As many reasons as fit into so many characters; at least the first. */
function joined([first = '', ...others]: readonly string[], length: number): string {
  let text = first;
  for (const [index, reason] of others.entries()) {
    if (text.length + reason.length > length) return `${text}; and ${others.length - index} more`;
    text += `; ${reason}`;
  }
  return text;
}

function schemaIncompatible(
  name: string,
  kind: 'Step' | 'Evaluator',
  detail: string,
  items: readonly ErrorItem[],
): ServiceError {
  const hint = 'Use another name, or replace the registration with conflict_mode "overwrite".';
  return new ServiceError('SCHEMA_INCOMPATIBLE', { detail, hint, name, kind, items });
}
