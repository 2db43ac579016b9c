import { defineConfig } from 'vitest/config';

export default defineConfig({
  test: {
    include: ['test/**/*.test.ts', 'packages/*/test/**/*.test.ts'],
    setupFiles: ['test/support/http2-client-setup.ts'],
    globalSetup: ['test/support/postgres-global-setup.ts', 'test/support/packages-global-setup.ts'],
    // They only end what hangs: tests wait for events, and on a busy machine everything takes its time.
    testTimeout: 600_000,
    hookTimeout: 600_000,
    expect: { poll: { timeout: 120_000 } },
    maxWorkers: 2,
    // A worker evaluates the modules of the service once, not for each of some 420 files: a third of the time. Files leave
    // nothing behind in modules and globals.
    isolate: false,
  },
});
