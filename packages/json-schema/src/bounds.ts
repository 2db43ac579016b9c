import { isContainer, isObject, type JsonObject, type JsonValue } from '../../exact-json/src/index.js';

/** Most values (members and items at any level) of a schema: compiling this many has taken up to a fifth of a second. */
export const MAX_REGISTERED_SCHEMA_VALUES = 2_000;
/** Deepest nesting of a schema; the compiler recurses once for each level. */
export const MAX_REGISTERED_SCHEMA_DEPTH = 64;

/**
 * Members that change the target of references, or that are resolved during validation: with them the work of
 * a schema could not be predicted. The one in the root is ignored.
 */
const REFUSED_MEMBERS = [
  '$id',
  '$anchor',
  '$dynamicAnchor',
  '$dynamicRef',
  '$recursiveAnchor',
  '$recursiveRef',
] as const;

/** Why a schema, valid or not, must not be compiled; undefined when it may be. */
export function schemaBoundsProblem(schema: JsonObject): string | undefined {
  const scan: Scan = { values: 0, problem: undefined };
  scanMembers(schema, 1, true, scan);
  return scan.problem;
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

interface Scan {
  values: number;
  problem: string | undefined;
}

function scanValue(value: JsonValue, depth: number, scan: Scan): void {
  scan.values += 1;
  if (scan.values > MAX_REGISTERED_SCHEMA_VALUES)
    scan.problem = `it has more than ${MAX_REGISTERED_SCHEMA_VALUES} values`;
  else if (isContainer(value)) scanMembers(value, depth, false, scan);
}

function scanMembers(value: JsonObject | JsonValue[], depth: number, isRoot: boolean, scan: Scan): void {
  if (depth > MAX_REGISTERED_SCHEMA_DEPTH)
    scan.problem = `it nests deeper than ${MAX_REGISTERED_SCHEMA_DEPTH} levels`;
  else if (isObject(value) && !isRoot) scan.problem = refusedMember(value);
  if (isObject(value) && Object.hasOwn(value, '__proto__')) {
    // The compiler skips a member of this name anywhere, so the schema would not mean what it appears to.
    scan.problem = 'it has a member named __proto__';
  }
  for (const member of Array.isArray(value) ? value : Object.values(value)) {
    if (scan.problem !== undefined) return;
    scanValue(member, depth + 1, scan);
  }
}

/** Where such a name is a described property, its value is an object or a boolean, which is harmless. */
function refusedMember(schema: JsonObject): string | undefined {
  const name = REFUSED_MEMBERS.find((one) => Object.hasOwn(schema, one) && typeof schema[one] === 'string');
  if (name !== undefined) return `${name} is not supported; use $defs and references within the schema`;
  return Object.hasOwn(schema, '$recursiveAnchor') && schema.$recursiveAnchor === true
    ? '$recursiveAnchor is not supported'
    : undefined;
}
