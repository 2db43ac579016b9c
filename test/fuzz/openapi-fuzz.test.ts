import { expect, it } from 'vitest';
import { describeOnEachDatabase } from '../support/databases.js';
import { testService } from '../support/service-suite.js';
import { fuzzOpenApi } from './openapi-fuzz.js';

describeOnEachDatabase('requests generated from the document', (freshDatabaseUrl) => {
  it('get documented replies and never a 5xx', async () => {
    const service = await testService({
      DATABASE_URL: await freshDatabaseUrl(),
      SERVICE_LOG_LEVEL: 'error',
    });
    const seed = Math.floor(Math.random() * 2 ** 31);
    const report = await fuzzOpenApi(service.url, 1_000, seed);
    expect(report.failures, `seed ${seed}`).toEqual([]);
    // Requests that all fail would prove nothing.
    expect(report.statuses['200'] ?? 0).toBeGreaterThan(100);
    expect(service.logLines).toEqual([]);
  });
});
