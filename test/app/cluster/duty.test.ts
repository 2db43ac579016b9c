import { expect, it } from 'vitest';
import { createDuty } from '../../../src/app/cluster/primary.js';

it('a task goes to the worker that serves longest, once, and to the next when that leaves', () => {
  const appointed: string[] = [];
  const duty = createDuty<string>((worker) => appointed.push(worker));
  for (const worker of ['a', 'b', 'c']) duty.add(worker);
  expect(appointed).toEqual(['a']);
  duty.remove('b');
  expect(appointed).toEqual(['a']);
  duty.remove('a');
  duty.remove('a');
  expect(appointed).toEqual(['a', 'c']);
  duty.remove('c');
  duty.add('d');
  expect(appointed).toEqual(['a', 'c', 'd']);
});
