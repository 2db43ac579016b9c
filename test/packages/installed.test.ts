import { execFile } from 'node:child_process';
import { mkdtemp, readdir, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { promisify } from 'node:util';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { restClient } from '../support/rest-client.js';
import { seeder } from '../support/seed.js';
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
    const seed = seeder(restClient(service.url));
    await seed.agent('billing-bot-01');
    const condition = {
      selector: { path: 'input.text' },
      evaluator: { name: 'regex', config: { pattern: '\\b\\d{16}\\b' } },
    };
    const data = { execution: 'server', condition, action: { decision: 'deny' } };
    await seed.link('billing-bot-01', await seed.control('no-card-numbers', data));
  });
  afterAll(async () => {
    await service?.stop();
    await rm(folder, { recursive: true, force: true });
  });

  /** Compiles a module strictly against the installed packages, runs it, and returns what it prints. */
  async function runModule(name: string, source: string): Promise<string> {
    await writeFile(path.join(folder, `${name}.ts`), source);
    const compilerOptions = {
      module: 'nodenext',
      target: 'es2023',
      strict: true,
      types: ['node'],
      typeRoots: [path.join(ROOT, 'node_modules', '@types')],
    };
    const config = path.join(folder, `${name}.json`);
    await writeFile(config, JSON.stringify({ compilerOptions, files: [`${name}.ts`] }));
    await run(process.execPath, [path.join(ROOT, 'node_modules', 'typescript', 'bin', 'tsc'), '-p', config]);
    const { stdout, stderr } = await run(process.execPath, [path.join(folder, `${name}.js`)]);
    expect(stderr).toBe('');
    return stdout;
  }

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
