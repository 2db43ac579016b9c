import { writeFile } from 'node:fs/promises';
import path from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { createTreeCopy, type TreeCopy } from '../support/tree-copy.js';
import { SAMPLE_CHANGES } from './sample-changes.js';

/**
 * A project of the service and the changed files, with what these import: all others together take as long again to
 * check, which test/long/changes-of-the-tree.long.ts does.
 */
async function programOfChanges({ scratch }: TreeCopy): Promise<string> {
  const changed = SAMPLE_CHANGES.flatMap(({ additions }) => additions.map(({ file }) => file));
  const sources = new Set(['src/main.ts', ...changed.filter((file) => file.endsWith('.ts'))]);
  const project = path.join(scratch, 'tsconfig.json');
  const files = [...sources].map((file) => path.join('tree', file));
  const typeRoots = ['tree/node_modules/@types'];
  const content = { extends: './tree/tsconfig.json', compilerOptions: { typeRoots }, include: [], files };
  await writeFile(project, JSON.stringify(content));
  return project;
}

// test/long/changes-of-the-tree.long.ts generates everything for these changes and runs the tests that derive from them.
describe('an RPC, a metric, a setting and an option of an evaluator', () => {
  let tree: TreeCopy;
  let original: Readonly<Record<string, string>>;
  beforeAll(async () => {
    tree = await createTreeCopy();
    original = await tree.hashes();
    for (const { additions } of SAMPLE_CHANGES) for (const addition of additions) await tree.add(addition);
  });
  afterAll(() => tree.remove());

  it.each(SAMPLE_CHANGES)('touch few files: $name at most $maxFiles', ({ additions, maxFiles }) => {
    expect(new Set(additions.map(({ file }) => file)).size).toBeLessThanOrEqual(maxFiles);
  });

  it('compile, and pass the checks of the proto', async () => {
    await tree.run('buf lint');
    await tree.run('buf generate');
    await tree.run(`tsc -p ${await programOfChanges(tree)}`);
  });

  it('leave nothing behind when they are taken away again', async () => {
    for (const { additions } of SAMPLE_CHANGES) for (const addition of additions) await tree.take(addition);
    await tree.run('buf generate');
    expect(await tree.hashes()).toEqual(original);
  });
});
