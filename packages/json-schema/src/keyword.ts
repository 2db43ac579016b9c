import { isObject, type JsonObject, type JsonValue } from '../../exact-json/src/index.js';
import type { Run, SchemaCheck, SchemaPlace } from './run.js';
import type { CountedPattern } from './work.js';

/** Context for compiling a keyword. */
export interface KeywordContext {
  readonly keyword: string;
  /** The enclosing schema; some keywords depend on adjacent ones. */
  readonly schema: JsonObject;
  /** Whether evaluated members and items are noted, because the document has unevaluated keywords. */
  readonly collects: boolean;
  /** Whether `nullable` beside `type` counts. */
  readonly lenient: boolean;
  readonly pattern: (source: string) => CountedPattern;
  /** The check of a subschema. */
  readonly check: (schema: JsonValue) => SchemaCheck;
  /** The schema that the keyword, a reference, leads to. */
  readonly target: () => JsonValue;
}

/** Compiles a keyword whose value satisfies the meta-schema. */
export type CompileKeyword = (given: JsonValue, context: KeywordContext) => SchemaCheck;

/** Runs checks in order: all of them, or up to the first failure if one is enough. */
export function every(
  checks: readonly SchemaCheck[],
  value: JsonValue,
  place: SchemaPlace,
  run: Run,
): boolean {
  let valid = true;
  for (const check of checks) {
    if (check(value, place, run)) continue;
    valid = false;
    if (run.endsAtFirst) break;
  }
  return valid;
}

/** Applies a check to some members or items of a value. */
export function applyTo(
  keys: readonly (string | number)[],
  one: SchemaCheck,
  value: JsonObject | JsonValue[],
  place: SchemaPlace,
  run: Run,
): boolean {
  let valid = true;
  for (const key of keys) {
    if (one((value as JsonObject)[key] as JsonValue, run.below(place, key), run)) continue;
    valid = false;
    if (run.endsAtFirst) break;
  }
  return valid;
}

export function always(): true {
  return true;
}

export function listOf(value: JsonValue | undefined): JsonValue[] {
  return Array.isArray(value) ? value : [];
}

export function objectOf(value: JsonValue | undefined): JsonObject {
  return isObject(value) ? value : {};
}

/** An own member; undefined when there is none. */
export function own(object: JsonObject, name: string): JsonValue | undefined {
  return Object.hasOwn(object, name) ? object[name] : undefined;
}

/** The first of some names or indexes, for a message. */
export function shown(keys: readonly (string | number)[]): string {
  const first = keys.slice(0, 3).join(', ');
  return keys.length > 3 ? `${first} and ${keys.length - 3} more` : first;
}
