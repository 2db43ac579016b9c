import { baseName } from './programs.js';

/** Most files that are remembered. */
const MAX_FILES = 100;

/** What commands of a text have written to files. */
export class WrittenFiles {
  readonly #texts = new Map<string, string>();

  add(path: string, text: string): void {
    if (this.#texts.size < MAX_FILES) this.#texts.set(baseName(path), text);
  }

  /** The text of a file, which is forgotten: it is read once. */
  take(path: string): string | undefined {
    const name = baseName(path);
    const text = this.#texts.get(name);
    this.#texts.delete(name);
    return text;
  }
}
