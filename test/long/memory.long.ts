import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { randomOf, SCHEDULES, spendDuring } from '../e2e/memory/exactness.js';
import { type Fleet, STORES, startFleet } from '../e2e/memory/fleet.js';

/** VERIFY_SCHEDULES: how many random schedules run on each store. VERIFY_KILLS: how many kills of each side. */
const RUNS = Number(process.env.VERIFY_SCHEDULES ?? 200);
const KILLS = Number(process.env.VERIFY_KILLS ?? 20);
const SEED = Number(process.env.VERIFY_SEED ?? 1_000);
const PATIENT_MS = 7_200_000;

describe.each(STORES)('limits of four processes with memory in %s', (store) => {
  let fleet: Fleet;
  beforeAll(async () => {
    fleet = await startFleet(store, 4);
  });
  afterAll(() => fleet?.stop());

  it(
    `hold in ${RUNS} schedules at random`,
    async () => {
      for (let run = 0; run < RUNS; run += 1) {
        const [name, schedule] = SCHEDULES[run % SCHEDULES.length] as (typeof SCHEDULES)[number];
        await schedule(fleet, SEED + run).catch((cause: unknown) => {
          throw new Error(`${name}, VERIFY_SEED=${SEED + run}: ${(cause as Error).message}`, { cause });
        });
      }
    },
    PATIENT_MS,
  );
});

describe.each(STORES.filter((store) => store !== 'sqlite'))('limits with memory in %s', (store) => {
  it(
    `hold while services and stores are killed ${KILLS} times`,
    async () => {
      const fleet = await startFleet(store, 4);
      const random = randomOf(SEED);
      try {
        for (let kills = 0; kills < KILLS; kills += 2) {
          const { passed } = await spendDuring(fleet, `disturbed-agent-${kills}`, 300, async () => {
            await fleet.replaceProcess(random(4));
            await fleet.killStore();
          });
          expect(passed).toBeGreaterThan(0);
        }
      } finally {
        await fleet.stop();
      }
    },
    PATIENT_MS,
  );
});
