import { expect, it } from 'vitest';
import { openDatabase } from '../../../src/storage/database/database.js';
import { describeOnEachDatabase } from '../../support/databases.js';
import { startService } from '../../support/service.js';
import { executeSql } from '../../support/sql.js';
import { until } from '../../support/until.js';

/** Sockets, pipes and threads that are open. */
const held = () => process.getActiveResourcesInfo().filter((name) => /Wrap|Port|Worker/.test(name));

describeOnEachDatabase('a start that fails after everything is assembled', (freshDatabaseUrl) => {
  it('rejects with the reason and releases what it opened', async () => {
    const url = await freshDatabaseUrl();
    await (await openDatabase({ url })).close();
    await executeSql(url, 'ALTER TABLE "changes" RENAME TO "others"');
    const before = held();
    await expect(startService({ DATABASE_URL: url })).rejects.toMatchObject({ code: 'DATABASE_ERROR' });
    await until(held, (now) => now.join() === before.join());
    await executeSql(url, 'ALTER TABLE "others" RENAME TO "changes"');
    await (await startService({ DATABASE_URL: url })).stop();
  });
});
