import fc from 'fast-check';
import { expect, it } from 'vitest';
import { hashOfId, IdFilter } from '../../../src/observe/events/sql/id-filter.js';

const ids = fc.array(fc.string({ maxLength: 36, unit: 'binary' }), { maxLength: 50 });

it('a filter has every id that was added, also after it was stored', () => {
  fc.assert(
    fc.property(ids, (added) => {
      const filter = new IdFilter();
      for (const id of added) filter.add(id);
      const read = IdFilter.fromText(filter.toText());
      for (const id of added)
        expect([filter, read].map((one) => one.mayHave(hashOfId(id)))).toEqual([true, true]);
      expect(read.toText()).toBe(filter.toText());
    }),
    { numRuns: 20 },
  );
});

it.each([
  [
    'random ids',
    (index: number) => `${index}-0000-4000-8000-${(index * 7919).toString(16).padStart(12, '0')}`,
  ],
  ['counted ids', (index: number) => `check-${index}`],
  ['ids that differ at the start', (index: number) => `${index}${'0'.repeat(30)}`],
])('a full filter of %s passes few others', (_name, idOf) => {
  const filter = new IdFilter();
  for (let index = 0; index < 2 ** 19; index += 1) filter.add(idOf(index));
  let passed = 0;
  for (let index = 2 ** 19; index < 2 ** 19 + 100_000; index += 1)
    if (filter.mayHave(hashOfId(idOf(index)))) passed += 1;
  expect(passed).toBeLessThan(200);
});

it('a stored filter keeps its meaning', () => {
  expect(hashOfId('check-é-1')).toEqual([3_595_303_790, 1_773_915_791]);
});

it('a filter of another size is refused', () => {
  expect(() => IdFilter.fromText('AAAA')).toThrow('wrong length');
});
