import type { CompiledExpression } from '../../../packages/cel/src/index.js';
import type { JsonObject } from '../../../packages/exact-json/src/index.js';
import type { DemandedTexts, ForegoneResult, RequiredStepText } from '../../core/evaluator.js';
import { readExpression } from './compiled-expressions.js';

/** An expression with a constant result has it for all data. */
export function celForegone({ expression }: JsonObject): ForegoneResult | null {
  const constant = compiledOf(expression)?.constant ?? null;
  return constant === null ? null : { data: constant, absent: constant };
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
