import { it } from 'vitest';
import { openDatabase } from '../../src/database/database.js';
import { createTestDatabase } from '../support/databases.js';
import { newControl, stores } from './support.js';
it('x', async () => {
  const f = await createTestDatabase('sqlite');
  const t0 = performance.now(); const log = (...a: unknown[]) => console.log(Math.round(performance.now() - t0), ...a);
  const db = await openDatabase({ url: f.url, onQuery: (q) => log(q.slice(0, 100)) });
  for (let i = 0; i < 2; i++) {
  await db.mutate(async (tx) => {
    log(await tx.$queryRawUnsafe('PRAGMA max_page_count = 100'), await tx.$queryRawUnsafe('PRAGMA page_count'), await tx.$queryRawUnsafe('PRAGMA freelist_count'));
    await stores(tx).agents.insert({ name: 'n', data: '{}', createdAtMs: 1 });
    log('ins');
    await stores(tx).controls.insert(newControl('large', { data: JSON.stringify('x'.repeat(1_000_000)) })).catch((e) => { log('ERR', e.code, e.options.cause); });
    log('caught');
    await stores(tx).agents.insert({ name: 'orphan', data: '{}', createdAtMs: 1 });
    return { value: null, changed: true };
  }).then((r) => log('OK', r), (e) => log('rejected', e.code, e.options.cause?.message?.slice(-300)));
  }
  log(await stores(db.client).agents.find('orphan'));
});
