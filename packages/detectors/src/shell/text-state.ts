import type { SimpleCommand, Word } from '../../../shell-reader/src/index.js';
import { baseName } from './programs.js';

/** Most downloaded files that are remembered; beyond it, every file counts as downloaded. */
const MAX_DOWNLOADS = 1_000;

/** What programs of a text have fetched. */
export class Downloads {
  /** Position of the last program that fetches something; -1 for none. */
  lastAt = -1;
  readonly #files = new Set<string>();

  /** The arguments are those of a program that fetches. */
  add({ redirects, start }: SimpleCommand, args: readonly Word[]): void {
    this.lastAt = start;
    for (const { value } of args) {
      if (this.#files.size >= MAX_DOWNLOADS) break;
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
    return this.#files.size >= MAX_DOWNLOADS || this.#files.has(baseName(path));
  }
}

/** Most written files that are remembered. */
const MAX_WRITTEN = 100;

/** What commands of a text have written to files. */
export class WrittenFiles {
  readonly #texts = new Map<string, string>();

  add(path: string, text: string): void {
    if (this.#texts.size < MAX_WRITTEN) this.#texts.set(baseName(path), text);
  }

  /** The text of a file, which is forgotten: it is read once. */
  take(path: string): string | undefined {
    const name = baseName(path);
    const text = this.#texts.get(name);
    this.#texts.delete(name);
    return text;
  }
}

interface Open {
  readonly name: string;
  calls: number;
  /** Whether it calls itself in a pipeline, or runs something in the background. */
  multiplies: boolean;
}

/** Functions whose bodies are being read: whether they start themselves without end. */
export class FunctionCalls {
  readonly #open: Open[] = [];

  enter(name: string): void {
    this.#open.push({ name, calls: 0, multiplies: false });
  }

  call(name: string, piped: boolean): void {
    const inner = this.#open.at(-1);
    if (inner?.name !== name) return;
    inner.calls += 1;
    inner.multiplies ||= piped;
  }

  background(): void {
    const inner = this.#open.at(-1);
    if (inner !== undefined) inner.multiplies = true;
  }

  /** Leaves the innermost one. Returns its name, and whether it calls itself so that its processes multiply. */
  leave(): { readonly name: string; readonly forks: boolean } {
    const left = this.#open.pop();
    return { name: left?.name ?? '', forks: left !== undefined && left.calls > 0 && left.multiplies };
  }
}
