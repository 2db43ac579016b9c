import { defineConfig } from 'vitest/config';

/**
 * For what tests generate, and for a copy of the tree, see `tree-copy.ts`: one process, and nothing is built or started
 * before.
 */
export default defineConfig({
  test: {
    include: ['test/**/*.test.ts'],
    setupFiles: ['test/support/http2-client-setup.ts'],
    testTimeout: 600_000,
    hookTimeout: 600_000,
    isolate: false,
    maxWorkers: 1,
    reporters: ['dot'],
  },
});
