import { z } from 'zod';
import { isObject, type JsonObject, type JsonValue } from '../../../../packages/exact-json/src/index.js';
import { type CountedPattern, countedPattern } from '../../../../packages/json-schema/src/index.js';
import { compilePattern, shorten } from '../../../../packages/linear-text/src/index.js';
import { field, refuse, report } from '../../../contract/input/fields.js';
import { textOf } from '../../core/data-texts.js';
import { INSTRUCTIONS_PER_FIELD, MAX_CONFIG_COST, patternTextCost } from './compile-cost.js';
import { parseFieldPath, valueAt } from './field-path.js';
import { type FieldCheck, type FieldRule, failed, fieldProblems, readMembers } from './members.js';

/** Longest quotation of a pattern in a message, in characters. */
const QUOTED_PATTERN_LENGTH = 100;

/** A pattern of one field. */
export interface FieldPattern extends CountedPattern {
  readonly source: string;
}

/** Reads `field_patterns`. */
export const fieldPatterns = field<FieldRule<FieldPattern>[]>(
  (value, sink) => {
    const members = readMembers(value, sink);
    if (members === undefined) return z.NEVER;
    let readable = true;
    for (const [path, given] of members) {
      if (typeof given === 'string' || isObject(given)) continue;
      readable = false;
      report(sink, 'string_type', 'must be a string', given, [path, 'str']);
      report(sink, 'dict_type', 'must be an object', given, [path, 'dict[str,any]']);
    }
    if (!readable) return z.NEVER;
    if (fieldPatternsCost(value) > MAX_CONFIG_COST) {
      return refuse(sink, 'value_error', 'the patterns cost too much to compile together', value);
    }
    const rules: FieldRule<FieldPattern>[] = [];
    for (const [path, given] of members) {
      try {
        rules.push({ path: parseFieldPath(path), rule: compile(given as string | JsonObject) });
      } catch (error) {
        const reason = error instanceof Error ? error.message : 'it is invalid';
        readable = false;
        report(sink, 'value_error', `the pattern of ${path}: ${reason}`, value);
      }
    }
    return readable ? rules : z.NEVER;
  },
  {
    type: 'object',
    additionalProperties: {
      anyOf: [
        { type: 'string' },
        {
          type: 'object',
          properties: {
            pattern: { type: 'string' },
            flags: { type: ['array', 'null'], items: { enum: ['IGNORECASE'] } },
          },
          required: ['pattern'],
        },
      ],
    },
  },
);

/** Cost of compiling the patterns of `field_patterns`; 0 for anything else. */
export function fieldPatternsCost(value: JsonValue | undefined): number {
  if (!isObject(value)) return 0;
  let cost = INSTRUCTIONS_PER_FIELD * Object.keys(value).length;
  for (const given of Object.values(value)) {
    const source = isObject(given) ? given.pattern : given;
    if (typeof source === 'string') cost += patternTextCost(source);
  }
  return cost;
}

function compile(given: string | JsonObject): FieldPattern {
  const source = typeof given === 'string' ? given : own(given, 'pattern');
  if (typeof source !== 'string') throw new Error('its member pattern must be a string');
  const flags = typeof given === 'string' ? null : (own(given, 'flags') ?? null);
  if (flags !== null && !(Array.isArray(flags) && flags.every((flag) => flag === 'IGNORECASE'))) {
    throw new Error('its flags may have IGNORECASE only');
  }
  const ignoreCase = flags !== null && flags.length > 0;
  return { ...countedPattern(compilePattern(source, { ignoreCase })), source };
}

function own(object: JsonObject, name: string): JsonValue | undefined {
  return Object.hasOwn(object, name) ? object[name] : undefined;
}

/** With `all`, fails where a path does not resolve or a pattern has no match; with `any`, if none has. */
export function checkPatterns(rules: readonly FieldRule<FieldPattern>[], logic: 'all' | 'any'): FieldCheck {
  return (document, work) => {
    const matches: string[] = [];
    const failures = fieldProblems(rules, 'all', ({ path, rule }) => {
      const value = valueAt(document, path, work);
      if (value === undefined) return 'the field is missing';
      const text = value === null ? '' : textOf(value);
      if (!rule.search(text, work)) return `does not match ${shorten(rule.source, QUOTED_PATTERN_LENGTH)}`;
      matches.push(path.text);
      return null;
    });
    if (logic === 'all' ? failures.length === 0 : matches.length > 0) return null;
    return failed(`Field patterns do not match (logic ${logic}): ${failures[0]}`, {
      matches,
      failures,
      match_logic: logic,
    });
  };
}
