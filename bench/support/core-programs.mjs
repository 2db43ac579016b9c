/** The core as the service uses it: stored definitions, the library of compiled controls, linked programs. */
import { randomUUID } from 'node:crypto';
import { evaluators } from '../../dist/packages/detectors/src/index.js';
import { createControlLibrary } from '../../dist/src/decide/decisions/control-library.js';
import { linkProgram } from '../../dist/src/kernel/core/program.js';
import { builtinEvaluators, createRegistry } from '../../dist/src/kernel/evaluators/load-evaluators.js';

/**
 * @import { ControlProgram, Detail, Step } from '../../dist/src/kernel/core/types.js'
 * @import { ListRule, RegexRule } from './core-steps.mjs'
 */

/** Enough for every benchmark to keep what it has compiled, as the service does by default. */
const KEPT_EVALUATORS = 10_000;

const registry = createRegistry([...builtinEvaluators, ...evaluators]);

export const newLibrary = () => createControlLibrary({ registry, keepEvaluators: KEPT_EVALUATORS });

/**
 * The definition of a rule as it is stored.
 * @param {Omit<RegexRule, 'index'> | Omit<ListRule, 'index'>} rule
 * @param {object} [scope]
 */
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

/**
 * Compiles what `library` does not know, and links it.
 * @param {readonly string[]} definitions
 */
export function programOf(definitions, library = newLibrary()) {
  const controls = definitions.map((text, index) => ({
    id: index + 1,
    name: `bench-control-${index}`,
    prepared: library.prepare(text),
  }));
  return linkProgram(controls, {
    newExecutionId: randomUUID,
    onFailure({ problem }) {
      throw new Error(problem);
    },
  });
}

/**
 * Evaluates a step in the turn of the call: the evaluators of the benchmarks never wait.
 * @param {ControlProgram} program
 * @param {Step} step
 * @param {Detail} detail
 */
export function verdictOf(program, step, detail) {
  const verdict = program.evaluate(step, 'pre', detail);
  if (verdict instanceof Promise) throw new Error('an evaluation waits');
  return verdict;
}

/**
 * A program as a subject of `ratesOf`.
 * @param {string} name
 * @param {ControlProgram} program
 * @param {Detail} detail
 */
export const subjectOf = (name, program, detail) => ({
  name,
  decide: (/** @type {Step} */ step) => verdictOf(program, step, detail).is_safe,
});
