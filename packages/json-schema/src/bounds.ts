import { isContainer, type JsonObject, type JsonValue } from '../../exact-json/src/index.js';

/** Most values (members and items at any level) of a schema: checking and compiling them takes some 10 ms. */
export const MAX_SCHEMA_VALUES = 5_000;
/** Deepest nesting of a schema: real schemas stay below, and references do not need it. */
export const MAX_SCHEMA_DEPTH = 64;

/** Why a schema, valid or not, must not be compiled; undefined when it may be. */
export function boundsProblem(schema: JsonObject, mostValues: number): string | undefined {
  if (isDeeper(schema, MAX_SCHEMA_DEPTH)) return `nests deeper than ${MAX_SCHEMA_DEPTH} levels`;
  return countValues(schema, mostValues) > mostValues ? `has more than ${mostValues} values` : undefined;
}

/** Number of values in a JSON value, itself included; counting stops beyond `limit`. */
export function countValues(value: JsonValue, limit = Number.POSITIVE_INFINITY): number {
  if (!isContainer(value)) return 1;
  let count = 1;
  for (const member of Array.isArray(value) ? value : Object.values(value)) {
    if (count > limit) break;
    count += countValues(member, limit - count);
  }
  return count;
}

function isDeeper(value: JsonValue, levels: number): boolean {
  if (!isContainer(value)) return false;
  return levels === 0 || Object.values(value).some((member) => isDeeper(member, levels - 1));
}
