import { existsSync, readFileSync } from 'node:fs';
import path from 'node:path';

/** Path of a file of this package, running from `src` or from `dist/src`. */
export function findUp(relative: string): string {
  let directory = import.meta.dirname;
  for (;;) {
    const candidate = path.join(directory, relative);
    if (existsSync(candidate)) return candidate;
    const parent = path.dirname(directory);
    if (parent === directory) throw new Error(`${relative} does not exist above ${import.meta.dirname}`);
    directory = parent;
  }
}

/** Version of this package, as in package.json. */
export const VERSION: string = (
  JSON.parse(readFileSync(findUp('package.json'), 'utf8')) as { version: string }
).version;

/** Path of a file or folder in the root of this package. */
export function inPackage(relative: string): string {
  return path.join(path.dirname(findUp('package.json')), relative);
}
