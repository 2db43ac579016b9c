import { RE2JS } from 're2js';
import type { JsonObject, JsonValue } from '../../../../packages/exact-json/src/index.js';

/**
 * What a control sees, as the README says it, as plainly as it can be said: every text of the data is made anew and
 * searched by itself, with the library of regular expressions alone.
 */

/** The text of a value that has only one, and the JSON text of an object or a list. */
export function textOfValue(value: JsonValue): string {
  return typeof value === 'string' ? value : jsonText(value);
}

/** Every text of a value. */
export function textsOfValue(value: JsonValue): string[] {
  return [textOfValue(value), ...(typeof value === 'object' ? stringsIn(value, true) : [])];
}

/** Whether a `regex` with this configuration matches; null data never do. */
export function regexMatches(config: JsonObject, data: JsonValue, negated: boolean): boolean {
  if (data === null) return false;
  const ignoresCase = ((config.flags ?? []) as string[]).some((flag) => /^(I|IGNORECASE)$/i.test(flag));
  const pattern = RE2JS.compile(String(config.pattern), ignoresCase ? RE2JS.CASE_INSENSITIVE : 0);
  const texts = negated ? [textOfValue(data)] : textsOfValue(data);
  return texts.some((text) => pattern.matcher(seenText(text, config)).find());
}

/** The items that a `list` with this configuration finds in the list, and whether it matches. */
export function listMatches(
  config: JsonObject,
  data: JsonValue,
  negated: boolean,
): { matched: boolean; hits: string[] } {
  const { values, logic = 'any', match_on = 'match', match_mode = 'exact', case_sensitive = false } = config;
  const items = data === null ? [] : Array.isArray(data) ? data : [data];
  const some = (values as JsonValue[]).map((value) => seenText(valueText(value), config));
  if (items.length === 0 || some.length === 0) return { matched: false, hits: [] };
  const quoted = some.map((value) => RE2JS.quote(value));
  const body = `(?:${quoted.join('|')})`;
  const shape = {
    exact: `\\A${body}\\z`,
    contains: `\\b${body}\\b`,
    starts_with: `\\A${body}`,
    ends_with: `${body}\\z`,
  };
  const source = shape[match_mode as keyof typeof shape];
  const pattern = RE2JS.compile(source, case_sensitive ? 0 : RE2JS.CASE_INSENSITIVE);
  const isHit = (text: string): boolean => pattern.matcher(seenText(text, config)).find();
  const isDemand = (match_on === 'no_match') !== negated;
  const isInList = (item: JsonValue): boolean => {
    if (typeof item !== 'object' || item === null) return isHit(textOfValue(item));
    if (!isDemand || match_mode === 'contains') return textsOfValue(item).some(isHit);
    const strings = stringsIn(item, false);
    return isHit(textOfValue(item)) || (strings.length > 0 && strings.every(isHit));
  };
  const hits = items.filter(isInList);
  const condition = logic === 'any' ? hits.length > 0 : hits.length === items.length;
  return { matched: condition === (match_on === 'match'), hits: hits.map(textOfValue) };
}

/** A text as an evaluator with this configuration looks at it. */
function seenText(text: string, { normalize }: JsonObject): string {
  return normalize === 'nfkc'
    ? text.replace(/\p{Default_Ignorable_Code_Point}/gu, '').normalize('NFKC')
    : text;
}

function valueText(value: JsonValue): string {
  if (typeof value === 'boolean') return value ? '1' : '0';
  return textOfValue(value);
}

function stringsIn(value: JsonValue, namesToo: boolean): string[] {
  if (typeof value === 'string') return [value];
  if (Array.isArray(value)) return value.flatMap((item) => stringsIn(item, namesToo));
  if (typeof value !== 'object' || value === null) return [];
  return Object.entries(value).flatMap(([name, member]) => [
    ...(namesToo ? [name] : []),
    ...stringsIn(member, namesToo),
  ]);
}

/** Compact JSON, with all digits of every number. */
function jsonText(value: JsonValue): string {
  if (typeof value === 'bigint') return value.toString();
  if (Array.isArray(value)) return `[${value.map(jsonText).join(',')}]`;
  if (typeof value !== 'object' || value === null) return JSON.stringify(value);
  const members = Object.entries(value).map(
    ([name, member]) => `${JSON.stringify(name)}:${jsonText(member)}`,
  );
  return `{${members.join(',')}}`;
}
