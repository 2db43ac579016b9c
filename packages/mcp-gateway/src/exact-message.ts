import { randomUUID } from 'node:crypto';
import {
  Decimal,
  inOtherCase,
  isNumber,
  JsonDuplicateError,
  type JsonNumber,
  type JsonValue,
  jsonEqual,
  parseJson,
} from '../../exact-json/src/index.js';
import { foldedInRequest } from './protocol-names.js';

/**
 * Messages of the SDK with the numbers as their sender wrote them. The SDK reads and prints texts with `JSON.parse` and
 * `JSON.stringify`, which change `9007199254740993` and `1.0`: such a number is a RawNumber, which prints as a text with a mark that
 * is in no message, and these texts become numbers again in the printed message.
 */
const MARK = `exact-${randomUUID()}:`;
const MARKED = new RegExp(`"${MARK}([-+.0-9eE]+)"`, 'g');

/** Deepest nesting of a message: what the service accepts, and what messages and steps have around it. */
const MAX_DEPTH = 210;

/** What each text contains that has a number other than JavaScript prints it. */
const MAY_DIFFER = /-0|[0-9][eE]|\.[0-9]*0(?![0-9])|0\.0{6}|[0-9]{16}|[0-9.]{17}/;
const NO_JSON = /NaN|Infinity/;
const NUMBER = /[-+.0-9eE]+/y;
const [QUOTE, BACKSLASH, MINUS, ZERO, NINE] = [0x22, 0x5c, 0x2d, 0x30, 0x39];

/** A number that JavaScript would print otherwise than it was written. */
export class RawNumber {
  readonly text: string;

  constructor(text: string) {
    this.text = text;
  }

  /** Read by the printer of the SDK. */
  toJSON(): string {
    return MARK + this.text;
  }

  /** Its value: the same text for all ways to write it. */
  toString(): string {
    return String(this.value());
  }

  value(): JsonNumber {
    return parseJson(this.text) as JsonNumber;
  }
}

/**
 * A JSON text whose numbers survive `JSON.parse` as marked texts. Throws an error of `parseJson`, or a SyntaxError, for a text that
 * readers could differ in: with a member twice in an object, or with a number that no double is near to.
 */
export function markedText(text: string): string {
  readable(text);
  return marked(text);
}

function readable(text: string): JsonValue {
  if (text.includes(MARK)) throw new SyntaxError('the JSON has a text that only the gateway may use');
  const value = parseJson(text, { duplicates: 'refuse', anySize: true, maxDepth: MAX_DEPTH });
  if (NO_JSON.test(text) && !isPlainJson(text))
    throw new SyntaxError('the JSON has NaN or Infinity, which are no numbers of JSON');
  return value;
}

/** The error of `JSON.parse` quotes the text, which is not checked yet. */
function isPlainJson(text: string): boolean {
  try {
    JSON.parse(text);
    return true;
  } catch {
    return false;
  }
}

function marked(text: string): string {
  if (!MAY_DIFFER.test(text)) return text;
  let made = '';
  let kept = 0;
  for (let at = 0; at < text.length; at += 1) {
    const code = text.charCodeAt(at);
    if (code === QUOTE) at = endOfString(text, at);
    else if (code === MINUS || (code >= ZERO && code <= NINE)) {
      NUMBER.lastIndex = at;
      const [written = ''] = NUMBER.exec(text) ?? [];
      if (!isPrintedSo(written)) {
        made += `${text.slice(kept, at)}"${MARK}${written}"`;
        kept = at + written.length;
      }
      at += written.length - 1;
    }
  }
  return made + text.slice(kept);
}

/** Whether JavaScript reads and prints a number as it is, and is sure of its value. */
function isPrintedSo(written: string): boolean {
  const number = Number(written);
  return String(number) === written && (Number.isSafeInteger(number) || !Number.isInteger(number));
}

function endOfString(text: string, start: number): number {
  let at = start + 1;
  for (let code = text.charCodeAt(at); code !== QUOTE && at < text.length; code = text.charCodeAt(at))
    at += code === BACKSLASH ? 2 : 1;
  return at;
}

/** The message, or list of messages, of a JSON text. Throws as `markedText` does. */
export function readMessage(text: string): unknown {
  const value = readable(text);
  const written = marked(text);
  return written === text ? value : revived(JSON.parse(written));
}

/** The same for a text of a client, with no name of the protocol in another case. */
export function readRequest(text: string): unknown {
  let message: unknown;
  try {
    message = readMessage(text);
  } catch (error) {
    if (!(error instanceof JsonDuplicateError)) throw error;
    throw new SyntaxError(`${error.path.join('.')} is there more than once`);
  }
  const found = foldedInRequest(message);
  if (found !== undefined) throw new SyntaxError(`${found.path} ${inOtherCase(found)}`);
  return message;
}

