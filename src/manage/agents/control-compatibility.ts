import { createSchemaValidator, type SchemaValidator } from '../../../packages/json-schema/src/index.js';
import { type ErrorItem, ServiceError } from '../../contract/errors/service-error.js';
import { MAX_ERROR_ITEMS } from '../../contract/input/items.js';
import type { StoredDefinition } from '../../decide/agent-state/agent-control-store.js';
import type { EvaluatorRegistry } from '../../kernel/core/evaluator.js';
import { readAgentScopedName } from '../controls/definition/agent-scoped-name.js';
import { type Leaf, leavesOf } from '../controls/definition/definition.js';
import { readStoredDefinition } from '../controls/definition-presentation.js';
import type { AgentRegistration, EvaluatorRegistration } from './agent-registration.js';
import { configProblem, registeredEvaluators } from './registered-evaluators.js';

/** A control to be linked to agents. */
export interface CandidateControl {
  readonly id: number;
  readonly name: string;
  /** Its leaves; null when the stored definition cannot be read. */
  readonly leaves: readonly Leaf[] | null;
}

/** Reads stored controls, once for any number of agents. */
export function readCandidates(
  controls: readonly StoredDefinition[],
  registry: EvaluatorRegistry,
): CandidateControl[] {
  return controls.map(({ id, name, data }) => {
    if (isEmpty(data)) return { id, name, leaves: [] };
    const stored = readStoredDefinition(data, registry);
    if (!stored.ok) return { id, name, leaves: null };
    return { id, name, leaves: [...leavesOf(stored.stored.condition, '')].map(({ leaf }) => leaf) };
  });
}

/**
 * Why an agent cannot run controls: one item for each leaf with an evaluator of another agent, one that is
 * not registered, or a configuration rejected by its schema; one for each unreadable control; and a single
 * one when the registration is unreadable (`undefined`). A control without a definition yet, such as an
 * incomplete template, is compatible with every agent. At most MAX_ERROR_ITEMS items.
 */
export function compatibilityProblems(
  registration: AgentRegistration | undefined,
  agentName: string,
  controls: readonly CandidateControl[],
): ErrorItem[] {
  if (controls.length === 0) return [];
  if (registration === undefined) {
    return [incompatible(`the stored registration of agent "${agentName}" cannot be read`)];
  }
  const agent: CheckedAgent = {
    name: agentName,
    evaluators: registeredEvaluators(registration),
    validator: createSchemaValidator(),
  };
  const items: ErrorItem[] = [];
  for (const control of controls) {
    for (const problem of problemsOf(control, agent)) {
      if (items.length >= MAX_ERROR_ITEMS) return items;
      items.push(incompatible(`control "${control.name}" (${control.id}): ${problem}`));
    }
  }
  return items;
}

/** Whether an agent may be unable to run a control, depending on its registration. */
export function dependsOnAgent({ leaves }: CandidateControl): boolean {
  return leaves === null || leaves.some(({ evaluator }) => readAgentScopedName(evaluator.name) !== undefined);
}

/** Linking controls, or a policy with them, to an agent that cannot run them. */
export function policyControlIncompatible(items: readonly ErrorItem[]): ServiceError {
  return new ServiceError('POLICY_CONTROL_INCOMPATIBLE', {
    detail: `What is to be linked is incompatible with the agent: ${items.length} ${items.length === 1 ? 'problem' : 'problems'}.`,
    hint: 'Register the evaluators the controls name on this agent, or mend the controls.',
    items,
  });
}

interface CheckedAgent {
  readonly name: string;
  readonly evaluators: ReadonlyMap<string, EvaluatorRegistration>;
  readonly validator: SchemaValidator;
}

function* problemsOf({ leaves }: CandidateControl, agent: CheckedAgent): Generator<string> {
  if (leaves === null) {
    yield 'the stored definition cannot be read';
    return;
  }
  for (const leaf of leaves) {
    const problem = leafProblem(leaf, agent);
    if (problem !== undefined) yield problem;
  }
}

/** Data stored by former versions for a control created before its definition. */
function isEmpty(data: string): boolean {
  return /^\s*\{\s*\}\s*$/.test(data);
}

function leafProblem({ evaluator: { name, config } }: Leaf, agent: CheckedAgent): string | undefined {
  const scoped = readAgentScopedName(name);
  if (scoped === undefined) return undefined;
  if (scoped.agentName !== agent.name) return `evaluator "${name}" belongs to another agent`;
  const evaluator = agent.evaluators.get(scoped.evaluatorName);
  if (evaluator === undefined) return `evaluator "${name}" is not registered`;
  const problem = configProblem(evaluator, config, agent.validator);
  return problem === undefined ? undefined : `the configuration of evaluator "${name}": ${problem}`;
}

function incompatible(message: string): ErrorItem {
  return { resource: 'Control', field: 'evaluator', code: 'incompatible', message };
}
