import type { JsonObject } from '../../../packages/exact-json/src/index.js';
import type { DemandedTexts, ForegoneResult } from '../../core/evaluator.js';
import { readExpression } from './compiled-expressions.js';

/** An expression with a constant result has it for all data. */
export function celForegone({ expression }: JsonObject): ForegoneResult | null {
  const constant = compiledOf(expression)?.constant ?? null;
  return constant === null ? null : { data: constant, absent: constant };
}

/** The texts that an expression demands of the type, the name or the stage, wherever the data are selected. */
export function celDemands({ expression }: JsonObject): readonly DemandedTexts[] {
  return (compiledOf(expression)?.requires ?? []).flatMap(({ variable, texts }): DemandedTexts[] =>
    variable === 'name' || variable === 'type' || variable === 'stage'
      ? [{ member: variable, texts, ignoresCase: false }]
      : [],
  );
}

function compiledOf(expression: unknown) {
  const reading = typeof expression === 'string' ? readExpression(expression) : null;
  return reading !== null && 'compiled' in reading ? reading.compiled : null;
}
