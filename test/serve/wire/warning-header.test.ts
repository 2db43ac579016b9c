import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import type { Warning } from '../../../src/contract/warnings/warning.js';
import { warningHeader } from '../../../src/serve/wire/reply-headers.js';

const warning = (field: string, message = 'unknown query parameter'): Warning => ({
  code: 'unknown_member',
  field,
  message,
});

describe('the header with warnings', () => {
  it('is absent without warnings', () => {
    expect(warningHeader([])).toBeUndefined();
  });

  it('has the place and the message of each', () => {
    expect(warningHeader([warning('agent'), warning('x', 'unknown; did you mean y?')])).toBe(
      'agent: unknown query parameter | x: unknown; did you mean y?',
    );
  });

  it('states how many there are beside those it has room for', () => {
    const many = Array.from({ length: 100 }, (_, index) => warning(`parameter-${index}`));
    const text = warningHeader(many) ?? '';
    const shown = text.split(' | ').length - 1;
    expect(text.length).toBeLessThanOrEqual(1_000);
    expect(text).toMatch(new RegExp(` \\| ${100 - shown} more$`));
  });

  it('is short, printable ASCII whatever it quotes', () => {
    fc.assert(
      fc.property(
        fc.array(fc.tuple(fc.string({ unit: 'binary', maxLength: 400 }), fc.string({ maxLength: 2_000 })), {
          minLength: 1,
        }),
        (pairs) => {
          const text = warningHeader(pairs.map(([field, message]) => warning(field, message))) ?? '';
          expect(text).toMatch(/^[\x20-\x7e]+$/);
          expect(text.length).toBeLessThanOrEqual(1_000);
        },
      ),
    );
  });
});
