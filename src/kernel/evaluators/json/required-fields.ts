import { z } from 'zod';
import { field, list, readWith, refuse, text } from '../../../contract/input/fields.js';
import { type FieldPath, parseFieldPath, valueAt } from './field-path.js';
import { type FieldCheck, failed, pathsProblem } from './members.js';

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
