import type { JsonValue } from '@bufbuild/protobuf';
import type { Form } from './form.js';
import { jsonText } from './form-of.js';
import { numberFromText } from './form-values.js';

/** Whether the items of a form can be written one a line. */
export function hasLines(item: Form): boolean {
  if (item.kind === 'choice') return item.choices.every(({ schema }) => isScalarType(schema.type));
  if (item.kind === 'enum') return item.options.every(({ value }) => typeof value === 'string');
  return item.kind === 'text' || item.kind === 'number';
}

function isScalarType(type: JsonValue | undefined): boolean {
  return type === 'string' || type === 'number' || type === 'integer';
}

/** Whether each item is told by a line: no item is empty, has several lines, or is neither a text nor a number. */
export function isLinear(items: readonly JsonValue[]): boolean {
  return items.every((item) => {
    if (typeof item === 'number') return true;
    return typeof item === 'string' && item.trim() !== '' && !/[\r\n]/.test(item);
  });
}

export function linesOf(items: readonly JsonValue[]): string {
  return items.map(jsonText).join('\n');
}

/**
 * The items that lines stand for; blank lines stand for none. Where both texts and numbers are possible, a line that
 * was a number stays one, and a new line is a text.
 */
export function itemsOfLines(text: string, item: Form, before: readonly JsonValue[]): JsonValue[] {
  const numbers = new Map(before.filter((old) => typeof old === 'number').map((old) => [String(old), old]));
  return text
    .split(/\r\n|\r|\n/)
    .filter((line) => line.trim() !== '')
    .map((line) => {
      if (item.kind === 'number') return numberFromText(line) ?? line;
      return item.kind === 'choice' ? (numbers.get(line) ?? line) : line;
    });
}
