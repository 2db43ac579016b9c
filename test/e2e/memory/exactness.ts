import { expect } from 'vitest';
import type { Fleet, Passing, StepCall } from './fleet.js';

export const CLIENTS = 64;

/** A random number generator with a seed: mulberry32, see https://github.com/cprosche/mulberry32. */
export function randomOf(seed: number): (below: number) => number {
  let state = seed >>> 0;
  return (below) => {
    state = (state + 0x6d2b79f5) >>> 0;
    let mixed = Math.imul(state ^ (state >>> 15), state | 1);
    mixed ^= mixed + Math.imul(mixed ^ (mixed >>> 7), mixed | 61);
    return Math.floor((((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32) * below);
  };
}

/** Steps of a number of clients, which send one after another. Returns what became of each step, in order. */
export async function sendAll(
  fleet: Fleet,
  clients: number,
  steps: readonly StepCall[],
): Promise<(Passing | 'lost')[]> {
  const results: (Passing | 'lost')[] = [];
  let next = 0;
  await Promise.all(
    Array.from({ length: clients }, async (_, number) => {
      const send = fleet.client(number);
      while (next < steps.length) {
        const index = next;
        next += 1;
        // Without a reply it is unknown whether the step was counted.
        results[index] = await send(steps[index] as StepCall).catch(() => 'lost' as const);
      }
    }),
  );
  return results;
}

export const count = <T>(all: readonly T[], one: T): number => all.filter((each) => each === one).length;

/** Random steps of random amounts under several keys: no key passes its limit, and none is refused that had room. */
export async function spendAtRandom(fleet: Fleet, seed: number): Promise<void> {
  const random = randomOf(seed);
  const agent = `spender-number-${seed}`;
  const limit = 10 + random(200);
  const most = 1 + random(20);
  await fleet.control(agent, 'budget', {
    limit,
    amount: 'input.amount',
    window: { life: true },
    key: ['session'],
  });
  const sessions = 1 + random(3);
  const steps = Array.from({ length: 40 + random(80) }, () => ({
    agent,
    sessionId: `s${random(sessions)}`,
    input: { amount: 1 + random(most) },
  }));
  const results = await sendAll(fleet, 1 + random(CLIENTS), steps);
  expect(new Set(results)).not.toContain('failed');
  expect(new Set(results)).not.toContain('lost');
  for (let session = 0; session < sessions; session += 1) {
    const own = steps
      .map((step, index) => ({ ...step, result: results[index] }))
      .filter(({ sessionId }) => sessionId === `s${session}`);
    const spent = own.reduce((sum, { input, result }) => sum + (result === 'allowed' ? input.amount : 0), 0);
    expect(spent).toBeLessThanOrEqual(limit);
    // What is spent only grows: whatever was refused has no room at the end either.
    for (const { input, result } of own) {
      if (result === 'denied') expect(spent + input.amount).toBeGreaterThan(limit);
    }
  }
}

/** Steps that reserve more than they cost, at random: the budget holds at any time, and is exact at the end. */
export async function reserveAtRandom(fleet: Fleet, seed: number): Promise<void> {
  const random = randomOf(seed);
  const agent = `reserver-number-${seed}`;
  const limit = 20 + random(100);
  await fleet.control(
    agent,
    'budget',
    {
      limit,
      reserve: 'input.estimate',
      settle: 'output.cost',
      window: { life: true },
      key: ['agent'],
    },
    ['pre', 'post'],
  );
  let [settled, held, steps] = [0, 0, 30 + random(40)];
  await Promise.all(
    Array.from({ length: 1 + random(CLIENTS) }, async (_, number) => {
      const send = fleet.client(number);
      while (steps > 0) {
        steps -= 1;
        const estimate = 1 + random(12);
        const cost = random(estimate + 1);
        const ids = { agent, stepId: `step-${seed}-${steps}`, input: { estimate } };
        if ((await send(ids)) !== 'allowed') continue;
        held += estimate;
        expect(settled + held).toBeLessThanOrEqual(limit);
        // Sent again while it runs, it reserves nothing.
        expect(await send(ids)).toBe('allowed');
        // A lower cost frees the rest at some time before the reply.
        held -= estimate;
        settled += cost;
        expect(await send({ ...ids, stage: 'post', output: { cost } })).toBe('allowed');
      }
    }),
  );
  const send = fleet.client(0);
  const rest = (estimate: number, stepId: string) =>
    send({ agent, stepId: `rest-${seed}-${stepId}`, input: { estimate } });
  expect(settled).toBeLessThanOrEqual(limit);
  expect(await rest(limit - settled + 1, 'more')).toBe('denied');
  if (limit > settled) expect(await rest(limit - settled, 'all')).toBe('allowed');
  expect(await rest(1, 'one')).toBe('denied');
}

/** Steps that run at the same time, at random: never more than the limit, and every slot is free at the end. */
export async function runAtRandom(fleet: Fleet, seed: number): Promise<void> {
  const random = randomOf(seed);
  const agent = `runner-number-${seed}`;
  const limit = 1 + random(12);
  await fleet.control(agent, 'concurrency', { limit, lease: '1h', key: ['agent'] }, ['pre', 'post']);
  let [running, steps, passed] = [0, 40 + random(40), 0];
  await Promise.all(
    Array.from({ length: 1 + random(CLIENTS) }, async (_, number) => {
      const send = fleet.client(number);
      while (steps > 0) {
        steps -= 1;
        const ids = { agent, stepId: `step-${seed}-${steps}` };
        const result = await send(ids);
        expect(result).not.toBe('failed');
        if (result !== 'allowed') continue;
        passed += 1;
        running += 1;
        expect(running).toBeLessThanOrEqual(limit);
        // Sent again while it runs, it takes no other slot.
        expect(await send(ids)).toBe('allowed');
        running -= 1;
        expect(await send({ ...ids, stage: 'post', output: {} })).toBe('allowed');
      }
    }),
  );
  expect(passed).toBeGreaterThan(0);
  const last = Array.from({ length: limit + 1 }, (_, index) => ({ agent, stepId: `last-${seed}-${index}` }));
  expect(count(await sendAll(fleet, CLIENTS, last), 'allowed')).toBe(limit);
}

export const SCHEDULES: readonly (readonly [
  name: string,
  run: (fleet: Fleet, seed: number) => Promise<void>,
])[] = [
  ['amounts of several sessions', spendAtRandom],
  ['reservations and what they cost', reserveAtRandom],
  ['steps that run at the same time', runAtRandom],
];

/**
 * Steps that each take one of `limit` while `disturb` ends processes and stores, again and again until every client was refused:
 * never more pass, and what was counted without a reply is the only loss.
 */
export async function spendDuring(
  fleet: Fleet,
  agent: string,
  limit: number,
  disturb: (stopped: () => boolean) => Promise<void>,
): Promise<{ passed: number; unknown: number }> {
  await fleet.control(agent, 'budget', {
    limit,
    amount: 1,
    window: { life: true },
    key: ['agent'],
  });
  let [passed, unknown, isOver, next] = [0, 0, false, 0];
  const sending = Array.from({ length: CLIENTS }, async (_, number) => {
    const send = fleet.client(number);
    for (;;) {
      next += 1;
      const result = await send({ agent, stepId: `step-${next}` }).catch(() => 'lost' as const);
      if (result === 'denied') break;
      if (result === 'allowed') passed += 1;
      else unknown += 1;
    }
  });
  const disturbing = disturb(() => isOver);
  await Promise.all(sending);
  isOver = true;
  await disturbing;
  expect(passed).toBeLessThanOrEqual(limit);
  expect(passed + unknown).toBeGreaterThanOrEqual(limit);
  return { passed, unknown };
}
