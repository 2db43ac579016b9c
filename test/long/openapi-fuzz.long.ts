import { expect, it } from 'vitest';
import { fuzzOpenApi } from '../fuzz/openapi-fuzz.js';
import { describeOnEachDatabase } from '../support/databases.js';
import { startService } from '../support/service.js';

const REQUESTS = 20_000;

describeOnEachDatabase(`${REQUESTS} requests generated from the document`, (freshDatabaseUrl, kind) => {
  it('get documented replies and never a 5xx', { timeout: 900_000 }, async () => {
    const service = await startService({
      DATABASE_URL: await freshDatabaseUrl(),
      SERVICE_LOG_LEVEL: 'error',
    });
    try {
      const seed = Number(process.env.VERIFY_SEED ?? Math.floor(Math.random() * 2 ** 31));
      const report = await fuzzOpenApi(service.url, REQUESTS, seed);
      console.log(`fuzz on ${kind}, seed ${seed}: ${JSON.stringify(report.statuses)}`);
      expect(report.failures, `seed ${seed}`).toEqual([]);
      expect(service.logLines).toEqual([]);
    } finally {
      await service.stop();
    }
  });
});
