import v8 from 'node:v8';
import vm from 'node:vm';
import { describe, expect, it } from 'vitest';
import { BoundedMap } from '../../../src/contract/runtime/bounded-map.js';

function filled(entries: number, keys: string): BoundedMap<string, number> {
  const map = new BoundedMap<string, number>({ entries });
  for (const [index, key] of [...keys].entries()) map.set(key, index);
  return map;
}

const keysOf = (map: ReadonlyMap<string, unknown>): string => [...map.keys()].join('');

describe('a bounded map', () => {
  it('loses the entry that was set longest ago', () => {
    expect(keysOf(filled(3, 'abcde'))).toBe('cde');
    expect(keysOf(filled(0, 'ab'))).toBe('');
  });

  it('changes the value of a known key, and not its age', () => {
    const map = filled(3, 'abca');
    expect(map.get('a')).toBe(3);
    expect(keysOf(map.set('d', 4))).toBe('bcd');
  });

  it('makes an entry that is used the youngest one', () => {
    const map = filled(3, 'abc');
    expect([map.use('a'), map.use('x')]).toEqual([0, undefined]);
    expect(keysOf(map.set('d', 4))).toBe('cad');
  });

  it('goes on after deletions, and after it was cleared', () => {
    const map = filled(2, 'abc');
    map.delete('b');
    expect(keysOf(map.set('d', 4).set('b', 5))).toBe('db');
    map.clear();
    expect(keysOf(map.set('e', 6).set('f', 7).set('g', 8))).toBe('fg');
  });

  it('keeps the latest of very many', () => {
    const map = new BoundedMap<number, number>({ entries: 10 });
    for (let key = 0; key < 10_000; key += 1) {
      map.set(key, key);
      map.use(key - 5);
    }
    expect(map.size).toBe(10);
    expect([...map.keys()].every((key) => key >= 9_980)).toBe(true);
  });

  it('takes no more memory the longer it is used without a removal', () => {
    v8.setFlagsFromString('--expose-gc');
    const collect: () => void = vm.runInNewContext('gc');
    const map = new BoundedMap<number, number>({ entries: 2_000 });
    for (let key = 0; key < 1_000; key += 1) map.set(key, key);
    collect();
    const before = process.memoryUsage().heapUsed;
    for (let times = 0; times < 1_000_000; times += 1) map.use(times % 1_000);
    collect();
    // Each table that V8 replaces in the meantime has 30 KB: together they would take 80 MB.
    expect(process.memoryUsage().heapUsed - before).toBeLessThan(20_000_000);
    expect(map.size).toBe(1_000);
  });

  it('is bounded by weight, and keeps the last entry whatever it weighs', () => {
    const map = new BoundedMap<string, number>({ entries: 9, weight: 10, weightOf: (value) => value });
    map.set('a', 4).set('b', 4).set('c', 4);
    expect(keysOf(map)).toBe('bc');
    map.delete('b');
    map.set('d', 6);
    expect(keysOf(map)).toBe('cd');
    map.set('d', 7);
    expect(keysOf(map)).toBe('d');
    map.set('e', 99);
    expect(keysOf(map)).toBe('e');
    map.clear();
    expect(keysOf(map.set('f', 5).set('g', 5))).toBe('fg');
  });
});
