import { createHash } from 'node:crypto';
import { existsSync, readdirSync, readFileSync } from 'node:fs';
import path from 'node:path';
import { defineConfig } from 'vitest/config';
import { BaseSequencer, type TestSpecification } from 'vitest/node';
import { LaneReporter } from './test/support/lane-reporter.js';

/** What watches or replaces something that all code of a process shares: timers, resources, events, modules. */
const OF_THE_PROCESS =
  /\bvi\.(useFakeTimers|spyOn|stub\w+|mock)\(|\bprocess\.(on|once|getActiveResourcesInfo)\(/;

/** Files that would see, or disturb, what files before them in the same process have not finished yet. */
const OWN_PROCESS = [
  'test',
  ...readdirSync('packages').map((name) => path.posix.join('packages', name, 'test')),
]
  .flatMap((folder) => testFilesIn(folder))
  .filter((file) => OF_THE_PROCESS.test(readFileSync(file, 'utf8')));

function testFilesIn(folder: string): string[] {
  if (!existsSync(folder)) return [];
  return readdirSync(folder, { recursive: true, encoding: 'utf8' })
    .map((name) => path.posix.join(folder, name.replaceAll(path.sep, '/')))
    .filter((file) => file.endsWith('.test.ts'));
}

/** Parts of the paths of the slowest files, the slowest first. */
const SLOW = [
  'test/e2e/last-known-good.',
  'test/app/cluster/',
  'test/e2e/memory/',
  'test/e2e/every-rpc.',
  'test/packages/installed.',
  'test/dashboard/every-page.',
  'test/app/operations/',
  'test/e2e/storage-faults.',
  'test/app/wiring/',
  'test/fleet/',
  'test/dashboard/',
  'test/attack/',
  'test/serve/http/body-bytes.',
  'test/e2e/stream-ends.',
  'test/compatibility/concurrent-clients.',
  'test/packages/',
  'test/e2e/migrate-command.',
  'test/kernel/evaluators/custom/',
  'test/serve/lane/web-lane.',
  'test/storage/database/outage-runs.',
  'test/app/last-known-good/',
  'test/serve/event-reading/',
  'test/app/process/',
  'test/e2e/evaluator-processes.',
  'test/e2e/export-events.',
  'test/observe/events/event-faults.',
  'test/observe/events/sinks/',
  'test/observe/events/events-crash.',
  'test/bad-input/',
  'test/image/',
  'test/contract/changes-of-the-tree.',
  'test/observe/audit/',
  'test/manage/configuration/',
  'test/cli/',
  'test/observe/shadows/',
  'test/client/rolling-restart.',
  'test/clients/',
  'packages/json-schema/',
];

/** Node.js 25 and later have a `localStorage` that stays instead of the one of happy-dom, and is undefined without a file. */
const WITHOUT_STORAGE = [...process.allowedNodeEnvironmentFlags].filter(
  (flag) => flag === '--no-experimental-webstorage',
);

const common = {
  setupFiles: [
    'test/support/http2-client-setup.ts',
    'test/support/property-seed.ts',
    'test/support/file-times-setup.ts',
  ],
  // They only end what hangs: tests wait for events, and on a busy machine everything takes its time.
  testTimeout: 600_000,
  hookTimeout: 600_000,
  expect: { poll: { timeout: 120_000 } },
  // Each service that a test starts has its own WebAssembly of Prisma: compiled once, quickly, it costs half as much. What is
  // given for all projects is not passed on to them.
  execArgv: ['--liftoff-only', ...WITHOUT_STORAGE],
};

/** Sources of the dashboard name generated code so, see its `vite.config.ts`. */
const resolve = { alias: { '@gen': path.resolve('gen/proto') } };

/** Asks for another order of the files, see `scripts/test-calm.mjs`. */
const ORDER_SEED = process.env.TEST_ORDER_SEED;

function inOrderOf(seed: string, files: readonly TestSpecification[]): TestSpecification[] {
  const key = ({ moduleId }: TestSpecification) =>
    createHash('sha256').update(`${seed} ${moduleId}`).digest('hex');
  return files.toSorted((one, other) => (key(one) < key(other) ? -1 : 1));
}

/** Begins with the files that take longest: one of them that began last would keep the others waiting. */
class SlowFirst extends BaseSequencer {
  override async sort(files: TestSpecification[]): Promise<TestSpecification[]> {
    if (ORDER_SEED !== undefined) return inOrderOf(ORDER_SEED, files);
    const rank = ({ moduleId }: TestSpecification) => {
      const found = SLOW.findIndex((part) => moduleId.includes(part));
      return found === -1 ? SLOW.length : found;
    };
    return (await super.sort(files)).sort((one, other) => rank(one) - rank(other));
  }
}

/** What starts processes, browsers or other programs: `npm run test:system`. */
const SYSTEM = '**/*.system.test.ts';
/** Components of the dashboard, most of them in happy-dom. */
const PAGES = 'packages/dashboard/test/**/*.test.tsx';
const isSystem = (file: string) => file.endsWith('.system.test.ts');

const RESULTS = process.env.TEST_RESULTS_FOLDER;

export default defineConfig({
  test: {
    reporters: [new LaneReporter(), ...(RESULTS === undefined ? [] : ['json'])],
    ...(RESULTS === undefined
      ? {}
      : { outputFile: { json: path.join(RESULTS, `${process.env.TEST_RUN ?? 'fast'}.json`) } }),
    globalSetup: [
      'test/support/postgres-global-setup.ts',
      'test/support/database-templates-global-setup.ts',
      'test/support/packages-global-setup.ts',
    ],
    // Twice as many as there are cores on a small machine: many files wait for processes and pages most of the time.
    maxWorkers: 4,
    sequence: { sequencer: SlowFirst },
    projects: [
      {
        resolve,
        test: {
          ...common,
          name: 'fast-own-process',
          include: OWN_PROCESS.filter((file) => !isSystem(file)),
          sequence: { groupOrder: 0 },
        },
      },
      {
        resolve,
        test: {
          ...common,
          name: 'fast',
          include: ['test/**/*.test.ts', 'packages/*/test/**/*.test.ts'],
          exclude: ['**/node_modules/**', SYSTEM, PAGES, ...OWN_PROCESS],
          // A worker evaluates the modules of the service once, not for each file: a third of the time. Files leave nothing
          // behind in modules and globals.
          isolate: false,
          sequence: { groupOrder: 1 },
        },
      },
      {
        resolve,
        test: {
          ...common,
          // By themselves: a worker ends when the next file has another environment, and each evaluates the service anew.
          name: 'fast-pages',
          include: [PAGES],
          isolate: false,
          sequence: { groupOrder: 2 },
        },
      },
      {
        resolve,
        test: {
          ...common,
          name: 'system-own-process',
          include: OWN_PROCESS.filter(isSystem),
          sequence: { groupOrder: 3 },
        },
      },
      {
        resolve,
        test: {
          ...common,
          name: 'system',
          include: ['test/**/*.system.test.ts', 'packages/*/test/**/*.system.test.ts'],
          exclude: ['**/node_modules/**', ...OWN_PROCESS],
          isolate: false,
          sequence: { groupOrder: 4 },
        },
      },
    ],
  },
});
