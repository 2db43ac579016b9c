import {
  compareNumbers,
  doubleOf,
  isIntegral,
  isMultiple,
  isNumber,
  isObject,
  type JsonValue,
  stringifyJson,
} from '../../exact-json/src/index.js';
import { always, type CompileKeyword, type KeywordContext, listOf, own } from './keyword.js';
import { areUnique, createMembership } from './membership.js';
import type { SchemaCheck } from './run.js';
import type { Work } from './work.js';

/** Keywords that depend on the value alone: validation, section 6, the same in draft 7 and 2020-12. */
export const ASSERTIONS: readonly (readonly [string, CompileKeyword])[] = [
  ['type', typeCheck],
  ['enum', (given, context) => membership(listOf(given), 'is none of the allowed values', context)],
  ['const', (given, context) => membership([given], 'is not the one allowed value', context)],
  ['minimum', bound('is less than the minimum', (order) => order >= 0)],
  ['maximum', bound('is greater than the maximum', (order) => order <= 0)],
  ['exclusiveMinimum', bound('is not greater than', (order) => order > 0)],
  ['exclusiveMaximum', bound('is not less than', (order) => order < 0)],
  ['multipleOf', multipleOf],
  ['minLength', size(characters, 'is shorter than', (found, limit) => found >= limit)],
  ['maxLength', size(characters, 'is longer than', (found, limit) => found <= limit)],
  ['pattern', patternCheck],
  ['minItems', size(items, 'has fewer items than', (found, limit) => found >= limit)],
  ['maxItems', size(items, 'has more items than', (found, limit) => found <= limit)],
  ['uniqueItems', uniqueItems],
  ['minProperties', size(members, 'has fewer members than', (found, limit) => found >= limit)],
  ['maxProperties', size(members, 'has more members than', (found, limit) => found <= limit)],
  ['required', required],
];

function typeCheck(given: JsonValue, { keyword, schema, lenient }: KeywordContext): SchemaCheck {
  const types = (Array.isArray(given) ? given : [given]).filter((type) => typeof type === 'string');
  if (lenient && own(schema, 'nullable') === true && !types.includes('null')) types.push('null');
  return (value, place, run) =>
    types.some((type) => isOfType(value, type)) ||
    run.fail(place, keyword, () => `is not of type ${types.join(', ')}`, types);
}

function membership(values: readonly JsonValue[], reason: string, { keyword }: KeywordContext): SchemaCheck {
  const isMember = createMembership(values);
  return (value, place, run) => isMember(value, run.work) || run.fail(place, keyword, () => reason);
}

/** `holds` receives the comparison of the value with the limit. */
function bound(reason: string, holds: (order: number) => boolean): CompileKeyword {
  return (limit, { keyword }) => {
    if (!isNumber(limit)) return always;
    return (value, place, run) =>
      !isNumber(value) ||
      holds(compareNumbers(value, limit)) ||
      run.fail(place, keyword, () => `${reason} ${stringifyJson(limit)}`);
  };
}

function multipleOf(divisor: JsonValue, { keyword }: KeywordContext): SchemaCheck {
  if (!isNumber(divisor)) return always;
  return (value, place, run) => {
    if (!isNumber(value)) return true;
    if (typeof value !== 'number') run.work.read(String(value), 2);
    return (
      isMultiple(value, divisor) ||
      run.fail(place, keyword, () => `is not a multiple of ${stringifyJson(divisor)}`)
    );
  };
}

/** A size, or undefined for values of other types. */
type Measure = (value: JsonValue, work: Work) => number | undefined;

function size(
  measure: Measure,
  reason: string,
  holds: (size: number, limit: number) => boolean,
): CompileKeyword {
  return (limit, { keyword }) => {
    if (!isNumber(limit)) return always;
    const bound = doubleOf(limit);
    return (value, place, run) => {
      const found = measure(value, run.work);
      if (found === undefined || holds(found, bound)) return true;
      return run.fail(place, keyword, () => `${reason} ${stringifyJson(limit)}`);
    };
  };
}

function characters(value: JsonValue, work: Work): number | undefined {
  if (typeof value !== 'string') return undefined;
  work.read(value);
  return countCodePoints(value);
}

function items(value: JsonValue): number | undefined {
  return Array.isArray(value) ? value.length : undefined;
}

function members(value: JsonValue, work: Work): number | undefined {
  if (!isObject(value)) return undefined;
  const { length } = Object.keys(value);
  work.spend(length);
  return length;
}

function patternCheck(given: JsonValue, { keyword, pattern }: KeywordContext): SchemaCheck {
  if (typeof given !== 'string') return always;
  const compiled = pattern(given);
  return (value, place, run) =>
    typeof value !== 'string' ||
    compiled.search(value, run.work) ||
    run.fail(place, keyword, () => `does not match the pattern ${given}`);
}

function uniqueItems(given: JsonValue, { keyword }: KeywordContext): SchemaCheck {
  if (given !== true) return always;
  return (value, place, run) =>
    !Array.isArray(value) ||
    areUnique(value, run.work) ||
    run.fail(place, keyword, () => 'has items that are equal');
}

/** One problem for each missing member. */
function required(given: JsonValue, { keyword }: KeywordContext): SchemaCheck {
  const names = listOf(given).filter((name) => typeof name === 'string');
  return (value, place, run) => {
    if (!isObject(value)) return true;
    run.work.spend(names.length);
    let valid = true;
    for (const name of names) {
      if (Object.hasOwn(value, name)) continue;
      valid = run.fail(place, keyword, () => `lacks the required member ${name}`, [name]);
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

/** Whether a value is of a type of JSON Schema; 5.0 is an integer. */
export function isOfType(value: JsonValue, type: string): boolean {
  switch (type) {
    case 'integer':
      return isNumber(value) && isIntegral(value);
    case 'number':
      return isNumber(value);
    case 'array':
      return Array.isArray(value);
    case 'object':
      return isObject(value);
    case 'null':
      return value === null;
    default:
      return typeof value === type;
  }
}
