import { type ClickHouseLocation, type ClickHouseTables, createClickHouseTables } from '../src/index.js';

/** One table, to test with. */
export function salesTables(location: Partial<ClickHouseLocation>, version = 1): ClickHouseTables {
  return createClickHouseTables({
    location: {
      url: 'http://127.0.0.1:9',
      username: 'default',
      password: '',
      database: 'shop',
      isReplicated: false,
      ...location,
    },
    application: 'test',
    name: 'shop',
    schema: {
      version,
      versionTable: 'shop_schema',
      statements: ({ engine, settings }) => [
        `CREATE TABLE IF NOT EXISTS sales (month UInt32, article String)
         ENGINE = ${engine('MergeTree')} PARTITION BY month ORDER BY article SETTINGS ${settings}`,
      ],
    },
  });
}
