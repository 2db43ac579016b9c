import { execFile } from 'node:child_process';
import { mkdir, rm, writeFile } from 'node:fs/promises';
import path from 'node:path';
import { pathToFileURL } from 'node:url';
import { promisify } from 'node:util';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { type CompiledService, compileOwnService } from '../../support/service-process.js';

let service: CompiledService;
/** Holds packages that a module of the compiled service finds. */
let packages: string;

beforeAll(async () => {
  service = await compileOwnService();
  packages = path.join(
    path.dirname(service.main),
    'kernel',
    'evaluators',
    'node_modules',
    '@control-enforcement',
  );
  await mkdir(packages, { recursive: true });
});
afterAll(() => service.remove());

/** Writes a package with this main module; without one when it is undefined. */
async function install(name: string, main: string | undefined): Promise<void> {
  await mkdir(path.join(packages, name), { recursive: true });
  const manifest = JSON.stringify({
    name: `@control-enforcement/${name}`,
    type: 'module',
    exports: './main.js',
  });
  await writeFile(path.join(packages, name, 'package.json'), manifest);
  if (main !== undefined) await writeFile(path.join(packages, name, 'main.js'), main);
}

/** Loads packages in a process of its own, where Node and not the test runner looks for them. */
async function load(names: string[]): Promise<string> {
  const module = path.join(path.dirname(service.main), 'kernel', 'evaluators', 'optional-evaluators.js');
  const program = `
    const { loadOptionalEvaluators, packaged } = await import(${JSON.stringify(String(pathToFileURL(module)))});
    const options = { apiKey: null, apiUrl: null, log: { warn: (_facts, message) => console.error(message) } };
    const packages = ${JSON.stringify(names)}.map((name) => packaged(name, 'evaluator-of-' + name));
    const found = await loadOptionalEvaluators(options, packages).catch((error) => [
      { name: error.message },
    ]);
    console.log(found.map(({ name, isMissing }) => name + (isMissing ? ' is missing' : '')).join());`;
  const { stdout } = await promisify(execFile)(process.execPath, ['--input-type=module', '-e', program]);
  return stdout.trim();
}

it('an optional evaluator registers by being installed, and is known as missing otherwise', async () => {
  await install(
    'installed-one',
    'export const createEvaluator = () => ({ name: "one", problemsOf: () => [] });',
  );
  expect(await load(['installed-one', 'not-installed'])).toBe('one,evaluator-of-not-installed is missing');
});

it.each([
  ['was not built', undefined],
  ['is broken', 'throw new Error("broken")'],
  ['needs what is not installed', 'import "not-installed-either";'],
])('a package that is installed but %s stops the start', async (_name, main) => {
  await rm(path.join(packages, 'faulty'), { recursive: true, force: true });
  await install('faulty', main);
  expect(await load(['faulty'])).toBe('the package faulty is installed but cannot be loaded');
});
