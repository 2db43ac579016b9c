import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { CLIENTS, count, SCHEDULES, sendAll, spendDuring } from './exactness.js';
import { type Fleet, STORES, startFleet } from './fleet.js';

const LIMIT = 20;
/** `test/long/memory` runs four: what holds between two of them holds between any two. */
const PROCESSES = 2;

describe.each(STORES)('limits of several processes with memory in %s', (store) => {
  let fleet: Fleet;
  beforeAll(async () => {
    fleet = await startFleet(store, PROCESSES);
  });
  afterAll(() => fleet?.stop());

  it.each([
    ['rate', { limit: LIMIT, period: '24h', key: ['agent'] }],
    ['budget', { limit: LIMIT, amount: 1, window: { rolling: '24h' }, key: ['agent'] }],
    ['concurrency', { limit: LIMIT, lease: '1h', key: ['agent'] }],
  ])('let exactly as many steps pass as a %s allows, of ten times as many at once', async (kind, config) => {
    const agent = `limited-by-${kind}`;
    await fleet.control(agent, kind, config);
    const steps = Array.from({ length: 10 * LIMIT }, (_, index) => ({ agent, stepId: `step-${index}` }));
    const results = await sendAll(fleet, CLIENTS, steps);
    expect(count(results, 'allowed')).toBe(LIMIT);
    expect(count(results, 'denied')).toBe(9 * LIMIT);
    // A step that was allowed is allowed again, in any process, and takes nothing.
    const again = steps.filter((_, index) => results[index] === 'allowed').slice(0, PROCESSES);
    expect(new Set(await sendAll(fleet, PROCESSES, again))).toEqual(new Set(['allowed']));
  });

  it.each(SCHEDULES)('hold for steps at random: %s', (_name, run) => run(fleet, 1));

  if (store === 'sqlite') return;
  // The last one: it leaves other processes behind.
  it('hold while a process and the server of the memory are killed', async () => {
    const { passed } = await spendDuring(fleet, 'disturbed-agent', 200, async () => {
      await fleet.replaceProcess(1);
      await fleet.killStore();
    });
    expect(passed).toBeGreaterThan(0);
  });
});
