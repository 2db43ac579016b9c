import { expect, it } from 'vitest';
import { memoryProblems } from '../../../src/observe/problems/memory-problems.js';

const NONE = { problem: null, volatility: null, damagedKeys: 0, isFull: false };

it('tells why the store of memory may lose what it acknowledged', () => {
  expect(memoryProblems(NONE)).toEqual([]);
  const volatility = 'Redis at host:6379 may forget what controls with memory keep: set `appendfsync always`';
  expect(memoryProblems({ ...NONE, volatility })).toMatchObject([
    { kind: 'memory_volatile', severity: 'warning', detail: `${volatility}.` },
  ]);
});
