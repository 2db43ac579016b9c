import path from 'node:path';
import { pathToFileURL } from 'node:url';
import { rolldown } from 'rolldown';

/** Modules that processes and threads of tests begin with, below `src`. */
const ENTRIES = ['main', 'transport/event-reading/event-reader-thread', 'transport/heavy-steps/step-thread'];
/** They find files of their own, such as compiled code for this machine. */
const STAYING =
  /^(libsql|libpg-query|@guanmingchiu\/.+|@opentelemetry\/.+|pino|pino-pretty|thread-stream)($|\/)/;

/**
 * Puts the modules of a compiled service and of its packages into few files, as a copy: a process that
 * starts from 1,600 files takes 1.7 s of a core, from these 1.1 s, and the tests start hundreds. The modules of the copy
 * find what is beside the original ones. Returns its folder.
 */
export async function bundleService(folder: string): Promise<string> {
  const source = (name: string) => path.join(folder, 'src', `${name}.js`);
  const copy = `${folder}-bundled`;
  const bundle = await rolldown({
    input: Object.fromEntries(ENTRIES.map((name) => [name, source(name)])),
    platform: 'node',
    // As without a bundle, whatever a module does when it is loaded.
    treeshake: false,
    external: [STAYING],
    logLevel: 'silent',
    plugins: [{ name: 'original-places', transform: inOriginalPlace }],
  });
  await bundle.write({
    dir: copy,
    format: 'esm',
    entryFileNames: '[name].js',
    chunkFileNames: 'chunks/[name]-[hash].js',
  });
  await bundle.close();
  return copy;
}

function inOriginalPlace(code: string, file: string): string | null {
  if (!code.includes('import.meta.')) return null;
  return code
    .replaceAll('import.meta.url', JSON.stringify(String(pathToFileURL(file))))
    .replaceAll('import.meta.dirname', JSON.stringify(path.dirname(file)))
    .replaceAll('import.meta.filename', JSON.stringify(file));
}
