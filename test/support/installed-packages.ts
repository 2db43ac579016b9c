import { execFile } from 'node:child_process';
import { copyFile, mkdtemp, readdir, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { promisify } from 'node:util';
import { COMPILED_FOLDER } from './service-process.js';

const ROOT = path.resolve(import.meta.dirname, '../..');
const run = promisify(execFile);

/** The archives of packages that the files of this worker install: packing compiles them. */
const archives = new Map<string, Promise<string>>();

/** The archives of packages of the repository. Those that are missing are packed by one npm: each start of it takes a second. */
async function packed(names: readonly string[]): Promise<string[]> {
  const missing = names.filter((name) => !archives.has(name));
  if (missing.length > 0) {
    const packing = pack(missing);
    for (const name of missing) {
      const archive = packing.then((found) => found(name));
      archives.set(name, archive);
      // The next one tries again.
      archive.catch(() => archives.delete(name));
    }
  }
  return Promise.all(names.map(async (name) => (await archives.get(name)) ?? ''));
}

async function pack(names: readonly string[]): Promise<(name: string) => string> {
  // Removed with it after the test run.
  const folder = await mkdtemp(path.join(process.env[COMPILED_FOLDER] ?? tmpdir(), 'archives-'));
  const workspaces = names.flatMap((name) => ['--workspace', `packages/${name}`]);
  await run('npm', ['pack', '--silent', ...workspaces, '--pack-destination', folder], { cwd: ROOT });
  const files = await readdir(folder);
  return (name) => {
    const file = files.find((one) => /^\d/.test(one.replace(`control-enforcement-${name}-`, '')));
    if (file === undefined) throw new Error(`npm pack made no archive of ${name}: ${files.join(', ')}`);
    return path.join(folder, file);
  };
}

/** Packs packages of the repository and installs them in a new folder, with others. Returns the folder. */
export async function installPacked(
  names: readonly string[],
  others: readonly string[] = [],
): Promise<string> {
  const folder = await mkdtemp(path.join(tmpdir(), 'packages-'));
  const tarballs: string[] = [];
  for (const archive of await packed(names)) {
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
