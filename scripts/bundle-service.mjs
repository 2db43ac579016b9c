/**
 * Bundles the modules of the compiled service, because loading some 800 files one by one is most of the work of a start.
 *
 * FOLDER/src/main.js then loads FOLDER/src/bundle/; the compiled modules stay beside it: threads and tests start from
 * them, and src/unbundled.js is the service without a bundle. Packages of npm stay what is installed, except those that
 * consist of many small modules and that no other package uses: two copies of zod would cost more than they save.
 *
 * node scripts/bundle-service.mjs [FOLDER]
 */
import { existsSync, readFileSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import { dirname, join, relative, sep } from 'node:path';
import { rolldown } from 'rolldown';

const ROOT = join(import.meta.dirname, '..');
const BUNDLED_PACKAGES = /^(?:@bufbuild\/protobuf|@connectrpc\/connect(?:-node|-fastify)?)(?:\/|$)/;
/** Evaluated before everything else, packages included, so they stay modules of their own. */
const FIRST = ['./process/demand-node.js', './process/harden.js'];
const MARK = '// Written by scripts/bundle-service.mjs';

/** Bundles the service that the compiler has written into a folder. */
export async function bundleService(folder) {
  const source = join(folder, 'src');
  const main = join(source, 'main.js');
  const entry = join(source, 'unbundled.js');
  const target = join(source, 'bundle');
  if (!readFileSync(main, 'utf8').startsWith(MARK)) renameSync(main, entry);
  else if (!existsSync(entry)) throw new Error(`${main} is bundled, and ${entry} is missing; compile first`);
  rmSync(target, { recursive: true, force: true });
  const bundle = await rolldown({
    input: { main: entry },
    platform: 'node',
    external: (id) => !/^[./]/.test(id) && !BUNDLED_PACKAGES.test(id),
    plugins: [withoutFirst(entry), ownAddresses(target)],
    onLog(level, log) {
      if (level === 'warn') throw new Error(`the service cannot be bundled: ${log.message}`);
    },
  });
  const { output } = await bundle.write({
    dir: target,
    format: 'esm',
    keepNames: true,
    entryFileNames: '[name].js',
    chunkFileNames: '[name]-[hash].js',
  });
  await bundle.close();
  // The entry waits for what it loads later; that must not wait for the entry.
  const circular = output.find((file) => file.type === 'chunk' && file.imports.includes('main.js'));
  if (circular !== undefined) throw new Error(`${circular.fileName} of the bundle imports its entry`);
  const imports = [...FIRST, './bundle/main.js'].map((name) => `import '${name}';\n`);
  writeFileSync(main, `${MARK}: loads what unbundled.js is, in fewer files.\n${imports.join('')}`);
}

/** The packages of a bundle are evaluated before its modules, so main.js imports some of these before it. */
function withoutFirst(entry) {
  return {
    name: 'without-first',
    transform(code, id) {
      if (id !== entry) return null;
      let rest = code;
      for (const name of FIRST) {
        const line = `import '${name}';\n`;
        if (!rest.startsWith(line)) throw new Error(`${id} does not begin with ${line}`);
        rest = rest.slice(line.length);
      }
      return rest;
    },
  };
}

/** Modules find files beside them, such as those of threads: in a bundle, each keeps the address of its own file. */
function ownAddresses(target) {
  return {
    name: 'own-addresses',
    transform(code, id) {
      if (!/\bimport\.meta\b/.test(code)) return null;
      if (!id.startsWith(dirname(dirname(target)) + sep)) return null;
      const address = (name) => JSON.stringify(relative(target, name).replaceAll(sep, '/'));
      const changed = code
        .replaceAll(/\bimport\.meta\.url\b/g, `new URL(${address(id)}, import.meta.url).href`)
        .replaceAll(
          /\bimport\.meta\.dirname\b/g,
          `pathOfAddress(new URL(${address(dirname(id))}, import.meta.url))`,
        );
      return changed.includes('pathOfAddress(')
        ? `import { fileURLToPath as pathOfAddress } from 'node:url';\n${changed}`
        : changed;
    },
  };
}

if (process.argv[1] === import.meta.filename) {
  await bundleService(process.argv[2] ?? join(ROOT, 'dist'));
}
