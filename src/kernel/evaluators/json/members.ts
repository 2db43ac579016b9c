import { z } from 'zod';
import { isObject, type JsonObject, type JsonValue } from '../../../../packages/exact-json/src/index.js';
import type { Work } from '../../../../packages/json-schema/src/index.js';
import { field, type IssueSink, list, readWith, refuse, text } from '../../../contract/input/fields.js';
import type { EvaluatorResult } from '../../core/types.js';
import { type FieldPath, parseFieldPath, valueAt } from './field-path.js';

/** Most fields in one member of a configuration: each is looked up in every step. */
export const MAX_FIELDS = 1_000;
/** Longest dotted path, in UTF-16 code units. */
export const MAX_PATH_LENGTH = 1_000;

/** One check of the fields of a document: its result when a field fails, null when the document passes. */
export type FieldCheck = (
  document: JsonObject,
  work: Work,
  wanted: 'first' | 'all',
) => EvaluatorResult | null;

/** Configuration of one field. */
export interface FieldRule<T> {
  readonly path: FieldPath;
  readonly rule: T;
}

/** The members of an object that maps paths to rules. Reports anything else and returns undefined. */
export function readMembers(value: JsonValue, sink: IssueSink): [string, JsonValue][] | undefined {
  if (!isObject(value)) {
    refuse(sink, 'dict_type', 'must be an object', value);
    return undefined;
  }
  const members = Object.entries(value);
  const problem = pathsProblem(members.map(([path]) => path));
  if (problem === undefined) return members;
  refuse(sink, 'value_error', problem, value);
  return undefined;
}

/** Problem of a list of paths as a whole. */
function pathsProblem(paths: readonly string[]): string | undefined {
  if (paths.length > MAX_FIELDS) return `must name at most ${MAX_FIELDS} fields, not ${paths.length}`;
  if (paths.every((path) => path.length <= MAX_PATH_LENGTH)) return undefined;
  return `a path must have at most ${MAX_PATH_LENGTH} characters`;
}

/** Applies each rule to its field: all problems as `path: reason`, or the first one. */
export function fieldProblems<T>(
  rules: readonly FieldRule<T>[],
  wanted: 'first' | 'all',
  problemOf: (rule: FieldRule<T>) => string | null,
): string[] {
  const problems: string[] = [];
  for (const rule of rules) {
    const problem = problemOf(rule);
    if (problem === null) continue;
    problems.push(`${rule.path.text}: ${problem}`);
    if (wanted === 'first') break;
  }
  return problems;
}

/** The result of a failed check. */
export function failed(message: string, metadata: JsonObject | null): EvaluatorResult {
  return { matched: true, confidence: 1, message, metadata, error: null };
}

const texts = list(text());

/** Reads `required_fields`. */
export const requiredFields = field<FieldPath[]>(
  (value, sink) => {
    const paths = readWith(texts, value, sink);
    if (paths === undefined) return z.NEVER;
    const problem = pathsProblem(paths);
    return problem === undefined ? paths.map(parseFieldPath) : refuse(sink, 'value_error', problem, value);
  },
  { type: 'array', items: { type: 'string' } },
);

/** Fails where a path does not resolve, or to null unless allowed. */
export function checkRequired(paths: readonly FieldPath[], allowNull: boolean): FieldCheck {
  return (document, work, wanted) => {
    const missing: string[] = [];
    for (const path of paths) {
      const value = valueAt(document, path, work);
      if (value === undefined) missing.push(path.text);
      else if (value === null && !allowNull) missing.push(`${path.text} (null)`);
      if (wanted === 'first' && missing.length > 0) break;
    }
    if (missing.length === 0) return null;
    return failed(`Required field is missing: ${missing[0]}`, {
      missing_count: missing.length,
      missing_fields: missing,
    });
  };
}
