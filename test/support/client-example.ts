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
export async function seedClientExample(url: string, headers: Record<string, string> = {}): Promise<void> {
  const seed = seeder(restClient(url, headers));
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
  await compileExamples(folder, { [name]: source }, more);
  return runCompiled(folder, name);
}

/** Checks the types of modules, each in a folder of its own below `folder`, all at once. */
export async function compileExamples(
  folder: string,
  sources: Readonly<Record<string, string>>,
  more: Record<string, unknown> = {},
): Promise<void> {
  const names = Object.keys(sources);
  for (const name of names) {
    await mkdir(path.join(folder, name));
    await writeFile(path.join(folder, name, 'example.ts'), sources[name] ?? '');
  }
  const compilerOptions = { module: 'nodenext', target: 'es2023', strict: true, types: ['node'], ...more };
  const project = path.join(folder, `tsconfig.${names[0]}.json`);
  await writeFile(
    project,
    JSON.stringify({ compilerOptions, files: names.map((name) => `${name}/example.ts`) }),
  );
  await run(process.execPath, [path.join(ROOT, 'node_modules', 'typescript', 'bin', 'tsc'), '-p', project]);
}

/** Runs a compiled example, and returns what it prints. */
export async function runCompiled(folder: string, name: string): Promise<string> {
  const { stdout, stderr } = await run(process.execPath, [path.join(folder, name, 'example.js')]);
  expect(stderr).toBe('');
  return stdout;
}
