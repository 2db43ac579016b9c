import { readdirSync, readFileSync } from 'node:fs';
import path from 'node:path';
import { defineConfig } from 'vitest/config';

/** What watches or replaces something that all code of a process shares: timers, resources, events, modules. */
const OF_THE_PROCESS =
  /\bvi\.(useFakeTimers|spyOn|stub\w+|mock)\(|\bprocess\.(on|once|getActiveResourcesInfo)\(/;

/** Files that would see, or disturb, what files before them in the same process have not finished yet. */
const OWN_PROCESS = readdirSync('test', { recursive: true, encoding: 'utf8' })
  .map((name) => path.posix.join('test', name.replaceAll(path.sep, '/')))
  .filter((file) => file.endsWith('.test.ts') && OF_THE_PROCESS.test(readFileSync(file, 'utf8')));

const common = {
  setupFiles: ['test/support/http2-client-setup.ts'],
  // They only end what hangs: tests wait for events, and on a busy machine everything takes its time.
  testTimeout: 600_000,
  hookTimeout: 600_000,
  expect: { poll: { timeout: 120_000 } },
};

export default defineConfig({
  test: {
    globalSetup: [
      'test/support/postgres-global-setup.ts',
      'test/support/database-templates-global-setup.ts',
      'test/support/packages-global-setup.ts',
    ],
    maxWorkers: 2,
    projects: [
      {
        test: { ...common, name: 'own-process', include: OWN_PROCESS, sequence: { groupOrder: 0 } },
      },
      {
        test: {
          ...common,
          name: 'shared-process',
          include: ['test/**/*.test.ts', 'packages/*/test/**/*.test.ts'],
          exclude: ['**/node_modules/**', ...OWN_PROCESS],
          // A worker evaluates the modules of the service once, not for each of some 420 files: a third of the time.
          // Files leave nothing behind in modules and globals.
          isolate: false,
          sequence: { groupOrder: 1 },
        },
      },
    ],
  },
});
