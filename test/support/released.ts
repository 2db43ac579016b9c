import { execFile } from 'node:child_process';
import { mkdir, mkdtemp, readFile, rm, symlink } from 'node:fs/promises';
import path from 'node:path';
import { promisify } from 'node:util';
import type { CompiledService } from './service-process.js';

const ROOT = path.resolve(import.meta.dirname, '../..');
const run = promisify(execFile);

/** The revision of the last landed release: the commit that set the version of prisma/landed.json. */
export async function landedRevision(): Promise<string> {
  const { version } = JSON.parse(await readFile(path.join(ROOT, 'prisma', 'landed.json'), 'utf8'));
  const words = ['log', '--format=%H', '--reverse', `-S"version": "${version}"`, '--', 'package.json'];
  const { stdout } = await run('git', words, { cwd: ROOT });
  const [first = ''] = stdout.split('\n');
  if (first === '') throw new Error(`the history of this clone has no version ${version}`);
  return first;
}

/**
 * A release of before, from the history of this clone, compiled below `dist`, from where it finds the packages of the
 * present one.
 */
export async function compileRevision(revision: string): Promise<CompiledService> {
  await mkdir(path.join(ROOT, 'dist'), { recursive: true });
  const folder = await mkdtemp(path.join(ROOT, 'dist', 'old-'));
  const archive = path.join(folder, 'sources.tar');
  await run('git', ['archive', `--output=${archive}`, revision], { cwd: ROOT });
  await run('tar', ['-xf', archive, '-C', folder]);
  await rm(archive);
  // Releases up to 7.7.0 know the command line of Prisma by its own name.
  await mkdir(path.join(folder, 'node_modules'));
  await symlink(path.join(ROOT, 'node_modules', 'prisma-cli'), path.join(folder, 'node_modules', 'prisma'));
  const node = (...words: string[]) => run(process.execPath, words, { cwd: folder });
  await node('scripts/generate-clients.mjs');
  const compiler = path.join(ROOT, 'node_modules', 'typescript', 'bin', 'tsc');
  await node(compiler, '-p', 'tsconfig.build.json', '--noCheck');
  return {
    main: path.join(folder, 'dist', 'src', 'main.js'),
    remove: () => rm(folder, { recursive: true, force: true }),
  };
}
