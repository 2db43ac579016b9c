import { readFileSync } from 'node:fs';
import { findUp } from './package-root.js';

/** Version of this package, as in package.json. */
export const VERSION: string = (
  JSON.parse(readFileSync(findUp('package.json'), 'utf8')) as { version: string }
).version;
