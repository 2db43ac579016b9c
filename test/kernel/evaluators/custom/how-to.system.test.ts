import { execFile } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { cp, mkdir, mkdtemp, rm, symlink, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { promisify } from 'node:util';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { findUp } from '../../../../src/contract/runtime/package-root.js';
import { compiledTree, type ServiceProcess, spawnCommand } from '../../../support/service-process.js';

const ROOT = path.dirname(findUp('package.json'));
const run = promisify(execFile);

/** A fenced block of the how-to, with its language line. */
interface Block {
  readonly kind: string;
  readonly text: string;
}

const BLOCKS: Block[] = [
  ...readFileSync(path.join(ROOT, 'docs/custom-evaluators.md'), 'utf8').matchAll(
    /^```(.+)\n([\s\S]*?)^```$/gm,
  ),
].map(([, kind = '', text = '']) => ({ kind, text }));

let folder: string;
/** What `$SERVICE` stands for: looks like a checkout that was built. */
let checkout: string;
let service: ServiceProcess | undefined;

beforeAll(async () => {
  folder = await mkdtemp(path.join(tmpdir(), 'how-to-'));
  checkout = path.join(folder, 'service');
  await mkdir(checkout);
  await cp(path.join(ROOT, 'package.json'), path.join(checkout, 'package.json'));
  await symlink(path.resolve(compiledTree.main, '../..'), path.join(checkout, 'dist'));
});
afterAll(async () => {
  await service?.dispose();
  await rm(folder, { recursive: true, force: true });
});

describe('the how-to for custom evaluators', () => {
  it('leads from an empty folder to a verdict', async () => {
    const home = path.join(folder, 'home');
    await mkdir(home);
    let url = '';
    let compared = 0;
    for (const [index, { kind, text }] of BLOCKS.entries()) {
      if (kind === 'sh start') {
        const environment = { PATH: process.env.PATH ?? '', SERVICE: checkout };
        service = spawnCommand('bash', ['-c', `exec env ${text}`], environment, home);
        url = await service.listening();
      } else if (kind === 'sh run') {
        const script = text.replaceAll('localhost:8000', url.replace('http://', ''));
        const { stdout } = await run('bash', ['-e', '-o', 'pipefail', '-c', script], { cwd: home });
        const next = BLOCKS[index + 1];
        if (next?.kind !== 'text') continue;
        expect(stdout.trim()).toBe(next.text.trim());
        compared += 1;
      }
    }
    expect(compared).toBe(3);
  });
  it('shows an evaluator of fewer than 30 lines', () => {
    const [first] = BLOCKS;
    const evaluator = first?.text.split("cat > index.js <<'END'\n")[1]?.split('\nEND')[0] ?? '';
    expect(evaluator).toContain('export default');
    expect(evaluator.split('\n').length).toBeLessThan(30);
  });
  it('shows TypeScript that compiles where the service and zod are installed', async () => {
    const project = path.join(folder, 'typed');
    await mkdir(path.join(project, 'node_modules', '@types'), { recursive: true });
    await symlink(checkout, path.join(project, 'node_modules', 'control-enforcement-service'));
    for (const name of ['zod', '@types/node', 'undici-types']) {
      await symlink(path.join(ROOT, 'node_modules', name), path.join(project, 'node_modules', name));
    }
    const examples = BLOCKS.filter(({ kind }) => kind === 'ts check');
    expect(examples).toHaveLength(1);
    for (const { text } of examples) await writeFile(path.join(project, 'index.ts'), text);
    // A mistake in what it takes for the type of `config` must be found.
    const wrong = (examples[0]?.text ?? '').replaceAll('config.language', 'config.tongue');
    await writeFile(path.join(project, 'wrong.ts'), wrong);
    await writeFile(path.join(project, 'package.json'), '{ "type": "module" }');
    const compile = (file: string) =>
      run(
        process.execPath,
        [
          path.join(ROOT, 'node_modules/typescript/bin/tsc'),
          ...['--strict', '--noEmit', '--target', 'es2023', '--module', 'nodenext', '--skipLibCheck'],
          ...['--preserveSymlinks', '--types', 'node', file],
        ],
        { cwd: project },
      );
    await compile('index.ts');
    await expect(compile('wrong.ts')).rejects.toMatchObject({ stdout: expect.stringContaining("'tongue'") });
  });
});

it('the example package passes its own test', async () => {
  const { stdout } = await run(process.execPath, ['--test', '--test-reporter=tap'], {
    cwd: path.join(ROOT, 'examples/evaluator-word-limit'),
    // A test runner inside a test runner takes itself for a worker of the outer one.
    env: { ...process.env, NODE_TEST_CONTEXT: undefined },
  });
  expect(stdout).toMatch(/# pass 2\n# fail 0/);
});
