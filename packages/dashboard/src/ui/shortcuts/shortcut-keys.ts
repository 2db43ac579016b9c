/** What is known of a pressed key. */
export interface PressedKey {
  readonly key: string;
  readonly ctrlKey: boolean;
  readonly metaKey: boolean;
  readonly altKey: boolean;
}

/** Letters after `g`, by the path of the page they lead to. */
export const GO_LETTERS: Readonly<Record<string, string>> = {
  '/': 'o',
  '/live': 'l',
  '/events': 'e',
  '/approvals': 'r',
  '/agents': 'a',
  '/coverage': 'f',
  '/controls': 'c',
  '/policies': 'p',
  '/packs': 's',
  '/templates': 't',
  '/evaluators': 'v',
  '/shadows': 'w',
  '/samples': 'm',
  '/limits': 'i',
  '/halts': 'h',
  '/playground': 'y',
  '/audit': 'u',
  '/keys': 'k',
  '/destinations': 'd',
  '/namespaces': 'n',
};

/** Time within which the second key of `g x` must follow. */
const SEQUENCE_MS = 1_500;
/** Keys that follow a key without a meaning sooner than this are those of a text that is typed. */
const TYPING_MS = 500;

/** Puts pressed keys together: single ones, and `g` with the letter of a page. */
export class KeySequence {
  #startedAt: number | undefined;
  #typedAt: number | undefined;

  /** The shortcut that is complete with this key, for example `j` or `g c`; undefined if there is none (yet). */
  press({ key, ctrlKey, metaKey, altKey }: PressedKey, nowMs: number): string | undefined {
    const startedAt = this.#startedAt;
    this.#startedAt = undefined;
    if (ctrlKey || metaKey || altKey) return undefined;
    if (this.#typedAt !== undefined && nowMs - this.#typedAt <= TYPING_MS) {
      this.#typedAt = nowMs;
      return undefined;
    }
    if (startedAt !== undefined && nowMs - startedAt <= SEQUENCE_MS) return `g ${key}`;
    if (key === 'g') {
      this.#startedAt = nowMs;
      return undefined;
    }
    return key;
  }

  /** The key that was pressed last means nothing: it may be the beginning of a text that has no field. */
  meantNothing({ key }: PressedKey, nowMs: number): void {
    if (key.length === 1) this.#typedAt = nowMs;
  }
}
