import { mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { pathToFileURL } from 'node:url';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { loadOptionalPackage } from '../../../src/contract/runtime/optional-package.js';

let root: string;
beforeAll(async () => {
  root = await mkdtemp(path.join(tmpdir(), 'optional-package-'));
  const write = async (name: string, text: string) => {
    const folder = path.join(root, 'packages', name, 'src');
    await mkdir(folder, { recursive: true });
    await writeFile(path.join(folder, 'index.js'), text);
  };
  await writeFile(path.join(root, 'package.json'), '{"type":"module"}');
  await write('whole', 'export const answer = 42;');
  await write('torn', "export * from './absent.js';");
  await write('broken', "throw new Error('no disk');");
});
afterAll(() => rm(root, { recursive: true }));

/** What is warned of, beside the module. */
async function loaded(name: string) {
  const warnings: string[] = [];
  const url = pathToFileURL(path.join(root, 'packages', name, 'src', 'index.js')).href;
  const load = () => import(/* @vite-ignore */ url) as Promise<{ answer: number }>;
  const module = await loadOptionalPackage(
    { name, without: 'nothing is counted', load },
    { warn: (_facts, message) => warnings.push(message) },
  );
  return { answer: module?.answer, warnings };
}

describe('an optional package', () => {
  it('is loaded where it is installed', async () => {
    expect(await loaded('whole')).toEqual({ answer: 42, warnings: [] });
  });

  it('is told as missing where it is not', async () => {
    expect(await loaded('absent')).toEqual({
      answer: undefined,
      warnings: ['the package absent is not installed: nothing is counted'],
    });
  });

  it.each(['torn', 'broken'])('stops the start where it is installed and does not load: %s', async (name) => {
    await expect(loaded(name)).rejects.toThrow(`the package ${name} is installed but cannot be loaded`);
  });
});
