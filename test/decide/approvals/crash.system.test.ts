import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { DATABASE_KINDS } from '../../support/databases.js';
import { type ApprovalFleet, startApprovalFleet } from './fleet.js';
import { decideAtRandom } from './schedules.js';

/** `test/long/approvals` runs four processes and many schedules. */
describe.each(DATABASE_KINDS)('approvals of two processes on %s', (kind) => {
  let fleet: ApprovalFleet;
  beforeAll(async () => {
    fleet = await startApprovalFleet(kind, 2);
  });
  afterAll(() => fleet?.stop());

  it('let a step pass exactly as people have decided, while a process is killed', async () => {
    expect(await decideAtRandom(fleet, 1, { kills: 1, crashes: 0 })).toBeGreaterThan(0);
  });
});
