import {
  isContainer,
  isObject,
  type JsonObject,
  type JsonValue,
} from '../../../../packages/exact-json/src/index.js';
import { compileCostOf, estimateCost } from '../../../../packages/linear-text/src/index.js';
import { MAX_CONDITION_COMPILE_COST } from '../../core/condition-view.js';

/** Most work of compiling one member of a configuration, in compiled instructions: as for a condition. */
export const MAX_CONFIG_COST = MAX_CONDITION_COMPILE_COST;
/** Compiled instructions equivalent in time to one value of a schema. */
const INSTRUCTIONS_PER_VALUE = 10;

/** Compiled instructions equivalent in time to reading an empty configuration. */
export const CONFIG_COST = 500;
/** Compiled instructions equivalent in time to one field, or one value of its constraints. */
export const INSTRUCTIONS_PER_FIELD = 5;

/** Cost of compiling a pattern, in compiled instructions. */
export function patternTextCost(source: string): number {
  return compileCostOf(estimateCost(source, false));
}

/**
 * Cost of checking and compiling a schema, in compiled instructions. Counts everything that could be a
 * pattern; stops beyond MAX_CONFIG_COST.
 */
export function schemaCost(value: JsonValue | undefined): number {
  let cost = 0;
  const visit = (inner: JsonValue) => {
    cost += INSTRUCTIONS_PER_VALUE;
    if (cost > MAX_CONFIG_COST || !isContainer(inner)) return;
    if (isObject(inner)) visitPatterns(inner);
    for (const below of Object.values(inner)) visit(below);
  };
  const visitPatterns = ({ pattern, patternProperties }: JsonObject) => {
    if (typeof pattern === 'string') cost += patternTextCost(pattern);
    if (!isObject(patternProperties)) return;
    for (const source of Object.keys(patternProperties)) {
      if (cost <= MAX_CONFIG_COST) cost += patternTextCost(source);
    }
  };
  if (isObject(value)) visit(value);
  return cost;
}
