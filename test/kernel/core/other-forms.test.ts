import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import {
  ESCAPES_AND_INVISIBLE,
  otherForms,
  otherFormsPlaced,
  spansInForms,
} from '../../../src/kernel/core/other-forms.js';

/** A text as JSON writes it, with the escapes of some characters that need none. */
function escaped(text: string, which: readonly boolean[]): string {
  return [...JSON.stringify(text)]
    .map((sign, index) =>
      /[a-z]/i.test(sign) &&
      which[index % which.length] === true &&
      !/\\/.test(JSON.stringify(text)[index - 1] ?? '')
        ? `\\u${sign.charCodeAt(0).toString(16).padStart(4, '0')}`
        : sign,
    )
    .join('');
}
const WORDS = fc.stringMatching(/^[a-zA-Z0-9 _.-]{1,20}$/);
const CHOICES = fc.array(fc.boolean(), { minLength: 1, maxLength: 8 });

describe('other forms of a text', () => {
  it.each([
    ['a plain text', []],
    ['{"a": "plain"}', []],
    ['{"a": "\\u0053ECRET"}', ['{"a": "SECRET"}']],
    ['said \\u0053ECRET', ['said SECRET']],
    // Control characters only in JSON.
    ['C:\\temp\\new', []],
    ['{"path": "C:\\\\temp"}', ['{"path": "C:\\temp"}']],
    ['["a\\nb"]', ['["a\nb"]']],
    ['http:\\/\\/evil.example', ['http://evil.example']],
    // JSON in JSON.
    ['{"a":"{\\"b\\":\\"\\\\u0053\\"}"}', ['{"a":"{"b":"\\u0053"}"}', '{"a":"{"b":"S"}"}']],
    ['\\u005cu0053', ['\\u0053', 'S']],
    ['\\u12', []],
    ['\\', []],
    ['a\u200bb', []],
  ])('%j has %j', (text, forms) => {
    expect(otherForms(text)).toEqual(forms);
  });

  it.each([
    ['a\u200bb\u2060\ufeffc', ['abc']],
    ['\u200b{"a":"\\u200b\\u0053"}', ['{"a":"\u200bS"}', '{"a":"S"}']],
  ])('%j has %j where characters that show nothing are left out', (text, forms) => {
    expect(otherForms(text, undefined, ESCAPES_AND_INVISIBLE)).toEqual(forms);
  });

  it('a word in JSON is in a form of every text that spells it with escapes, some levels deep, at its place', () => {
    fc.assert(
      fc.property(WORDS, WORDS, CHOICES, fc.integer({ min: 1, max: 3 }), (before, word, which, levels) => {
        let text = `{"a":${escaped(`${before}${word}`, which)}}`;
        for (let level = 1; level < levels; level += 1) text = `{"a":${escaped(text, which)}}`;
        const all = [text, ...otherForms(text)];
        expect(all.some((form) => form.includes(word))).toBe(true);
        const find = (form: string) => {
          const start = form.indexOf(word);
          return start < 0 ? [] : [{ start, end: start + word.length }];
        };
        const spans = spansInForms(text, find);
        expect(spans.length).toBeGreaterThan(0);
        for (const { start, end } of spans) {
          // What was found is the decoded form of that part of the text.
          const part = text.slice(start, end);
          expect([part, ...otherForms(part)].some((form) => form.includes(word) || form === word)).toBe(true);
        }
      }),
    );
  });

  it.each([
    ['escapes', undefined],
    ['invisible ones too', ESCAPES_AND_INVISIBLE],
  ])('every place is in the text, in order, with one for each unit and the end: %s', (_what, pattern) => {
    fc.assert(
      fc.property(
        fc.array(fc.constantFrom('\\', 'u0041', 'u200b', '"', 'n', 'a', '{', '/', '\u200b'), {
          maxLength: 40,
        }),
        (parts) => {
          const text = parts.join('');
          const placed = otherFormsPlaced(text, pattern);
          expect(placed.map(({ text: form }) => form)).toEqual(otherForms(text, undefined, pattern));
          expect(placed.length).toBeLessThanOrEqual(4);
          for (const { text: form, at } of placed) {
            expect(at).toHaveLength(form.length + 1);
            expect(at.at(-1)).toBe(text.length);
            expect(at.every((place, index) => place > (at[index - 1] ?? -1) || index === 0)).toBe(true);
          }
        },
      ),
    );
  });
});
