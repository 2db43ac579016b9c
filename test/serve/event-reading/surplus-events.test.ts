import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { withoutSurplus } from '../../../src/serve/event-reading/event-messages.js';

/** An `events` field with this content, of less than 128 bytes. */
const field = (content: Uint8Array) => Buffer.concat([Buffer.from([0x0a, content.length]), content]);
const contents = fc.array(fc.uint8Array({ maxLength: 100 }), { maxLength: 12 });

describe('the events of a message beyond its limit', () => {
  it('are cut off after the first one that is too many, and none of others', () => {
    fc.assert(
      fc.property(contents, fc.integer({ min: 1, max: 8 }), (all, max) => {
        const bytes = Buffer.concat(all.map(field));
        expect(Buffer.from(withoutSurplus(bytes, max))).toEqual(
          Buffer.concat(all.slice(0, max + 1).map(field)),
        );
      }),
    );
  });

  it('are left where the message is unusual before them', () => {
    for (const start of [[0x12, 1, 65], [0x0a, 0xff, 0xff, 0xff, 0xff, 0x0f], [0xa2, 0x06, 1, 65], [0x0a]]) {
      const bytes = Buffer.concat([Buffer.from(start), Buffer.from('0a00'.repeat(20), 'hex')]);
      expect(withoutSurplus(bytes, 25)).toBe(bytes);
    }
  });
});
