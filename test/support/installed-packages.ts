import { execFile } from 'node:child_process';
import { mkdtempSync } from 'node:fs';
import { copyFile, mkdir, mkdtemp, readdir, rename, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { promisify } from 'node:util';
import { COMPILED_FOLDER } from './service-process.js';

const ROOT = path.resolve(import.meta.dirname, '../..');
const run = promisify(execFile);

/** A folder for archives, which all workers of a test run share: packing compiles them. Removed after the run. */
const archives = path.join(
  process.env[COMPILED_FOLDER] ?? mkdtempSync(path.join(tmpdir(), 'packed-')),
  'archives',
);

/** The archive of a package, once it is packed. */
async function archiveOf(name: string): Promise<string | undefined> {
  const start = `control-enforcement-${name}-`;
  const file = (await readdir(archives)).find(
    (one) => one.startsWith(start) && /^\d/.test(one.slice(start.length)),
  );
  return file === undefined ? undefined : path.join(archives, file);
}

/** The archives of packages of the repository. Those that are missing are packed by one npm: each start takes a second. */
async function packed(names: readonly string[]): Promise<string[]> {
  await mkdir(archives, { recursive: true });
  const known = await Promise.all(names.map(archiveOf));
  const missing = names.filter((_, index) => known[index] === undefined);
  if (missing.length > 0) await pack(missing);
  return Promise.all(
    names.map(async (name) => {
      const archive = await archiveOf(name);
      if (archive === undefined) throw new Error(`npm pack made no archive of ${name}`);
      return archive;
    }),
  );
}

async function pack(names: readonly string[]): Promise<void> {
  const folder = await mkdtemp(path.join(archives, 'packing-'));
  const workspaces = names.flatMap((name) => ['--workspace', `packages/${name}`]);
  await run('npm', ['pack', '--silent', ...workspaces, '--pack-destination', folder], { cwd: ROOT });
  // Whole at once: another worker may look for it, or have packed it meanwhile.
  for (const file of await readdir(folder)) await rename(path.join(folder, file), path.join(archives, file));
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