/** A message whose marked texts become RawNumbers, in place. What the SDK itself reads as a number is one, if a double is it. */
export function revived(message: unknown): unknown {
  const read = revivedValue(message);
  for (const one of Array.isArray(read) ? read : [read]) {
    plain(one, ['id']);
    const { params, error } = one as { readonly params?: Members; readonly error?: unknown };
    plain(params, ['requestId', 'progressToken']);
    if (params !== undefined) plainProgress(params);
    plain(params?._meta, ['progressToken']);
    plain(error, ['code']);
  }
  return read;
}

interface Members {
  readonly [name: string]: unknown;
}

function revivedValue(value: unknown): unknown {
  if (typeof value === 'string')
    return value.startsWith(MARK) ? new RawNumber(value.slice(MARK.length)) : value;
  if (typeof value !== 'object' || value === null) return value;
  for (const [name, member] of Object.entries(value)) {
    const read = revivedValue(member);
    // Unlike assignments this sets a member "__proto__", too.
    if (read !== member) Object.defineProperty(value, name, { value: read });
  }
  return value;
}

/** Where numbers of progress are that the SDK reads as doubles. */
const EXACT_META = 'control-enforcement/exact';

function plainProgress(params: Members & { readonly _meta?: unknown }): void {
  const exact = Object.entries(params).filter(
    ([name, value]) => (name === 'progress' || name === 'total') && value instanceof RawNumber,
  );
  if (exact.length === 0) return;
  for (const [name, value] of exact) Reflect.set(params, name, Number((value as RawNumber).text));
  const meta = typeof params._meta === 'object' ? params._meta : {};
  Reflect.set(params, '_meta', { ...meta, [EXACT_META]: Object.fromEntries(exact) });
}

/** A number of a notification of progress as it was written. */
export function exactProgress(params: object, name: 'progress' | 'total'): number | undefined {
  const { _meta: meta, [name]: read } = params as { _meta?: Members; progress?: number; total?: number };
  const exact = (meta?.[EXACT_META] as Members | undefined)?.[name];
  // It prints as a number, and is read by nothing else.
  return exact instanceof RawNumber ? (exact as unknown as number) : read;
}

/** Ids that no double holds stay marked texts, which print as they were. */
function plain(value: unknown, names: readonly string[]): void {
  if (typeof value !== 'object' || value === null) return;
  for (const name of names) {
    const found: unknown = Object.hasOwn(value, name) ? Reflect.get(value, name) : undefined;
    if (!(found instanceof RawNumber)) continue;
    const number = found.value();
    Reflect.set(value, name, typeof number === 'number' ? number : found.toJSON());
  }
}

/** The text of a message. */
export const printMessage = (message: unknown): string => unmarked(JSON.stringify(message));

/** A text that the SDK has printed, with the numbers as they were written. */
export function unmarked(text: string): string {
  if (!text.includes(MARK)) return text;
  // A mark inside of a text is of a message that something else has printed.
  return text.replaceAll(MARKED, '$1').replaceAll(MARK, '');
}

/** Data with the numbers as controls see them; the same data if it has no RawNumbers. */
export const exactOf = <T>(data: T): T => exactValue(data) as T;

function exactValue(value: unknown): unknown {
  if (value instanceof RawNumber) return value.value();
  if (typeof value !== 'object' || value === null) return value;
  if (Array.isArray(value)) {
    const items = value.map(exactValue);
    return items.some((item, index) => item !== value[index]) ? items : value;
  }
  const members = Object.entries(value);
  const made = members.map(([name, member]): [string, unknown] => [name, exactValue(member)]);
  return made.some(([, member], index) => member !== members[index]?.[1]) ? Object.fromEntries(made) : value;
}

/** Data that controls have changed, for a message. Numbers that are the same as in the data before are written as they were. */
export const rawOf = <T>(data: T, before: unknown): T => rawValue(data, before) as T;

function rawValue(value: unknown, before: unknown): unknown {
  if (isNumber(value as JsonValue)) {
    const number = value as JsonNumber;
    if (before instanceof RawNumber && jsonEqual(before.value(), number)) return before;
    return typeof number === 'number' ? number : new RawNumber(String(number));
  }
  if (typeof value !== 'object' || value === null || value instanceof Decimal) return value;
  const memberBefore = (name: string | number): unknown =>
    typeof before === 'object' && before !== null && Object.hasOwn(before, name)
      ? Reflect.get(before, name)
      : undefined;
  if (Array.isArray(value)) return value.map((item, index) => rawValue(item, memberBefore(index)));
  return Object.fromEntries(
    Object.entries(value).map(([name, member]) => [name, rawValue(member, memberBefore(name))]),
  );
}
