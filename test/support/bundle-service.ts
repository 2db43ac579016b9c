import { mkdtemp } from 'node:fs/promises';
import path from 'node:path';
import { rolldown } from 'rolldown';

/** The module of the process, and those of its threads and of the processes that it starts. */
const ENTRIES = [
  'src/main.js',
  'src/storage/database/sqlite-worker.js',
  'src/kernel/evaluators/custom/memory-watch.mjs',
  'src/kernel/evaluators/custom/worker-entry.mjs',
  'src/observe/events/sinks/otlp-worker.js',
  'src/serve/event-reading/event-reader-thread.js',
  'src/serve/heavy-steps/step-thread.js',
  'packages/kafka-producer/src/kafka-worker.js',
  'packages/parquet-log/src/parquet-worker.js',
  'packages/sql-reader/src/parser-worker.mjs',
];

/** Packages with files besides their modules: native ones, WebAssembly, pages. They stay where they are. */
const WITH_FILES =
  /^(?:@control-enforcement\/|@guanmingchiu\/|@platformatic\/|libpg-query$|libsql$|swagger-ui-dist)/;

/**
 * Puts the compiled service of a folder and its packages into a few files of a new folder: a start reads some 2,000 files
 * otherwise, which costs the tests with processes more than all that they do. Entries stay side by side, since a module
 * names them relative to itself. Returns the folder, which has a `main.js`.
 */
export async function bundleService(tree: string): Promise<string> {
  const folder = await mkdtemp(path.join(path.dirname(tree), 'test-bundle-'));
  // Each by itself: a thread must not load what only the main thread needs.
  await Promise.all(ENTRIES.map((entry) => bundle(path.join(tree, entry), folder)));
  return folder;
}

async function bundle(entry: string, folder: string): Promise<void> {
  const file = path.basename(entry);
  const { name } = path.parse(entry);
  const build = await rolldown({
    input: { [name]: entry },
    platform: 'node',
    external: WITH_FILES,
    logLevel: 'silent',
  });
  await build.write({
    dir: folder,
    format: 'esm',
    entryFileNames: file,
    chunkFileNames: `${name}-[name]-[hash].js`,
    // Messages have the names of classes.
    keepNames: true,
  });
  await build.close();
}
