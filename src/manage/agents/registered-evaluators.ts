import type { JsonObject } from '../../../packages/exact-json/src/index.js';
import type { SchemaValidator } from '../../../packages/json-schema/src/index.js';
import type { AgentRegistration, EvaluatorRegistration } from './agent-registration.js';

/**
 * The evaluators of a registration by name, in order of registration. A new agent may register the same name
 * twice: the last one counts, at the position of the first.
 */
export function registeredEvaluators(registration: AgentRegistration): Map<string, EvaluatorRegistration> {
  return new Map(registration.evaluators.map((evaluator) => [evaluator.name, evaluator]));
}

/** Why a configuration violates the schema of its registered evaluator; an empty schema accepts anything. */
export function configProblem(
  evaluator: EvaluatorRegistration,
  config: JsonObject,
  validator: SchemaValidator,
): string | undefined {
  if (Object.keys(evaluator.config_schema).length === 0) return undefined;
  return validator.problem(evaluator.config_schema, config);
}
