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

/** Code blocks of a language in the README of a package. */
async function blocks(name: string, language: string): Promise<string[]> {
  const text = await readFile(path.join(ROOT, 'packages', name, 'README.md'), 'utf8');
  const found = [...text.matchAll(new RegExp(`\`\`\`${language}\\n([\\s\\S]*?)\`\`\``, 'g'))];
  return found.map(([, block = '']) => block);
}

describe('the packages, packed and installed in an empty folder', () => {
  let folder: string;
  let service: TestService;
  beforeAll(async () => {
    folder = await mkdtemp(path.join(tmpdir(), 'packages-'));
    const tarballs: string[] = [];
    for (const name of ['client', 'evaluator-sdk']) {
      const options = ['pack', '--silent', '--workspace', `packages/${name}`, '--pack-destination', folder];
      const { stdout } = await run('npm', options, { cwd: ROOT });
      tarballs.push(`./${stdout.trim().split('\n').at(-1)}`);
    }
    await writeFile(path.join(folder, 'package.json'), JSON.stringify({ private: true, type: 'module' }));
    const options = ['install', '--no-audit', '--no-fund', '--prefer-offline', '--silent', ...tarballs];
    await run('npm', options, { cwd: folder });
    service = await startService();
    await seedClientExample(service.url);
  });
  afterAll(async () => {
    await service?.stop();
    await rm(folder, { recursive: true, force: true });
  });

  /** Runs a module that imports the installed packages, whose types are checked too. */
  const runModule = (name: string, source: string): Promise<string> =>
    runExample(folder, name, source, { typeRoots: [path.join(ROOT, 'node_modules', '@types')] });

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
    const printed = await runModule('client', source.replace('http://localhost:8000', service.url));
    expect(printed).toBe('sent: hello\ndenied by no-card-numbers\n');
  });

  it('the evaluator SDK does what its README shows', async () => {
    const [source = ''] = await blocks('evaluator-sdk', 'ts');
    const [expected] = await blocks('evaluator-sdk', 'text');
    expect(await runModule('evaluator', source)).toBe(expected);
  });
});
