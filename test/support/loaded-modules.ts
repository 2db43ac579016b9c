import { readFile } from 'node:fs/promises';
import path from 'node:path';
import { fileURLToPath, pathToFileURL } from 'node:url';

const ROOT = path.resolve(import.meta.dirname, '../..');

/** The modules that the main thread of a process of the service has loaded. */
export interface LoadedModules {
  /** Variables for that process. */
  readonly environment: Record<string, string>;
  /** The first importer of each, `main.js` of the service without one; by paths as `shown`. */
  read(): Promise<Map<string, string>>;
}

/** For a process of the service in the folder of `main`. `file` is where it writes. */
export function watchModules(file: string, main: string): LoadedModules {
  const folder = path.dirname(path.dirname(main));
  /** `src/app/wiring/app.js` of the service, `node_modules/zod/index.js`, `packages/…` of the workspace. */
  const shown = (url: string): string => {
    const name = fileURLToPath(url);
    return path.relative(name.startsWith(folder) ? folder : ROOT, name).replaceAll(path.sep, '/');
  };
  return {
    environment: {
      LOADED_MODULES: file,
      NODE_OPTIONS: `--import ${pathToFileURL(path.join(import.meta.dirname, 'loaded-modules.mjs'))}`,
    },
    async read() {
      const importers = new Map<string, string>();
      for (const line of (await readFile(file, 'utf8')).split('\n')) {
        if (line === '') continue;
        const [url, importer] = JSON.parse(line) as [string, string];
        const name = shown(url);
        if (!importers.has(name)) importers.set(name, importer === '' ? 'main.js' : shown(importer));
      }
      return importers;
    },
  };
}

/** The package of a module; undefined for one of the service. Names of platforms are left out. */
export function packageOf(name: string): string | undefined {
  const found = /(?:.*\/)?node_modules\/((?:@[^/]+\/)?[^/]+)\//.exec(name)?.[1];
  if (found !== undefined) return found.replace(/^@libsql\/.*/, '@libsql/PLATFORM');
  return /^packages\/evaluator-[^/]+(?=\/dist)/.exec(name)?.[0];
}
