import { describe, expect, it } from 'vitest';
import { caseSeed } from '../../serve/wire/random.js';
import { compiled } from '../../support/service-process.js';
import { NOTHING_LOST, outageRuns } from './outage-runs.js';

const OUTAGES = 2;

describe('PostgreSQL that is stopped and restarted under load', () => {
  it.each([1, 2])(
    'ends no process, keeps loaded agents answered and loses nothing acknowledged, SERVICE_WORKERS=%i',
    async (workers) => {
      const report = await outageRuns({ compiled, workers, outages: OUTAGES, seed: caseSeed() });
      expect(report).toMatchObject(NOTHING_LOST);
      expect(report.acknowledgedEvents).toBeGreaterThan(0);
      expect(report.acknowledgedControls).toBeGreaterThan(0);
    },
  );
});
