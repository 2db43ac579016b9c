import { execFile } from 'node:child_process';
import { mkdtemp, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { promisify } from 'node:util';

const ROOT = path.resolve(import.meta.dirname, '../..');
const run = promisify(execFile);

/** Packs packages of the repository and installs them in a new folder, with others. Returns the folder. */
export async function installPacked(
  names: readonly string[],
  others: readonly string[] = [],
): Promise<string> {
  const folder = await mkdtemp(path.join(tmpdir(), 'packages-'));
  const tarballs: string[] = [];
  for (const name of names) {
    const options = ['pack', '--silent', '--workspace', `packages/${name}`, '--pack-destination', folder];
    const { stdout } = await run('npm', options, { cwd: ROOT });
    tarballs.push(`./${stdout.trim().split('\n').at(-1)}`);
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
