import { defineConfig } from 'vitest/config';

/** What takes too long for every change: `npm run verify:long`. */
export default defineConfig({
  test: {
    include: ['test/long/**/*.long.ts'],
    setupFiles: ['test/support/http2-client-setup.ts'],
    globalSetup: [
      'test/support/postgres-global-setup.ts',
      'test/support/database-templates-global-setup.ts',
      'test/support/packages-global-setup.ts',
    ],
    hookTimeout: 600_000,
    // One after another: each file loads the machine by itself.
    maxWorkers: 1,
    fileParallelism: false,
    disableConsoleIntercept: true,
  },
});
