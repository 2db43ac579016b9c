import { expect, it } from 'vitest';
import { caseSeed } from '../serve/wire/random.js';
import { describeAboveStores } from '../support/databases.js';
import { errorLines } from '../support/error-lines.js';
import { testService } from '../support/service-suite.js';
import { fuzzOpenApi } from './openapi-fuzz.js';

/** `npm run verify:long -- openapi-fuzz` sends 20,000. */
const REQUESTS = 400;

describeAboveStores('requests generated from the document', (freshDatabaseUrl) => {
  it('get documented replies and never a 5xx', async () => {
    const service = await testService({
      DATABASE_URL: await freshDatabaseUrl(),
      SERVICE_LOG_LEVEL: 'error',
    });
    const seed = caseSeed();
    const report = await fuzzOpenApi(service.url, REQUESTS, seed);
    expect(report.failures, `seed ${seed}`).toEqual([]);
    // Requests that all fail would prove nothing.
    expect(report.statuses['200'] ?? 0).toBeGreaterThan(REQUESTS / 10);
    expect(errorLines(service.logLines)).toEqual([]);
  });
});
