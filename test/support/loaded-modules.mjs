/**
 * Imported before the service: writes each module that its main thread loads, and which module asked for it, to the file
 * that LOADED_MODULES names.
 */
import { appendFileSync } from 'node:fs';
import Module, { register } from 'node:module';
import { pathToFileURL } from 'node:url';
import { isMainThread } from 'node:worker_threads';

const file = process.env.LOADED_MODULES;
if (isMainThread && file !== undefined) {
  register('./loaded-modules-hook.mjs', import.meta.url, { data: { file } });
  // Hooks see what is imported. What those modules require goes through this function, on every version of Node.
  const resolveFilename = Module._resolveFilename;
  Module._resolveFilename = function resolve(request, parent, ...others) {
    const found = resolveFilename.call(this, request, parent, ...others);
    if (found.startsWith('/')) {
      const importer = parent?.filename ? pathToFileURL(parent.filename).href : '';
      appendFileSync(file, `${JSON.stringify([pathToFileURL(found).href, importer])}\n`);
    }
    return found;
  };
}
