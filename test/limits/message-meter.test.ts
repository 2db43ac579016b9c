import fc from 'fast-check';
import { expect, it } from 'vitest';
import { MessageMeter } from '../../src/host/connect/body-bytes.js';
import {
  type ByteBudget,
  createByteBudgets,
  FREE_BYTES,
  HeldBytes,
} from '../../src/host/limits/byte-budget.js';
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

it('what is held is the sum of what every holder holds, whatever is refused and given back', () => {
  const limits = { connectionBytes: 100_000, totalBytes: 150_000 };
  const change = fc.record({ holder: fc.nat(5), to: fc.nat(80_000), over: fc.nat(9) });
  fc.assert(
    fc.property(fc.array(change, { maxLength: 40 }), (changes) => {
      const budgets = createByteBudgets(limits);
      const connections: ByteBudget[] = [budgets.of({}), budgets.of({})];
      const held = Array<number>(6).fill(0);
      const holders = held.map((_, index) => new HeldBytes(connections[index % 2] as ByteBudget));
      const sum = (of: (index: number) => boolean) =>
        held.reduce((all, bytes, index) => all + (of(index) ? bytes : 0), 0);
      for (const { holder, to, over } of changes) {
        const before = held[holder] ?? 0;
        const more = to - before;
        const fits =
          sum((index) => index % 2 === holder % 2) + more <= limits.connectionBytes &&
          sum(() => true) + more <= limits.totalBytes;
        const one = holders[holder] as HeldBytes;
        if (over === 0) {
          one.release();
          one.set(to);
          held[holder] = 0;
          holders[holder] = new HeldBytes(connections[holder % 2] as ByteBudget);
        } else if (fits || more <= 0 || to <= FREE_BYTES) {
          one.set(to);
          held[holder] = to;
        } else {
          expect(() => one.set(to)).toThrow(/unfinished requests|no more large requests/);
        }
        expect(budgets.held).toBe(sum(() => true));
        expect(connections.map((budget) => budget.held)).toEqual([
          sum((index) => index % 2 === 0),
          sum((index) => index % 2 === 1),
        ]);
      }
    }),
  );
});
