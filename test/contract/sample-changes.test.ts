import { readFile } from 'node:fs/promises';
import path from 'node:path';
import { describe, expect, it } from 'vitest';
import { PACKAGE_ROOT } from '../../scripts/compose-schema.mjs';
import { SAMPLE_CHANGES } from './sample-changes.js';

// What they do is shown by changes-of-the-tree.system.test.ts, which a change of these files alone does not trigger.
describe.each(SAMPLE_CHANGES)('$name', ({ additions, maxFiles }) => {
  it.each(additions)('has its place in $file', async ({ file, below = '' }) => {
    expect(await readFile(path.join(PACKAGE_ROOT, file), 'utf8')).toContain(below);
  });
  it(`touches at most ${maxFiles} files`, () => {
    expect(new Set(additions.map(({ file }) => file)).size).toBeLessThanOrEqual(maxFiles);
  });
});
