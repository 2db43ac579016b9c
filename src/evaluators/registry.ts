import type { Evaluator, EvaluatorRegistry } from '../core/evaluator.js';
import { jsonEvaluator } from './json/json.js';
import { listEvaluator } from './list/list.js';
import { regexEvaluator } from './regex/regex.js';
import { sqlEvaluator } from './sql/sql.js';

/** The evaluators that the service always has. */
export const builtinEvaluators: readonly Evaluator[] = [
  regexEvaluator,
  listEvaluator,
  jsonEvaluator,
  sqlEvaluator,
];

/** A registry of evaluators. Throws when two have the same name: which one ran would be an accident. */
export function createRegistry(evaluators: readonly Evaluator[]): EvaluatorRegistry {
  const registry = new Map<string, Evaluator>();
  for (const evaluator of evaluators) {
    if (registry.has(evaluator.name)) throw new Error(`two evaluators are named ${evaluator.name}`);
    registry.set(evaluator.name, evaluator);
  }
  return registry;
}
