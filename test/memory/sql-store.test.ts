import { openDatabase } from '../../src/database/database.js';
import { createSqlMemoryStore } from '../../src/memory/sql/sql-memory-store.js';
import type { MemoryStore } from '../../src/memory/store/memory-store.js';
import { createTestDatabase, DATABASE_KINDS } from '../support/databases.js';
import { describeMemoryStore } from './store-contract.cases.js';

for (const kind of DATABASE_KINDS) {
  describeMemoryStore(kind, async () => {
    const created = await createTestDatabase(kind);
    // Each has its own connections, as another process has.
    const databases = await Promise.all(Array.from({ length: 4 }, () => openDatabase({ url: created.url })));
    let next = 0;
    return {
      connect(): MemoryStore {
        next += 1;
        return createSqlMemoryStore({ database: databases[next % 4] as (typeof databases)[number] });
      },
      async drop() {
        for (const database of databases) await database.close();
        await created.drop();
      },
    };
  });
}
