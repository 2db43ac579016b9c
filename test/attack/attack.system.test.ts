import { setTimeout as sleep } from 'node:timers/promises';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { compiled } from '../support/service-process.js';
import { until } from '../support/until.js';
import { ATTACKS } from './attacks.js';
import { type AttackedService, startAttacked } from './under-attack.js';

/** Long enough for every bound to be reached; `npm run verify:long -- attack` measures what it costs others. */
const SECONDS = 1;
/** The operations port limits the calls of an address, too: without a pause the samples reach that limit. */
const SAMPLE_INTERVAL_MS = 50;

let attacked: AttackedService;
beforeAll(async () => {
  attacked = await startAttacked(compiled);
});
afterAll(() => attacked?.dispose());

it.each(ATTACKS.map((attack) => [attack.name, attack] as const))(
  '%s: what is bounded stays bounded, and no evaluation of another key is refused',
  async (_, attack) => {
    await attacked.victim();
    const running = attacked.attack(attack, SECONDS);
    let isOver = false;
    void running.finally(() => {
      isOver = true;
    });
    while (!isOver) {
      expect(await attacked.sample('public_calls')).toBeLessThanOrEqual(256);
      expect(await attacked.sample('open_connections')).toBeLessThanOrEqual(5_000);
      await sleep(SAMPLE_INTERVAL_MS);
    }
    const report = await running;
    expect(report.requests).toBeGreaterThan(0);
    // What the attacker left behind is gone, and the victim goes on: on its connection and on new ones.
    await attacked.victim();
    let seen = { kept: 0, fresh: 0 };
    await until(
      async () => {
        const { kept, fresh, failures } = await attacked.victim();
        expect(failures).toEqual({});
        seen = { kept: seen.kept + kept.calls, fresh: seen.fresh + fresh.calls };
        return seen.kept > 20 && seen.fresh > 2;
      },
      (isServed) => isServed,
    );
    await until(
      () => attacked.sample('public_calls'),
      (count) => count === 0,
    );
    expect(await attacked.sample('refused_calls_total', { reason: 'overload' })).toBe(0);
  },
);

it('each of them was noticed', async () => {
  expect(await attacked.sample('refused_calls_total', { reason: 'public-limit' })).toBeGreaterThan(0);
  expect(await attacked.sample('refused_calls_total', { reason: 'public-rate' })).toBeGreaterThan(0);
  expect(await attacked.sample('closed_connections_total', { reason: 'abuse' })).toBeGreaterThan(0);
});
