import { type IssueSink, report } from '../contract/input/fields.js';
import { MAX_ERROR_ITEMS } from '../contract/input/items.js';
import { isNumber } from '../json/json-number.js';
import type { JsonValue } from '../json/json-value.js';
import type { TemplateValue } from './template.js';

/**
 * Reads a value of a template: a text, a boolean, or a list of texts. Anything else gives issues for each type it
 * might have had, as deployed clients know them.
 */
export function readTemplateValue(
  value: JsonValue,
  sink: IssueSink,
  path: readonly PropertyKey[],
): TemplateValue | undefined {
  if (typeof value === 'string' || typeof value === 'boolean') return value;
  // Deployed clients may send booleans as numbers.
  if (value === 0 || value === 1) return value === 1;
  if (Array.isArray(value) && value.every((item) => typeof item === 'string')) return value;
  report(sink, 'string_type', 'must be a string', value, [...path, 'str']);
  report(sink, isNumber(value) ? 'bool_parsing' : 'bool_type', 'must be true or false', value, [
    ...path,
    'bool',
  ]);
  if (!Array.isArray(value)) {
    report(sink, 'list_type', 'must be a list', value, [...path, 'list[str]']);
    return undefined;
  }
  let problems = 0;
  for (const [index, item] of value.entries()) {
    if (typeof item === 'string') continue;
    report(sink, 'string_type', 'must be a string', item, [...path, 'list[str]', index]);
    problems += 1;
    if (problems >= MAX_ERROR_ITEMS) break;
  }
  return undefined;
}
