import { defineConfig } from 'vitest/config';

/** What is tested with ClickHouse: `npm run test:clickhouse` names the files. */
export default defineConfig({
  test: {
    include: ['test/**/*.test.ts', 'packages/*/test/*.clickhouse.ts'],
    globalSetup: [
      'test/support/postgres-global-setup.ts',
      'test/support/database-templates-global-setup.ts',
      'test/support/packages-global-setup.ts',
    ],
    setupFiles: ['test/support/http2-client-setup.ts', 'test/support/property-seed.ts'],
    testTimeout: 600_000,
    hookTimeout: 600_000,
    expect: { poll: { timeout: 120_000 } },
    // The server runs one query after the other: more workers would wait for each other.
    maxWorkers: 2,
    // As in `vitest.config.ts`.
    execArgv: ['--liftoff-only'],
    // A worker evaluates the modules of the service once.
    isolate: false,
  },
});
