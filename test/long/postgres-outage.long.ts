import { expect, it } from 'vitest';
import { fuzzSeed } from '../serve/wire/random.js';
import { NOTHING_LOST, outageRuns } from '../storage/database/outage-runs.js';
import { compiled } from '../support/service-process.js';

/** Of each kind: immediate stops, and fast restarts. */
const OUTAGES = Number(process.env.VERIFY_OUTAGES ?? 50);
const LIMIT_MS = 3_600_000;

it.each([1, 2])(
  `PostgreSQL that goes away ${OUTAGES} times in each way ends no process and loses nothing, SERVICE_WORKERS=%i`,
  async (workers) => {
    const seed = fuzzSeed();
    const began = performance.now();
    const report = await outageRuns({ compiled, workers, outages: OUTAGES, seed });
    const seconds = Math.round((performance.now() - began) / 1000);
    console.log(`outages with ${workers} worker(s), seed ${seed}: ${seconds} s, ${JSON.stringify(report)}`);
    expect(report).toMatchObject(NOTHING_LOST);
  },
  LIMIT_MS,
);
