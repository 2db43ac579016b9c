import { z } from 'zod';
import type { JsonObject, JsonValue } from '../../../../packages/exact-json/src/index.js';
import { isOfType, type Work } from '../../../../packages/json-schema/src/index.js';
import { field, report } from '../../../contract/input/fields.js';
import { parseFieldPath, valueAt, visitLeaves } from './field-path.js';
import { type FieldCheck, type FieldRule, failed, fieldProblems, readMembers } from './members.js';

/** Types that can be required of a field. */
export const FIELD_TYPES = ['string', 'number', 'integer', 'boolean', 'array', 'object', 'null'] as const;
export type FieldType = (typeof FIELD_TYPES)[number];

/** Unexpected fields listed by name; the others are counted. */
const NAMED_FIELDS = 3;

/** Reads `field_types`. */
export const fieldTypes = field<FieldRule<FieldType>[]>(
  (value, sink) => {
    const members = readMembers(value, sink);
    if (members === undefined) return z.NEVER;
    let readable = true;
    for (const [path, type] of members) {
      if (typeof type === 'string') continue;
      readable = false;
      report(sink, 'string_type', 'must be a string', type, [path]);
    }
    if (!readable) return z.NEVER;
    const rules: FieldRule<FieldType>[] = [];
    for (const [path, name] of members) {
      const type = FIELD_TYPES.find((one) => one === name);
      if (type === undefined) {
        readable = false;
        const rule = `the type of ${path} must be one of: ${FIELD_TYPES.join(', ')}`;
        report(sink, 'value_error', rule, value);
        continue;
      }
      rules.push({ path: parseFieldPath(path), rule: type });
    }
    return readable ? rules : z.NEVER;
  },
  { type: 'object', additionalProperties: { type: 'string', enum: [...FIELD_TYPES] } },
);

/**
 * Fails where a path does not resolve or has another type; an integer is a number too. With `known`, every
 * leaf of the document must be one of these paths.
 */
export function checkTypes(
  rules: readonly FieldRule<FieldType>[],
  known: readonly string[] | null,
): FieldCheck {
  const isKnown = known === null ? null : knownPaths(known);
  return (document, work, wanted) => {
    const problems = fieldProblems(rules, wanted, ({ path, rule }) => {
      const value = valueAt(document, path, work);
      if (value === undefined) return 'the field is missing';
      return isOfType(value, rule) ? null : `expected ${rule}, found ${typeOf(value)}`;
    });
    if (isKnown !== null && (problems.length === 0 || wanted === 'all')) {
      const unexpected = unexpectedFields(document, isKnown, work);
      if (unexpected !== null) problems.push(unexpected);
    }
    if (problems.length === 0) return null;
    return failed(`Field types do not fit: ${problems[0]}`, {
      error_count: problems.length,
      errors: problems,
    });
  };
}

/** The narrowest type of a value. */
function typeOf(value: JsonValue): FieldType {
  const narrowestFirst = ['integer', 'number', 'string', 'boolean', 'array', 'object'] as const;
  return narrowestFirst.find((type) => isOfType(value, type)) ?? 'null';
}

/** Paths are members of an object: unlike that of a set, its lookup cannot be slowed down by chosen names. */
function knownPaths(paths: readonly string[]): (path: string) => boolean {
  const known: JsonObject = Object.fromEntries(paths.map((path) => [path, true]));
  return (path) => Object.hasOwn(known, path);
}

function unexpectedFields(
  document: JsonObject,
  isKnown: (path: string) => boolean,
  work: Work,
): string | null {
  let count = 0;
  /** The first ones in name order. */
  const named: string[] = [];
  visitLeaves(document, work, (path) => {
    if (isKnown(path)) return;
    count += 1;
    const before = named.findIndex((other) => path < other);
    if (before !== -1) named.splice(before, 0, path);
    else named.push(path);
    if (named.length > NAMED_FIELDS) named.pop();
  });
  if (count === 0) return null;
  const rest = count > named.length ? ` and ${count - named.length} more` : '';
  return `unexpected fields: ${named.join(', ')}${rest}`;
}
