import type { SimpleCommand, Word } from '../../../../packages/shell-reader/src/index.js';
import { baseName } from './programs.js';

/** Most files that are remembered; beyond it, every file counts as downloaded. */
const MAX_FILES = 1_000;

/** What programs of a text have fetched. */
export class Downloads {
  /** Position of the last program that fetches something; -1 for none. */
  lastAt = -1;
  readonly #files = new Set<string>();

  /** The arguments are those of a program that fetches. */
  add({ redirects, start }: SimpleCommand, args: readonly Word[]): void {
    this.lastAt = start;
    for (const { value } of args) {
      if (this.#files.size >= MAX_FILES) break;
      // The value may stand in the same word: -ofile, --output=file.
      const file = value.startsWith('-') ? value.replace(/^-(?:-[a-z-]+=|[a-zA-Z])/, '') : value;
      if (file !== '') this.#files.add(baseName(file));
    }
    for (const { operator, target } of redirects) {
      if (operator.startsWith('>')) this.#files.add(baseName(target.value));
    }
  }

  /** Whether the file may be one of those. */
  has(path: string): boolean {
    return this.#files.size >= MAX_FILES || this.#files.has(baseName(path));
  }
}
