import {
  type CompiledExpression,
  conjunctsOf,
  inspectExpression,
} from '../../../../packages/cel/src/index.js';
import type { JsonObject } from '../../../../packages/exact-json/src/index.js';
import type { DemandedTexts, ForegoneResult, RequiredStepText } from '../../core/evaluator.js';
import { readExpression, VARIABLES } from './compiled-expressions.js';

/**
 * An expression with a constant result has it for all data. One whose terms contradict each other is never true, but a step
 * may lack what they read.
 */
export function celForegone({ expression, on_missing }: JsonObject): ForegoneResult | null {
  const compiled = compiledOf(expression);
  if (compiled === null) return null;
  const { constant, problems } = compiled;
  if (constant !== null) return { data: constant, absent: constant };
  const isNever = on_missing !== 'match' && problems.some(({ code }) => code === 'always_false');
  return isNever ? { data: false, absent: false } : null;
}

/** The texts that an expression demands of the type, the name or the stage, wherever the data are selected. */
export function celDemands({ expression }: JsonObject): readonly DemandedTexts[] {
  const compiled = compiledOf(expression);
  if (compiled === null) return [];
  return requiredStepTexts(compiled).map((required) => ({ ...required, ignoresCase: false }));
}

/** What an expression requires of the type, the name and the stage of a step. */
export function requiredStepTexts({ requires }: Pick<CompiledExpression, 'requires'>): RequiredStepText[] {
  return requires.flatMap(({ variable, texts }): RequiredStepText[] =>
    variable === 'name' || variable === 'type' || variable === 'stage' ? [{ member: variable, texts }] : [],
  );
}

function compiledOf(expression: unknown) {
  const reading = typeof expression === 'string' ? readExpression(expression) : null;
  return reading !== null && 'compiled' in reading ? reading.compiled : null;
}

/** Most characters of expressions that are compared as one. */
const MAX_COMPARED_LENGTH = 4_000;

/** An expression, and where the data of its variable `value` are selected. */
export interface SelectedExpression {
  readonly config: JsonObject;
  readonly selectorPath: string;
}

/** Whether some expressions are never true of the same step, and none of them matches for lack of a member. */
export function areContradictory(expressions: readonly SelectedExpression[]): boolean {
  const [first] = expressions;
  if (first === undefined || expressions.length < 2) return false;
  const haveOneValue = expressions.every(({ selectorPath }) => selectorPath === first.selectorPath);
  const terms = expressions.flatMap(({ config: { expression, on_missing } }) => {
    if (typeof expression !== 'string' || on_missing === 'match' || compiledOf(expression) === null)
      return [];
    return conjunctsOf(expression, VARIABLES).filter(
      ({ reads }) => haveOneValue || reads.every(([root]) => root !== 'value'),
    );
  });
  const joined = terms.map(({ text }) => `(${text})`).join(' && ');
  if (joined.length > MAX_COMPARED_LENGTH) return false;
  return inspectExpression(joined, VARIABLES).problems.some(({ code }) => code === 'always_false');
}
