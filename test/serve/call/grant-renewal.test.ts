import type { ConnectError } from '@connectrpc/connect';
import { Code } from '@connectrpc/connect';
import { beforeEach, describe, expect, it } from 'vitest';
import { refusal, unavailable } from '../../../src/serve/auth/upstream-errors.js';
import { renewing } from '../../../src/serve/call/grant-renewal.js';

let due: { ms: number; run: () => void }[];
let ends: ConnectError[];
let answers: (() => Promise<void>)[];

const timers = {
  after(ms: number, run: () => void) {
    const entry = { ms, run };
    due.push(entry);
    return () => {
      due = due.filter((one) => one !== entry);
    };
  },
};

/** Lets the next question be asked and answered. */
async function pass(): Promise<void> {
  const entry = due.shift();
  entry?.run();
  for (let turn = 0; turn < 5; turn += 1) await Promise.resolve();
}

function start(): () => void {
  const ask = () => (answers.length > 1 ? answers.shift() : answers[0])?.() ?? Promise.resolve();
  return renewing({ everyMs: 5_000, ask }, timers, (reason) => ends.push(reason));
}

const holds = () => Promise.resolve();
const fails = () => Promise.reject(unavailable('cannot be reached'));

beforeEach(() => {
  due = [];
  ends = [];
  answers = [holds];
});

describe('a call that lasts', () => {
  it('goes on while its grant holds', async () => {
    start();
    for (let round = 0; round < 30; round += 1) await pass();
    expect([ends.length, due.length, due[0]?.ms]).toEqual([0, 1, 5_000]);
  });
  it('ends when its grant is taken back', async () => {
    answers = [holds, () => Promise.reject(refusal(403))];
    start();
    await pass();
    expect(ends).toEqual([]);
    await pass();
    expect(ends.map(({ code }) => code)).toEqual([Code.PermissionDenied]);
    expect(due).toEqual([]);
  });
  it('outlasts an outage of the service that made the grant, but not a long one', async () => {
    answers = [...Array(11).fill(fails), holds, fails];
    start();
    for (let round = 0; round < 23; round += 1) await pass();
    expect(ends).toEqual([]);
    await pass();
    expect(ends.map(({ code }) => code)).toEqual([Code.Unavailable]);
  });
  it('asks no more once it is over', async () => {
    const stop = start();
    stop();
    expect(due).toEqual([]);
    answers = [() => Promise.reject(refusal(401))];
    const stopLater = start();
    const asked = due.shift();
    asked?.run();
    stopLater();
    await pass();
    expect([ends.length, due.length]).toEqual([0, 0]);
  });
});
