import { defineConfig } from 'vitest/config';

/** What is tested with ClickHouse alone: `npm run test:clickhouse`. */
export default defineConfig({
  test: {
    include: ['test/events/clickhouse/*.clickhouse.ts', 'packages/clickhouse-tables/test/*.clickhouse.ts'],
    testTimeout: 600_000,
    hookTimeout: 600_000,
    expect: { poll: { timeout: 120_000 } },
    maxWorkers: 1,
  },
});
