import { execFile } from 'node:child_process';
import { mkdir, writeFile } from 'node:fs/promises';
import path from 'node:path';
import { promisify } from 'node:util';
import { expect } from 'vitest';
import { restClient } from './http.js';
import { seeder } from './seed.js';

const ROOT = path.resolve(import.meta.dirname, '../..');
const run = promisify(execFile);

/** Registers the agent of the client's examples, with the control that denies card numbers. */
export async function seedClientExample(url: string): Promise<void> {
  const seed = seeder(restClient(url));
  await seed.agent('billing-bot-01');
  const condition = {
    selector: { path: 'input.text' },
    evaluator: { name: 'regex', config: { pattern: '\\b\\d{16}\\b' } },
  };
  const data = { execution: 'server', condition, action: { decision: 'deny' } };
  await seed.link('billing-bot-01', await seed.control('no-card-numbers', data));
}

/** Checks the types of a module in a folder of its own below `folder`, runs it, and returns what it prints. */
export async function runExample(
  folder: string,
  name: string,
  source: string,
  more: Record<string, unknown> = {},
): Promise<string> {
  const home = path.join(folder, name);
  await mkdir(home);
  await writeFile(path.join(home, 'example.ts'), source);
  const compilerOptions = { module: 'nodenext', target: 'es2023', strict: true, types: ['node'], ...more };
  await writeFile(
    path.join(home, 'tsconfig.json'),
    JSON.stringify({ compilerOptions, files: ['example.ts'] }),
  );
  await run(process.execPath, [path.join(ROOT, 'node_modules', 'typescript', 'bin', 'tsc'), '-p', home]);
  const { stdout, stderr } = await run(process.execPath, [path.join(home, 'example.js')]);
  expect(stderr).toBe('');
  return stdout;
}
