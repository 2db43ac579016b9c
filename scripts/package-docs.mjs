/** Copies pages of `docs/` into the folder `docs/` of the package that is packed, so that its archive contains them. */
import { copyFileSync, mkdirSync } from 'node:fs';
import { basename, join } from 'node:path';

const DOCS = join(import.meta.dirname, '..', 'docs');

mkdirSync('docs', { recursive: true });
for (const page of process.argv.slice(2))
  copyFileSync(join(DOCS, basename(page)), join('docs', basename(page)));
