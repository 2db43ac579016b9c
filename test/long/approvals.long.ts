import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { type ApprovalFleet, startApprovalFleet } from '../decide/approvals/fleet.js';
import { decideAtRandom } from '../decide/approvals/schedules.js';
import { DATABASE_KINDS } from '../support/databases.js';

/** VERIFY_SCHEDULES: how many random schedules run on each database. */
const RUNS = Number(process.env.VERIFY_SCHEDULES ?? 200);
const SEED = Number(process.env.VERIFY_SEED ?? 1_000);
const PROCESSES = 4;
const PATIENT_MS = 7_200_000;
/** One schedule in so many ends the server of the database, too. */
const CRASH_EVERY = 4;

describe.each(DATABASE_KINDS)('approvals of four processes on %s', (kind) => {
  let fleet: ApprovalFleet;
  beforeAll(async () => {
    fleet = await startApprovalFleet(kind, PROCESSES, kind === 'postgresql');
  });
  afterAll(() => fleet?.stop());

  it(
    `let steps pass exactly as people have decided, in ${RUNS} schedules at random`,
    async () => {
      let passed = 0;
      for (let run = 0; run < RUNS; run += 1) {
        const disturbance = { kills: run % 3, crashes: run % CRASH_EVERY === 1 ? 1 : 0 };
        passed += await decideAtRandom(fleet, SEED + run, disturbance).catch((cause: unknown) => {
          throw new Error(`VERIFY_SEED=${SEED + run}: ${(cause as Error).message}`, { cause });
        });
      }
      console.log(`approvals on ${kind}: ${passed} evaluations passed in ${RUNS} schedules`);
      expect(passed).toBeGreaterThan(RUNS);
    },
    PATIENT_MS,
  );
});
