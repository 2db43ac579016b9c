import { stripVTControlCharacters, styleText } from 'node:util';
import { isObject, type JsonValue, stringifyJson } from '../../exact-json/src/index.js';
import type { Format, Paint, Row } from './context.js';
import type { Surroundings } from './surroundings.js';

/** Control characters, with which a name could move the cursor of a terminal. Line breaks and tabs are left. */
// biome-ignore lint/suspicious/noControlCharactersInRegex: they are what is looked for.
const CONTROL = /[\u0000-\u0008\u000b-\u001f\u007f-\u009f]/g;

/** A text of others, such as a name or a message, that a terminal only shows. */
export function plain(text: string): string {
  return text.replaceAll(CONTROL, '\ufffd');
}

/** Whether a stream gets colours: terminals do, unless NO_COLOR or TERM=dumb says otherwise (https://no-color.org). */
export function hasColours(stream: Surroundings['stdout'], { NO_COLOR, TERM }: Surroundings['env']): boolean {
  return stream.isTTY === true && (NO_COLOR ?? '') === '' && TERM !== 'dumb';
}

export function createPaint(isColoured: boolean): Paint {
  // The caller has looked at its stream; newer versions would look at the standard output once more.
  return isColoured
    ? (colour, text) => styleText(colour, text, { validateStream: false })
    : (_colour, text) => text;
}

/** A table: a header and a line for each row, without trailing blanks. Empty without rows. */
export function tableText(rows: readonly Row[]): string {
  const [first] = rows;
  if (first === undefined) return '';
  const columns = Object.keys(first);
  const lines = [
    columns.map((name) => name.toUpperCase()),
    ...rows.map((row) => columns.map((name) => (row[name] ?? '').replaceAll(/\s+/g, ' '))),
  ];
  const widths = columns.map((_, index) => Math.max(...lines.map((line) => widthOf(line[index] ?? ''))));
  return lines
    .map((line) =>
      line
        .map((cell, index) => cell + ' '.repeat((widths[index] ?? 0) - widthOf(cell)))
        .join('  ')
        .trimEnd(),
    )
    .map((line) => `${line}\n`)
    .join('');
}

function widthOf(text: string): number {
  return stripVTControlCharacters(text).length;
}

/** A value as `--output` says. */
export async function valueText(
  format: Format,
  value: JsonValue,
  rows: readonly Row[] | string,
): Promise<string> {
  if (format === 'json') return `${indented(value, '')}\n`;
  if (format === 'yaml') return (await import('./files/yaml-text.js')).yamlText(value);
  return typeof rows === 'string' ? rows : tableText(rows);
}

/** JSON with two blanks for each level, and every digit. */
export function indented(value: JsonValue, indent: string): string {
  const inner = `${indent}  `;
  if (Array.isArray(value)) {
    if (value.length === 0) return '[]';
    return `[\n${value.map((item) => inner + indented(item, inner)).join(',\n')}\n${indent}]`;
  }
  if (!isObject(value)) return stringifyJson(value);
  const members = Object.entries(value);
  if (members.length === 0) return '{}';
  const lines = members.map(
    ([name, member]) => `${inner}${JSON.stringify(name)}: ${indented(member, inner)}`,
  );
  return `{\n${lines.join(',\n')}\n${indent}}`;
}
