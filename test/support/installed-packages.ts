import { execFile } from 'node:child_process';
import { copyFile, mkdtemp, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { promisify } from 'node:util';
import { COMPILED_FOLDER } from './service-process.js';

const ROOT = path.resolve(import.meta.dirname, '../..');
const run = promisify(execFile);

/** The archives of packages that the files of this worker install: packing compiles them. */
const archives = new Map<string, Promise<string>>();

/** The archive of a package of the repository. */
function packed(name: string): Promise<string> {
  const known = archives.get(name);
  if (known !== undefined) return known;
  const packing = pack(name);
  archives.set(name, packing);
  // The next one tries again.
  packing.catch(() => archives.delete(name));
  return packing;
}

async function pack(name: string): Promise<string> {
  // Removed with it after the test run.
  const folder = await mkdtemp(path.join(process.env[COMPILED_FOLDER] ?? tmpdir(), 'archives-'));
  const options = ['pack', '--silent', '--workspace', `packages/${name}`, '--pack-destination', folder];
  const { stdout } = await run('npm', options, { cwd: ROOT });
  return path.join(folder, stdout.trim().split('\n').at(-1) ?? '');
}

/** Packs packages of the repository and installs them in a new folder, with others. Returns the folder. */
export async function installPacked(
  names: readonly string[],
  others: readonly string[] = [],
): Promise<string> {
  const folder = await mkdtemp(path.join(tmpdir(), 'packages-'));
  const tarballs: string[] = [];
  for (const name of names) {
    const archive = await packed(name);
    const file = path.basename(archive);
    await copyFile(archive, path.join(folder, file));
    tarballs.push(`./${file}`);
  }
  await writeFile(path.join(folder, 'package.json'), JSON.stringify({ private: true, type: 'module' }));
  const options = [
    'install',
    '--no-audit',
    '--no-fund',
    '--prefer-offline',
    '--silent',
    ...tarballs,
    ...others,
  ];
  await run('npm', options, { cwd: folder });
  return folder;
}
