import { execFile } from 'node:child_process';
import { mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises';
import { join, resolve } from 'node:path';
import { pathToFileURL } from 'node:url';
import { promisify } from 'node:util';

const ROOT = resolve(import.meta.dirname, '../..');

/** The database layer as JavaScript, for processes of their own. */
export interface CompiledService {
  /** URL of the module that exports `openDatabase`. */
  readonly databaseModule: string;
  remove(): Promise<void>;
}

/** Compiles the database layer into a folder inside the package, from where it finds its packages and migrations. */
export async function compileDatabase(): Promise<CompiledService> {
  const cache = join(ROOT, 'node_modules', '.cache');
  await mkdir(cache, { recursive: true });
  const folder = await mkdtemp(join(cache, 'database-'));
  const configuration = {
    extends: join(ROOT, 'tsconfig.json'),
    compilerOptions: { noEmit: false, noCheck: true, outDir: folder, rootDir: ROOT, sourceMap: false },
    files: [join(ROOT, 'src', 'storage', 'database', 'database.ts')],
    include: [],
  };
  await writeFile(join(folder, 'tsconfig.json'), JSON.stringify(configuration));
  const compiler = join(ROOT, 'node_modules', 'typescript', 'bin', 'tsc');
  await promisify(execFile)(process.execPath, [compiler, '-p', folder]);
  await writeFile(join(folder, 'package.json'), JSON.stringify({ type: 'module' }));
  return {
    databaseModule: String(pathToFileURL(join(folder, 'src', 'storage', 'database', 'database.js'))),
    remove: () => rm(folder, { recursive: true, force: true }),
  };
}
