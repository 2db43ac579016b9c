import { afterAll } from 'vitest';
import { createSqlMemoryStore } from '../../../src/decide/memory/sql/sql-memory-store.js';
import type { MemoryStore } from '../../../src/decide/memory/store/memory-store.js';
import { type Database, openDatabase } from '../../../src/storage/database/database.js';
import { createTestDatabase, DATABASE_KINDS, type TestDatabase } from '../../support/databases.js';
import { executeSql } from '../../support/sql.js';
import { describeMemoryStore } from './store-contract.cases.js';

const TABLES = ['memory_entries', 'memory_evictions', 'memory_rules', 'memory_cells', 'memory_clock'];

for (const kind of DATABASE_KINDS) {
  let created: TestDatabase | undefined;
  // Each has its own connections, as another process has.
  let databases: Database[] = [];
  afterAll(async () => {
    for (const database of databases) await database.close();
    await created?.drop();
  });
  describeMemoryStore(kind, async () => {
    created ??= await createTestDatabase(kind);
    const { url } = created;
    if (databases.length === 0)
      databases = await Promise.all(Array.from({ length: 4 }, () => openDatabase({ url })));
    // All of the memory that a database has. To clear it takes less than another database.
    await executeSql(url, TABLES.map((table) => `DELETE FROM "${table}"`).join('; '));
    let next = 0;
    return {
      connect(): MemoryStore {
        next += 1;
        return createSqlMemoryStore({ database: databases[next % 4] as Database });
      },
      drop: async () => {},
    };
  });
}
