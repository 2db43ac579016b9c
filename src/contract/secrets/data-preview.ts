import {
  isNumber,
  isObject,
  type JsonNumber,
  type JsonValue,
} from '../../../packages/exact-json/src/index.js';
import { shorten } from '../../../packages/linear-text/src/index.js';
import { MASK } from './mask-credentials.js';
import { maskSecrets } from './mask-secrets.js';
import { isSecretName } from './secret-names.js';

/** Preview of data for display. Members are those of the message. */
export type DataPreview = {
  type: 'null' | 'boolean' | 'number' | 'string' | 'array' | 'object';
  /** UTF-16 code units, items or members. */
  size: number | null;
  text: string;
  shortened: boolean;
};

/** Longest preview, in characters. */
const MAX_TEXT_LENGTH = 200;
/** Inspected length of a text, in UTF-16 code units: masked parts shrink, and the preview should be full. */
const WINDOW_LENGTH = 1_024;
/** A cut may shorten a secret until it is unrecognisable, so the end of a cut text is not shown. */
const CUT_MARGIN = 64;

/** A preview of the data selected by a path; fully masked when the path names a secret. */
export function previewOf(value: JsonValue, path: string): DataPreview {
  const type = typeOf(value);
  if (value !== null && path.split('.').some(isSecretName)) {
    return { type, size: null, text: MASK, shortened: false };
  }
  const printed = typeof value === 'string' ? beginningOf(value) : printBeginning(value);
  const text = shorten(printed.text, MAX_TEXT_LENGTH);
  return { type, size: sizeOf(value), text, shortened: printed.cut || text !== printed.text };
}

/** A text for display, with secrets masked, in at most `limit` characters. */
export function safeText(text: string, limit: number): string {
  const { text: masked, cut } = beginningOf(text);
  return shorten(cut ? `${masked}...` : masked, limit);
}

interface Printed {
  readonly text: string;
  readonly cut: boolean;
}

function beginningOf(text: string): Printed {
  if (text.length <= WINDOW_LENGTH) return { text: maskSecrets(text), cut: false };
  const masked = maskSecrets(text.slice(0, WINDOW_LENGTH));
  const kept = masked.slice(0, -CUT_MARGIN);
  // Nothing of it can be shown: for example a single secret.
  return { text: kept === '' ? MASK : kept, cut: true };
}

/** Compact JSON, up to the length of a preview. */
function printBeginning(value: JsonValue): Printed {
  let text = '';
  let cut = false;
  const isFull = () => {
    if (text.length > MAX_TEXT_LENGTH) cut = true;
    return cut;
  };
  const print = (part: JsonValue): void => {
    if (typeof part === 'string') text += JSON.stringify(beginningOf(part).text);
    else if (Array.isArray(part)) printAll('[', part, print, ']');
    else if (isObject(part))
      printAll('{', Object.keys(part), (key) => printMember(key, part[key] ?? null), '}');
    else text += typeof part === 'boolean' || part === null ? String(part) : maskedNumber(part);
  };
  const printMember = (key: string, member: JsonValue): void => {
    text += `${JSON.stringify(beginningOf(key).text)}:`;
    if (member !== null && isSecretName(key)) text += `"${MASK}"`;
    else print(member);
  };
  const printAll = <T>(open: string, items: readonly T[], printItem: (item: T) => void, close: string) => {
    text += open;
    for (const [index, item] of items.entries()) {
      if (isFull()) return;
      if (index > 0) text += ',';
      printItem(item);
    }
    text += close;
  };
  print(value);
  return { text, cut };
}

/** A number may be a card number. */
function maskedNumber(value: JsonNumber): string {
  const text = String(value);
  return maskSecrets(text) === text ? text : `"${MASK}"`;
}

function typeOf(value: JsonValue): DataPreview['type'] {
  if (value === null) return 'null';
  if (Array.isArray(value)) return 'array';
  return isNumber(value) ? 'number' : (typeof value as 'boolean' | 'string' | 'object');
}

function sizeOf(value: JsonValue): number | null {
  if (typeof value === 'string' || Array.isArray(value)) return value.length;
  return isObject(value) ? Object.keys(value).length : null;
}
