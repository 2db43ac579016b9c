import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { ShortStrings } from '../../../src/serve/wire/wire-reader.js';

describe('short strings', () => {
  it('are what the bytes contain, however many share a place', () => {
    const strings = new ShortStrings();
    fc.assert(
      fc.property(
        fc.array(fc.string({ unit: 'binary-ascii', maxLength: 3 }), { maxLength: 2_000 }),
        (texts) => {
          for (const text of [...texts, ...texts]) {
            const bytes = Buffer.from(`<${text}>`);
            expect(strings.ascii(bytes, 1, bytes.length - 1)).toBe(text);
          }
        },
      ),
    );
  });

  it('are ASCII or nothing', () => {
    const bytes = Buffer.from('Zürich');
    expect(new ShortStrings().ascii(bytes, 0, bytes.length)).toBeUndefined();
  });
});
