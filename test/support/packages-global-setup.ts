import { execFile } from 'node:child_process';
import { rm } from 'node:fs/promises';
import path from 'node:path';
import { promisify } from 'node:util';
import type { TestProject } from 'vitest/node';
import { bundleService } from './bundle-service.js';
import { CLICKHOUSE_URL } from './clickhouse.js';
import { BUNDLED_FOLDER, COMPILED_FOLDER, compileInto, copyOfService } from './service-process.js';

const ROOT = path.resolve(import.meta.dirname, '../..');

/** Says that `npm run build` has just been run, as `.ci/run` does: nothing is built again. */
const IS_BUILT = process.env.TEST_USES_BUILD === 'true';

/**
 * Builds what `npm run build` does, once a run, and copies the service as JavaScript for the threads and processes that
 * tests start. Processes of the system lane run it in few files. Returns what removes the copies.
 */
export default async function setup({ vitest }: TestProject): Promise<() => Promise<void>> {
  const folder = await compiledService();
  process.env[COMPILED_FOLDER] = folder;
  const folders = [folder];
  if (vitest.projects.some(({ name }) => !name.startsWith('fast'))) {
    const bundled = await bundleService(folder);
    process.env[BUNDLED_FOLDER] = bundled;
    folders.push(bundled);
  }
  return async () => {
    for (const each of folders) await rm(each, { recursive: true, force: true });
  };
}

async function compiledService(): Promise<string> {
  // The tests of events with ClickHouse need no more than the service.
  if (CLICKHOUSE_URL !== undefined && !IS_BUILT) return compileInto();
  if (!IS_BUILT) {
    console.log('Building the service, its packages and the dashboard, once for all tests.');
    await promisify(execFile)('npm', ['run', '--silent', 'build'], { cwd: ROOT });
  }
  return copyOfService(path.join(ROOT, 'dist'));
}
