import { readFileSync } from 'node:fs';

/** The version of the package, which is beside the folder that this module is compiled into. */
export const VERSION: string = JSON.parse(
  readFileSync(new URL('../package.json', import.meta.url), 'utf8'),
).version;
