import { z } from 'zod';
import {
  compareNumbers,
  isNumber,
  isObject,
  type JsonObject,
  type JsonValue,
  stringifyJson,
} from '../../../../packages/exact-json/src/index.js';
import {
  countCodePoints,
  countValues,
  createMembership,
  type Work,
} from '../../../../packages/json-schema/src/index.js';
import { field, refuse, report } from '../../../contract/input/fields.js';
import { parseFieldPath, valueAt } from './field-path.js';
import { type FieldCheck, type FieldRule, failed, fieldProblems, readMembers } from './members.js';

/** Most values of all constraints together, those of enumerations included. */
const MAX_CONSTRAINT_VALUES = 20_000;

/** Constraints of one field as configured, without members that are null; `enum` is a list. */
export type Constraints = Readonly<
  Partial<Record<'type' | 'min' | 'max' | 'enum' | 'min_length' | 'max_length', JsonValue>>
>;

const NAMES = ['type', 'min', 'max', 'enum', 'min_length', 'max_length'] as const;

/** Reads `field_constraints`. */
export const fieldConstraints = field<FieldRule<Constraints>[]>(
  (value, sink) => {
    const members = readMembers(value, sink);
    if (members === undefined) return z.NEVER;
    let readable = true;
    for (const [path, constraints] of members) {
      if (isObject(constraints)) continue;
      readable = false;
      report(sink, 'dict_type', 'must be an object', constraints, [path]);
    }
    if (!readable) return z.NEVER;
    if (countValues(value, MAX_CONSTRAINT_VALUES) > MAX_CONSTRAINT_VALUES) {
      return refuse(sink, 'value_error', `must have at most ${MAX_CONSTRAINT_VALUES} values`, value);
    }
    const rules: FieldRule<Constraints>[] = [];
    for (const [path, given] of members) {
      const constraints = givenConstraints(given as JsonObject);
      const problem = constraintsProblem(constraints);
      if (problem !== undefined) {
        readable = false;
        report(sink, 'value_error', `the constraints of ${path}: ${problem}`, value);
        continue;
      }
      rules.push({ path: parseFieldPath(path), rule: constraints });
    }
    return readable ? rules : z.NEVER;
  },
  {
    type: 'object',
    additionalProperties: {
      type: 'object',
      properties: {
        type: {},
        min: { type: ['number', 'null'] },
        max: { type: ['number', 'null'] },
        enum: { type: ['array', 'null'], minItems: 1 },
        min_length: { type: ['integer', 'null'] },
        max_length: { type: ['integer', 'null'] },
      },
    },
  },
);

function givenConstraints(object: JsonObject): Constraints {
  const given = NAMES.filter((name) => Object.hasOwn(object, name) && object[name] !== null);
  return Object.fromEntries(given.map((name) => [name, object[name]]));
}

function constraintsProblem(given: Constraints): string | undefined {
  if (Object.keys(given).length === 0) return `at least one of ${NAMES.join(', ')} is needed`;
  const { type } = given;
  const isNumeric = type === undefined || type === 'number' || type === 'integer';
  if ((given.min !== undefined || given.max !== undefined) && !isNumeric) {
    return 'min and max need the type number or integer, or none';
  }
  if (given.enum !== undefined && (!Array.isArray(given.enum) || given.enum.length === 0)) {
    return 'enum must be a list that is not empty';
  }
  const isLength = (length: JsonValue | undefined) => length === undefined || Number.isSafeInteger(length);
  return isLength(given.min_length) && isLength(given.max_length)
    ? undefined
    : 'min_length and max_length must be integers';
}

/** Returns the problem of a value; null when it is valid. */
type Problem = (value: JsonValue, work: Work) => string | null;

/** Fails where a path does not resolve or a constraint is violated; the first one per field counts. */
export function checkConstraints(
  rules: readonly FieldRule<Constraints>[],
  caseSensitive: boolean,
): FieldCheck {
  const compiled = rules.map(({ path, rule }) => ({ path, rule: compile(rule, caseSensitive) }));
  return (document, work, wanted) => {
    const problems = fieldProblems(compiled, wanted, ({ path, rule }) => {
      const value = valueAt(document, path, work);
      if (value === undefined) return 'the field is missing';
      for (const problemOf of rule) {
        const problem = problemOf(value, work);
        if (problem !== null) return problem;
      }
      return null;
    });
    if (problems.length === 0) return null;
    return failed(`Field constraints do not hold: ${problems[0]}`, {
      error_count: problems.length,
      errors: problems,
    });
  };
}

/** `type` only describes the other members; values are not checked against it. */
function compile(given: Constraints, caseSensitive: boolean): Problem[] {
  const problems: Problem[] = [];
  const { min, max, min_length: shortest, max_length: longest } = given;
  if (min !== undefined) problems.push(bound('min', 'below the minimum', min, (order) => order >= 0));
  if (max !== undefined) problems.push(bound('max', 'above the maximum', max, (order) => order <= 0));
  if (Array.isArray(given.enum)) problems.push(enumeration(given.enum, caseSensitive));
  if (shortest !== undefined)
    problems.push(length('min_length', 'shorter', shortest, (value, limit) => value >= limit));
  if (longest !== undefined)
    problems.push(length('max_length', 'longer', longest, (value, limit) => value <= limit));
  return problems;
}

/** `holds` receives the order of value and limit; `beyond` describes a value that violates it. */
function bound(name: string, beyond: string, given: JsonValue, holds: (order: number) => boolean): Problem {
  const limit = typeof given === 'boolean' ? Number(given) : given;
  return (value, work) => {
    work.spend(1);
    if (!isNumber(value)) return `must be a number, because it has a ${name}`;
    // Deployed clients can store such a limit; its meaning is undefined.
    if (!isNumber(limit)) throw new Error(`the ${name} of a constraint is not a number`);
    return holds(compareNumbers(value, limit)) ? null : `is ${beyond} of ${stringifyJson(limit)}`;
  };
}

/** True equals 1 here, as in deployed servers. */
function enumeration(values: readonly JsonValue[], caseSensitive: boolean): Problem {
  const fold = (value: JsonValue) => (typeof value === 'string' ? value.toLowerCase() : value);
  const isMember = createMembership(caseSensitive ? values : values.map(fold), { booleansAreNumbers: true });
  return (value, work) =>
    isMember(caseSensitive ? value : fold(value), work) ? null : 'is none of the allowed values';
}

function length(
  name: string,
  beyond: 'shorter' | 'longer',
  limit: JsonValue,
  holds: (length: number, limit: number) => boolean,
): Problem {
  return (value, work) => {
    if (typeof value !== 'string') return `must be a string, because it has a ${name}`;
    work.read(value);
    return holds(countCodePoints(value), Number(limit))
      ? null
      : `is ${beyond} than ${Number(limit)} characters`;
  };
}
