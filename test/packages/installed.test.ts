import { execFile } from 'node:child_process';
import { mkdtemp, readdir, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { promisify } from 'node:util';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { runExample, seedClientExample } from '../support/client-example.js';
import { startService, type TestService } from '../support/service.js';

const ROOT = path.resolve(import.meta.dirname, '../..');
const run = promisify(execFile);
/** Packages for users, and the engines of the service. */
const FOR_USERS = ['client', 'evaluator-sdk'];
const ENGINES = ['exact-json', 'json-schema', 'linear-text', 'sql-reader'];

/** Code blocks of a language in the README of a package. */
async function blocks(name: string, language: string): Promise<string[]> {
  const text = await readFile(path.join(ROOT, 'packages', name, 'README.md'), 'utf8');
  const found = [...text.matchAll(new RegExp(`\`\`\`${language}\\n([\\s\\S]*?)\`\`\``, 'g'))];
  return found.map(([, block = '']) => block);
}

/** Packs packages of the repository and installs them in a new folder. Returns the folder. */
async function installPacked(names: readonly string[]): Promise<string> {
  const folder = await mkdtemp(path.join(tmpdir(), 'packages-'));
  const tarballs: string[] = [];
  for (const name of names) {
    const options = ['pack', '--silent', '--workspace', `packages/${name}`, '--pack-destination', folder];
    const { stdout } = await run('npm', options, { cwd: ROOT });
    tarballs.push(`./${stdout.trim().split('\n').at(-1)}`);
  }
  await writeFile(path.join(folder, 'package.json'), JSON.stringify({ private: true, type: 'module' }));
  const options = ['install', '--no-audit', '--no-fund', '--prefer-offline', '--silent', ...tarballs];
  await run('npm', options, { cwd: folder });
  return folder;
}

/** Runs a module that imports the installed packages, whose types are checked too. */
const runModule = (folder: string, name: string, source: string): Promise<string> =>
  runExample(folder, name, source, { typeRoots: [path.join(ROOT, 'node_modules', '@types')] });

describe('the packages for users, packed and installed in an empty folder', () => {
  let folder: string;
  let service: TestService;
  beforeAll(async () => {
    folder = await installPacked(FOR_USERS);
    service = await startService();
    await seedClientExample(service.url);
  });
  afterAll(async () => {
    await service?.stop();
    await rm(folder, { recursive: true, force: true });
  });

  it('bring nothing of the server', async () => {
    const modules = path.join(folder, 'node_modules');
    const names = (await readdir(modules)).filter((name) => !name.startsWith('.'));
    expect(names.sort()).toEqual(['@bufbuild', '@connectrpc', '@control-enforcement', 'zod']);
    expect((await readdir(path.join(modules, '@connectrpc'))).sort()).toEqual(['connect', 'connect-node']);
    const installed = await readdir(path.join(modules, '@control-enforcement', 'client'), {
      recursive: true,
    });
    expect(installed.filter((name) => /dist\/src\/|prisma|\.test\.|(?<!\.d)\.ts$/.test(name))).toEqual([]);
  });

  it('the client does what its README shows', async () => {
    const [source = ''] = await blocks('client', 'ts');
    expect(source).toContain("'@control-enforcement/client'");
    const printed = await runModule(folder, 'client', source.replace('http://localhost:8000', service.url));
    expect(printed).toBe('sent: hello\ndenied by no-card-numbers\n');
  });

  it('the evaluator SDK does what its README shows', async () => {
    const [source = ''] = await blocks('evaluator-sdk', 'ts');
    const [expected] = await blocks('evaluator-sdk', 'text');
    expect(await runModule(folder, 'evaluator', source)).toBe(expected);
  });
});

describe('the engines, packed and installed in an empty folder', () => {
  let folder: string;
  beforeAll(async () => {
    folder = await installPacked(ENGINES);
  });
  afterAll(() => rm(folder, { recursive: true, force: true }));

  it('need no other package of the repository', async () => {
    const modules = path.join(folder, 'node_modules', '@control-enforcement');
    expect((await readdir(modules)).sort()).toEqual([...ENGINES].sort());
  });

  it.each(ENGINES)('%s does what its README shows', async (name) => {
    const [source = ''] = await blocks(name, 'ts');
    expect(source).toContain(`'@control-enforcement/${name}'`);
    const [expected] = await blocks(name, 'text');
    expect(await runModule(folder, name, source)).toBe(expected);
  });
});
