/** The core as the service uses it: stored definitions, the library of compiled controls, linked programs. */
import { randomUUID } from 'node:crypto';
import { linkProgram } from '../../dist/src/core/program.js';
import { createControlLibrary } from '../../dist/src/decisions/control-library.js';
import { builtinEvaluators, createRegistry } from '../../dist/src/evaluators/load-evaluators.js';

/** Enough for every benchmark to keep what it has compiled, as the service does by default. */
const KEPT_EVALUATORS = 10_000;

export const newLibrary = () =>
  createControlLibrary({ registry: createRegistry(builtinEvaluators), keepEvaluators: KEPT_EVALUATORS });

/** The definition of a rule as it is stored. */
export function definitionOf(rule, scope) {
  const evaluator =
    rule.kind === 'regex'
      ? { name: 'regex', config: { pattern: rule.pattern } }
      : { name: 'list', config: { values: rule.values, match_mode: 'contains' } };
  return JSON.stringify({
    execution: 'server',
    ...(scope === undefined ? {} : { scope }),
    condition: { selector: { path: 'input.text' }, evaluator },
    action: { decision: 'deny' },
  });
}

/** Compiles what `library` does not know, and links it. */
export function programOf(definitions, library = newLibrary()) {
  const controls = definitions.map((text, index) => ({
    id: index + 1,
    name: `bench-control-${index}`,
    prepared: library.prepare(text),
  }));
  const onFailure = ({ problem }) => {
    throw new Error(problem);
  };
  return linkProgram(controls, { newExecutionId: randomUUID, onFailure });
}

/** A program as a subject of `ratesOf`. */
export const subjectOf = (name, program, detail) => ({
  name,
  decide: (step) => program.evaluate(step, 'pre', detail).is_safe,
});
