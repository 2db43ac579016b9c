/** Bundles the command into packages/cli/dist, with a file for each command or group of commands, so that it starts with what it needs only. */
import { mkdir, readdir, readFile, rename, rm, writeFile } from 'node:fs/promises';
import { join, resolve } from 'node:path';
import { rolldown } from 'rolldown';

const ROOT = resolve(import.meta.dirname, '..');
const PACKAGE = join(ROOT, 'packages', 'cli');
const DIST = join(PACKAGE, 'dist');
const { dependencies } = JSON.parse(await readFile(join(PACKAGE, 'package.json'), 'utf8'));

const started = performance.now();
const bundle = await rolldown({
  cwd: ROOT,
  input: {
    main: 'packages/cli/src/main.ts',
    // Started by its address, which is that of a file beside the one that starts it.
    'parser-worker': 'packages/sql-reader/src/parser-worker.mjs',
  },
  platform: 'node',
  // Installed beside the bundle; everything else is in it.
  external: (name) => Object.keys(dependencies).some((own) => name === own || name.startsWith(`${own}/`)),
  resolve: { extensionAlias: { '.js': ['.ts', '.js'] } },
  // Modules of the repository do nothing when they are loaded, so those of which nothing is used are left out.
  treeshake: { moduleSideEffects: [{ test: /[\\/](?:src|gen)[\\/](?!main\.ts)/, sideEffects: false }] },
  logLevel: 'warn',
});
const { output } = await bundle.generate({
  format: 'esm',
  minify: false,
  entryFileNames: ({ name }) => (name === 'main' ? '[name].js' : '[name].mjs'),
  chunkFileNames: '[name]-[hash].js',
});
await bundle.close();
// Each file is replaced whole, and only if it differs: packing builds again while tests run the command.
await mkdir(DIST, { recursive: true });
for (const file of output) {
  const text = file.type === 'chunk' ? file.code : file.source;
  const target = join(DIST, file.fileName);
  if ((await readFile(target, 'utf8').catch(() => undefined)) === text) continue;
  await writeFile(`${target}.${process.pid}`, text);
  await rename(`${target}.${process.pid}`, target);
}
const names = new Set(output.map(({ fileName }) => fileName));
for (const name of await readdir(DIST)) if (!names.has(name)) await rm(join(DIST, name), { force: true });
console.log(`command: built in ${((performance.now() - started) / 1000).toFixed(1)} s`);
