import { isObject, type JsonValue } from '../../../../packages/exact-json/src/index.js';
import { quoted } from '../../../contract/errors/quoted.js';
import { memberPath } from '../../../contract/warnings/unknown-members.js';
import type { Warning } from '../../../contract/warnings/warning.js';

/** Characters without width, direction marks included, except variation selectors of the preceding one. */
const INVISIBLE = /(?![\ufe00-\ufe0f\u{e0000}-\u{e0fff}])\p{Default_Ignorable_Code_Point}/u;
/** The joiner of emoji such as a family is part of the visible text. */
const EMOJI_JOINER =
  /(?<=\p{Extended_Pictographic}[\ufe0f\u{1f3fb}-\u{1f3ff}]?)\u200d(?=\p{Extended_Pictographic})/gu;
const ASCII_ONLY = /^[\0-\x7f]*$/;

/**
 * Warnings for the texts and names in a value that do not match what they appear to: those with invisible
 * characters, and those in decomposed form. `cure` is appended to the remedy for a text that is not a name.
 */
export function* textWarnings(value: JsonValue, field: string, cure = ''): Generator<Warning, void> {
  if (typeof value === 'string') {
    yield* textWarning(value, field, cure);
  } else if (Array.isArray(value)) {
    for (const [index, item] of value.entries()) yield* textWarnings(item, `${field}[${index}]`, cure);
  } else if (isObject(value)) {
    for (const [name, member] of Object.entries(value)) {
      const place = memberPath(field, name);
      yield* textWarning(name, place, '');
      yield* textWarnings(member, place, cure);
    }
  }
}

function* textWarning(text: string, field: string, cure: string): Generator<Warning, void> {
  if (ASCII_ONLY.test(text)) return;
  const seen = text.includes('\u200d') ? text.replaceAll(EMOJI_JOINER, '') : text;
  const invisible = INVISIBLE.exec(seen)?.[0];
  if (invisible !== undefined) {
    const code = (invisible.codePointAt(0) ?? 0).toString(16).toUpperCase().padStart(4, '0');
    const message = `${quoted(text)} has the invisible character U+${code}, without which a text does not match it${cure}`;
    yield { code: 'invisible_characters', field, message };
  }
  if (text.normalize('NFC') !== text && /\p{Mark}/u.test(text)) {
    const message = `${quoted(text)} is in decomposed form (NFD), which the same text in composed form (NFC) does not match${cure}`;
    yield { code: 'decomposed_text', field, message };
  }
}
