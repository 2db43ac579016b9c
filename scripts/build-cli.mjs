/** Bundles the command into packages/cli/dist, with a file for each command, so that it starts with what it needs only. */
import { readFile } from 'node:fs/promises';
import { join, resolve } from 'node:path';
import { rolldown } from 'rolldown';

const ROOT = resolve(import.meta.dirname, '..');
const PACKAGE = join(ROOT, 'packages', 'cli');
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
await bundle.write({
  dir: join(PACKAGE, 'dist'),
  format: 'esm',
  cleanDir: true,
  minify: false,
  entryFileNames: ({ name }) => (name === 'main' ? '[name].js' : '[name].mjs'),
  chunkFileNames: '[name]-[hash].js',
});
await bundle.close();
console.log(`command: built in ${((performance.now() - started) / 1000).toFixed(1)} s`);
