import { execFile } from 'node:child_process';
import { createHash } from 'node:crypto';
import { cp, mkdir, mkdtemp, readFile, realpath, rm, symlink, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { promisify } from 'node:util';

const ROOT = path.resolve(import.meta.dirname, '../..');
/** Installed or generated from what a change does not touch: shared with the original. */
const SHARED = ['node_modules', 'gen/prisma'];
/** Without the global setups, which build what the tests of a change do not need. */
export const TREE_CONFIG = 'test/support/tree.vitest.config.ts';

/** A text that is added to a file, below a text that occurs in it: at the beginning with an empty one, at the end without one. */
export interface Addition {
  readonly file: string;
  readonly below?: string;
  readonly text: string;
}

/** A copy of the working tree in a folder of its own. */
export interface TreeCopy {
  /** A folder beside it, which is removed with it. */
  readonly scratch: string;
  add(addition: Addition): Promise<void>;
  /** Takes an addition away. */
  take(addition: Addition): Promise<void>;
  /** Runs a line of a shell, as npm runs scripts. Rejects with all that was printed. */
  run(command: string): Promise<void>;
  /** A hash of every file, generated ones included. */
  hashes(): Promise<Readonly<Record<string, string>>>;
  remove(): Promise<void>;
}

/** Every file of a folder that is committed or would be. */
async function filesOf(folder: string): Promise<string[]> {
  const list = ['ls-files', '--cached', '--others', '--exclude-standard', '-z'];
  const { stdout } = await promisify(execFile)('git', list, { cwd: folder, maxBuffer: 64 * 1024 * 1024 });
  return [...new Set(stdout.split('\0').filter((file) => file !== ''))];
}

export async function createTreeCopy(): Promise<TreeCopy> {
  const root = path.join(await realpath(await mkdtemp(path.join(tmpdir(), 'tree-copy-'))), 'tree');
  const copies = (await filesOf(ROOT)).map(async (file) => {
    try {
      await cp(path.join(ROOT, file), path.join(root, file));
    } catch (error) {
      // Listed, but deleted in the working tree.
      if ((error as NodeJS.ErrnoException).code !== 'ENOENT') throw error;
    }
  });
  await Promise.all(copies);
  for (const shared of SHARED) {
    await mkdir(path.dirname(path.join(root, shared)), { recursive: true });
    await symlink(path.join(ROOT, shared), path.join(root, shared));
  }
  await promisify(execFile)('git', ['init', '--quiet'], { cwd: root });
  const change = async (file: string, changed: (text: string) => string | undefined): Promise<void> => {
    const text = changed(await readFile(path.join(root, file), 'utf8'));
    if (text === undefined) throw new Error(`${file} no longer has the place of a sample change`);
    await writeFile(path.join(root, file), text);
  };
  return {
    scratch: path.dirname(root),
    add: ({ file, below, text }) =>
      change(file, (old) => {
        if (below === undefined) return old + text;
        const at = old.indexOf(below);
        return at === -1 ? undefined : old.slice(0, at + below.length) + text + old.slice(at + below.length);
      }),
    take: ({ file, text }) =>
      change(file, (old) => {
        const [before, after, ...more] = old.split(text);
        return before === undefined || after === undefined || more.length > 0 ? undefined : before + after;
      }),
    async run(command) {
      const others = Object.entries(process.env).filter(
        ([name]) => !/^(?:VITEST|TEST$|NODE_ENV$)/.test(name),
      );
      const env = {
        ...Object.fromEntries(others),
        PATH: `${path.join(root, 'node_modules', '.bin')}${path.delimiter}${process.env.PATH}`,
      };
      const limits = { maxBuffer: 64 * 1024 * 1024 };
      await promisify(execFile)('sh', ['-c', command], { cwd: root, env, ...limits }).catch(
        (error: unknown) => {
          const { stdout, stderr } = error as { stdout: string; stderr: string };
          throw new Error(`${command}\n${stdout}\n${stderr}`);
        },
      );
    },
    async hashes() {
      const hashes = (await filesOf(root)).map(async (file): Promise<[string, string]> => {
        const content = await readFile(path.join(root, file));
        return [file, createHash('sha256').update(content).digest('hex')];
      });
      return Object.fromEntries(await Promise.all(hashes));
    },
    remove: () => rm(path.dirname(root), { recursive: true, force: true }),
  };
}
