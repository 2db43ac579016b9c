import { spawnSync } from 'node:child_process';
import { cp, mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { afterEach, beforeEach, expect, it } from 'vitest';
import { findUp } from '../../../src/contract/runtime/package-root.js';

let folder: string;
beforeEach(async () => {
  folder = await mkdtemp(path.join(tmpdir(), 'before-start-'));
  await cp(findUp('scripts/before-start.mjs'), path.join(folder, 'scripts/before-start.mjs'));
});
afterEach(() => rm(folder, { recursive: true, force: true }));

const start = () =>
  spawnSync(process.execPath, [path.join(folder, 'scripts/before-start.mjs')], { encoding: 'utf8' });

it('a start without the packages that build, and without a build, ends with one line', () => {
  const { status, stdout, stderr } = start();
  expect([status, stdout]).toEqual([1, '']);
  expect(stderr.trim().split('\n')).toEqual([expect.stringContaining('run npm ci && npm run build')]);
});

it('a start without the packages that build starts what was built', async () => {
  await mkdir(path.join(folder, 'dist/src'), { recursive: true });
  await writeFile(path.join(folder, 'dist/src/main.js'), '');
  const { status, stdout, stderr } = start();
  expect([status, stdout, stderr]).toEqual([0, '', '']);
});

it('a start with them builds', async () => {
  for (const name of ['typescript', 'vite']) {
    expect(start().status).toBe(1);
    await mkdir(path.join(folder, 'node_modules', name), { recursive: true });
    await writeFile(path.join(folder, 'node_modules', name, 'package.json'), JSON.stringify({ name }));
  }
  const scripts = { build: 'echo built' };
  await writeFile(path.join(folder, 'package.json'), JSON.stringify({ name: 'built', scripts }));
  const { status, stdout } = start();
  expect([status, stdout.trim()]).toEqual([0, 'built']);
});
