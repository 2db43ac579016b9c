/** Builds the dashboard into packages/dashboard/dist, unless it is already built from the same files. */
import { createHash } from 'node:crypto';
import { chmod, mkdir, mkdtemp, readdir, readFile, rename, rm, writeFile } from 'node:fs/promises';
import { join, resolve } from 'node:path';
import { promisify } from 'node:util';
import { brotliCompress, constants, gzip } from 'node:zlib';

const ROOT = resolve(import.meta.dirname, '..');
const PACKAGE = join(ROOT, 'packages', 'dashboard');
const OUTPUT = join(PACKAGE, 'dist');
/** File in the output that identifies what it was built from. */
const SOURCES = 'sources.sha256';
/** Everything that the output depends on. */
const INPUTS = [
  'packages/dashboard/src',
  'packages/dashboard/index.html',
  'packages/dashboard/vite.config.ts',
  'packages/dashboard/package.json',
  'gen/proto',
  'package-lock.json',
  'scripts/build-dashboard.mjs',
];

/** @returns {Promise<boolean>} whether it had to be built */
async function buildDashboard() {
  const sources = await hashOf(INPUTS);
  const built = await readFile(join(OUTPUT, SOURCES), 'utf8').catch(() => '');
  if (built === sources) return false;
  await mkdir(join(ROOT, 'dist'), { recursive: true });
  const folder = await mkdtemp(join(ROOT, 'dist', 'dashboard-'));
  try {
    const { build } = await import('vite');
    await build({
      root: PACKAGE,
      configFile: join(PACKAGE, 'vite.config.ts'),
      logLevel: 'warn',
      build: { outDir: folder, emptyOutDir: true },
    });
    await compressFiles(join(folder, 'assets'));
    await writeFile(join(folder, SOURCES), sources);
    // Readable for others, unlike temporary folders.
    await chmod(folder, 0o755);
    await rm(OUTPUT, { recursive: true, force: true });
    await rename(folder, OUTPUT);
  } finally {
    await rm(folder, { recursive: true, force: true });
  }
  return true;
}

/** @param {readonly string[]} inputs */
async function hashOf(inputs) {
  const hash = createHash('sha256');
  for (const input of inputs) {
    for (const file of await filesIn(join(ROOT, input))) {
      hash.update(file.slice(ROOT.length)).update('\0');
      hash.update(await readFile(file)).update('\0');
    }
  }
  return hash.digest('hex');
}

/**
 * @param {string} place
 * @returns {Promise<string[]>}
 */
async function filesIn(place) {
  const entries = await readdir(place, { recursive: true, withFileTypes: true }).catch(() => undefined);
  if (entries === undefined) return [place];
  return entries
    .filter((entry) => entry.isFile())
    .map((entry) => join(entry.parentPath, entry.name))
    .sort();
}

/**
 * Writes a gzip and a brotli form beside each file, which the server sends to browsers that accept it.
 * @param {string} folder
 */
async function compressFiles(folder) {
  for (const file of await filesIn(folder)) {
    const content = await readFile(file);
    const options = { params: { [constants.BROTLI_PARAM_QUALITY]: 9 } };
    await writeFile(`${file}.gz`, await promisify(gzip)(content, { level: 9 }));
    await writeFile(`${file}.br`, await promisify(brotliCompress)(content, options));
  }
}

// Test runners set it to other values, with which React is built for development.
process.env.NODE_ENV = 'production';
const started = performance.now();
const isNew = await buildDashboard();
const seconds = ((performance.now() - started) / 1000).toFixed(1);
console.log(isNew ? `dashboard: built in ${seconds} s` : 'dashboard: up to date');
