import fc from 'fast-check';
import { expect, it } from 'vitest';
import { MessageMeter } from '../../../src/serve/connect/body-bytes.js';
import { framed } from '../lane/exchange.js';

it('the message under way is known however messages are cut into chunks', () => {
  const lengths = fc.array(fc.oneof(fc.constant(0), fc.nat(20), fc.nat(70_000)), { maxLength: 6 });
  fc.assert(
    fc.property(lengths, fc.array(fc.nat(100_000), { maxLength: 12 }), (sizes, steps) => {
      const ends: number[] = [];
      const body = Buffer.concat(sizes.map((size) => framed(Buffer.alloc(size, 0xff))));
      for (const size of sizes) ends.push((ends.at(-1) ?? 0) + 5 + size);
      const meter = new MessageMeter();
      for (let at = 0, turn = 0; at < body.length; turn += 1) {
        const to = Math.min(body.length, at + (steps[turn] ?? 1_000));
        meter.push(body.subarray(at, to));
        at = to;
        const complete = ends.filter((end) => end <= at);
        expect([meter.messages, meter.arrived]).toEqual([complete.length, at - (complete.at(-1) ?? 0)]);
      }
    }),
  );
});
