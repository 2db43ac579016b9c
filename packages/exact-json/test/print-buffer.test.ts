import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { PrintBuffer } from '../src/print-buffer.js';

const part = fc.oneof(
  fc.string({ unit: 'grapheme', maxLength: 30 }),
  fc.constantFrom('', 'x'.repeat(9_000), '\u20ac'.repeat(2_000), '\u{1f600}'.repeat(20_000)),
);
const parts = fc.array(fc.record({ part, asBytes: fc.boolean() }), { maxLength: 8 });

describe('a print buffer', () => {
  it('gives the parts of each text in UTF-8, and never changes what it gave', () => {
    const buffer = new PrintBuffer();
    fc.assert(
      fc.property(fc.array(parts, { maxLength: 6 }), (texts) => {
        const printed = texts.map((text) =>
          buffer.print((out) => {
            for (const { part, asBytes } of text) {
              if (asBytes) out.bytes(Buffer.from(part));
              else out.text(part);
            }
          }),
        );
        expect(printed.map(String)).toEqual(texts.map((text) => text.map(({ part }) => part).join('')));
      }),
    );
  });

  it('forgets a text that was not finished', () => {
    const buffer = new PrintBuffer();
    const fail = () =>
      buffer.print((out) => {
        out.text('half');
        throw new Error('in the middle');
      });
    expect(fail).toThrow('in the middle');
    expect(buffer.print((out) => out.text('whole')).toString()).toBe('whole');
  });
});
