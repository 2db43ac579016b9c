import { link, mkdtemp, readdir, readFile, rename, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { afterEach, describe, expect, it } from 'vitest';
import { createFolderFiles } from '../src/index.js';
import { bytes, describeVersionedFiles, sha256 } from './versioned-files.js';

const folders: string[] = [];
afterEach(async () => {
  for (const folder of folders.splice(0)) await rm(folder, { recursive: true, force: true });
});

async function newFolder(): Promise<string> {
  const folder = await mkdtemp(path.join(tmpdir(), 'files-'));
  folders.push(folder);
  return path.join(folder, 'below', 'it');
}

describeVersionedFiles('a folder', async () => createFolderFiles(await newFolder()));

describe('a folder', () => {
  it('shows the last version after a crash that prevented it', async () => {
    const folder = await newFolder();
    const files = createFolderFiles(folder);
    await files.replace('m.json', bytes('one'), null);
    // As far as a process gets that is killed before it replaces the file.
    await writeFile(path.join(folder, '.m.json.v2.draft'), 'two');
    await link(path.join(folder, '.m.json.v2.draft'), path.join(folder, '.m.json.v2'));
    expect(await readFile(path.join(folder, 'm.json'), 'utf8')).toBe('one');
    expect(await createFolderFiles(folder).read('m.json')).toEqual({ bytes: bytes('two'), version: '2' });
    await createFolderFiles(folder).repair('m.json');
    expect(await readFile(path.join(folder, 'm.json'), 'utf8')).toBe('two');
    expect((await readdir(folder)).sort()).toEqual(['.m.json.v1', '.m.json.v2', 'm.json']);
  });

  it('keeps few versions, and goes on with a copy that has none of them', async () => {
    const folder = await newFolder();
    const files = createFolderFiles(folder);
    let version: string | null = null;
    for (let count = 1; count <= 40; count += 1)
      version = await files.replace('m.json', bytes(`${count}`), version);
    expect(await readdir(folder)).toHaveLength(17);
    const copy = await newFolder();
    await createFolderFiles(copy).write('x', bytes(''), sha256(bytes('')));
    await rename(path.join(folder, 'm.json'), path.join(copy, 'm.json'));
    const copied = createFolderFiles(copy);
    const found = await copied.read('m.json');
    expect(found?.bytes.toString()).toBe('40');
    await copied.replace('m.json', bytes('41'), found?.version ?? null);
    expect((await copied.read('m.json'))?.bytes.toString()).toBe('41');
  });
});
