import {
  compareNumbers,
  doubleOf,
  isMultiple,
  isNumber,
  isObject,
  type JsonObject,
  type JsonValue,
  stringifyJson,
} from '../../exact-json/src/index.js';
import { areUnique, createMembership } from './membership.js';
import type { SchemaCheck } from './run.js';
import { isOfType } from './value-types.js';
import type { CountedPattern } from './work.js';

/** Context for compiling a keyword: the enclosing schema, and the patterns of the whole document. */
export interface AssertionContext {
  readonly schema: JsonObject;
  readonly pattern: (source: string) => CountedPattern;
}

type Compile = (given: JsonValue, context: AssertionContext) => SchemaCheck;

/** Keywords of JSON Schema draft 7 (validation, section 6) that depend on the value alone. */
export const ASSERTIONS: ReadonlyMap<string, Compile> = new Map<string, Compile>([
  ['type', typeCheck],
  ['enum', (given) => membership(Array.isArray(given) ? given : [], 'is none of the allowed values')],
  ['const', (given) => membership([given], 'is not the one allowed value')],
  ['minimum', bound('is less than the minimum', (order) => order >= 0)],
  ['maximum', bound('is greater than the maximum', (order) => order <= 0)],
  ['exclusiveMinimum', bound('is not greater than', (order) => order > 0)],
  ['exclusiveMaximum', bound('is not less than', (order) => order < 0)],
  ['multipleOf', multipleOf],
  ['minLength', textSize('is shorter than', (length, limit) => length >= limit)],
  ['maxLength', textSize('is longer than', (length, limit) => length <= limit)],
  ['pattern', patternCheck],
  ['minItems', listSize('has fewer items than', (length, limit) => length >= limit)],
  ['maxItems', listSize('has more items than', (length, limit) => length <= limit)],
  ['uniqueItems', uniqueItems],
  ['minProperties', objectSize('has fewer members than', (size, limit) => size >= limit)],
  ['maxProperties', objectSize('has more members than', (size, limit) => size <= limit)],
  ['required', required],
]);

function typeCheck(given: JsonValue): SchemaCheck {
  const types = (Array.isArray(given) ? given : [given]).filter((type) => typeof type === 'string');
  return (value, place, run) =>
    types.some((type) => isOfType(value, type)) ||
    run.fail(place, () => `is not of type ${types.join(', ')}`);
}

function membership(values: readonly JsonValue[], reason: string): SchemaCheck {
  const isMember = createMembership(values);
  return (value, place, run) => isMember(value, run.work) || run.fail(place, () => reason);
}

/** `holds` receives the comparison of the value with the limit. */
function bound(reason: string, holds: (order: number) => boolean): Compile {
  return (limit) => {
    if (!isNumber(limit)) return always;
    return (value, place, run) =>
      !isNumber(value) ||
      holds(compareNumbers(value, limit)) ||
      run.fail(place, () => `${reason} ${stringifyJson(limit)}`);
  };
}

function multipleOf(divisor: JsonValue): SchemaCheck {
  if (!isNumber(divisor)) return always;
  return (value, place, run) => {
    if (!isNumber(value)) return true;
    if (typeof value !== 'number') run.work.read(String(value), 2);
    return (
      isMultiple(value, divisor) || run.fail(place, () => `is not a multiple of ${stringifyJson(divisor)}`)
    );
  };
}

/** Sizes count characters, that is code points; items; or members. */
function textSize(reason: string, holds: (length: number, limit: number) => boolean): Compile {
  return (limit) => {
    if (!isNumber(limit)) return always;
    const bound = doubleOf(limit);
    return (value, place, run) => {
      if (typeof value !== 'string') return true;
      run.work.read(value);
      return (
        holds(countCodePoints(value), bound) || run.fail(place, () => `${reason} ${stringifyJson(limit)}`)
      );
    };
  };
}

function listSize(reason: string, holds: (length: number, limit: number) => boolean): Compile {
  return (limit) => {
    if (!isNumber(limit)) return always;
    const bound = doubleOf(limit);
    return (value, place, run) =>
      !Array.isArray(value) ||
      holds(value.length, bound) ||
      run.fail(place, () => `${reason} ${stringifyJson(limit)}`);
  };
}

function objectSize(reason: string, holds: (size: number, limit: number) => boolean): Compile {
  return (limit) => {
    if (!isNumber(limit)) return always;
    const bound = doubleOf(limit);
    return (value, place, run) => {
      if (!isObject(value)) return true;
      const size = Object.keys(value).length;
      run.work.spend(size);
      return holds(size, bound) || run.fail(place, () => `${reason} ${stringifyJson(limit)}`);
    };
  };
}

function patternCheck(given: JsonValue, { pattern }: AssertionContext): SchemaCheck {
  if (typeof given !== 'string') return always;
  const compiled = pattern(given);
  return (value, place, run) =>
    typeof value !== 'string' ||
    compiled.search(value, run.work) ||
    run.fail(place, () => `does not match the pattern ${given}`);
}

function uniqueItems(given: JsonValue): SchemaCheck {
  if (given !== true) return always;
  return (value, place, run) =>
    !Array.isArray(value) || areUnique(value, run.work) || run.fail(place, () => 'has items that are equal');
}

/** One problem for each missing member. */
function required(given: JsonValue): SchemaCheck {
  const names = (Array.isArray(given) ? given : []).filter((name) => typeof name === 'string');
  return (value, place, run) => {
    if (!isObject(value)) return true;
    run.work.spend(names.length);
    let valid = true;
    for (const name of names) {
      if (Object.hasOwn(value, name)) continue;
      valid = run.fail(place, () => `lacks the required member ${name}`);
      if (run.endsAtFirst) break;
    }
    return valid;
  };
}

/** Characters of a text; half of a surrogate pair counts as one. */
export function countCodePoints(text: string): number {
  let count = 0;
  for (let at = 0; at < text.length; at += 1) {
    count += 1;
    const code = text.charCodeAt(at);
    if (code >= 0xd800 && code <= 0xdbff) {
      const next = text.charCodeAt(at + 1);
      if (next >= 0xdc00 && next <= 0xdfff) at += 1;
    }
  }
  return count;
}

function always(): true {
  return true;
}
