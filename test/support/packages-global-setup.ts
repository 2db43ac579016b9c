import { execFile } from 'node:child_process';
import { rm } from 'node:fs/promises';
import path from 'node:path';
import { promisify } from 'node:util';
import { bundleService } from './bundle-service.js';
import { CLICKHOUSE_URL } from './clickhouse.js';
import { BUNDLED_FOLDER, COMPILED_FOLDER, compileInto, copyOfService } from './service-process.js';

const ROOT = path.resolve(import.meta.dirname, '../..');

/** Says that `npm run build` has just been run, as `.ci/run` does: nothing is built again. */
const IS_BUILT = process.env.TEST_USES_BUILD === 'true';

/**
 * Builds the optional packages, which the service under test loads as it does when they are installed, the dashboard, the
 * command, and the service as JavaScript, which all tests with processes of their own share. Returns what removes it.
 */
export default async function setup(): Promise<() => Promise<void>> {
  // The tests of events need neither, and run beside others that do.
  if (CLICKHOUSE_URL === undefined && !IS_BUILT) {
    const compiler = path.join(ROOT, 'node_modules', 'typescript', 'bin', 'tsc');
    const projects = ['evaluator-vendor-model', 'evaluator-onnx'].map((name) =>
      path.join(ROOT, 'packages', name),
    );
    await Promise.all([
      ...projects.map((project) =>
        promisify(execFile)(process.execPath, [compiler, '-p', project, '--noCheck']),
      ),
      promisify(execFile)(process.execPath, [path.join(ROOT, 'scripts', 'build-dashboard.mjs')]),
      promisify(execFile)(process.execPath, [path.join(ROOT, 'scripts', 'build-cli.mjs')]),
    ]);
  }
  const folder = IS_BUILT ? await copyOfService(path.join(ROOT, 'dist')) : await compileInto();
  const bundled = await bundleService(folder);
  process.env[COMPILED_FOLDER] = folder;
  process.env[BUNDLED_FOLDER] = bundled;
  return async () => {
    for (const each of [folder, bundled]) await rm(each, { recursive: true, force: true });
  };
}
