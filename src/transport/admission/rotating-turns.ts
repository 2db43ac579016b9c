/** Work of a caller that waits for its turn. */
interface Waiting {
  readonly run: () => void;
  /** Whether its caller has disconnected, so that it can be dropped. */
  readonly isGone: () => boolean;
}

export interface RotatingTurnsOptions {
  /** Items started in one turn. */
  readonly perTurn: number;
  /** Items of one caller that may wait. */
  readonly maxWaiting: number;
  /** Calls back after the input that is ready now has been processed. */
  readonly endOfTurn?: (callback: () => void) => void;
}

/**
 * Starts a limited number of items in each turn of the event loop, in rotation among callers: one that sends many at
 * once delays its own.
 */
export class RotatingTurns {
  readonly #options: RotatingTurnsOptions;
  readonly #endOfTurn: (callback: () => void) => void;
  /** By caller, the one whose turn is next first. */
  readonly #waiting = new Map<object, Waiting[]>();
  #started = 0;
  #isOpen = false;

  constructor(options: RotatingTurnsOptions) {
    this.#options = options;
    this.#endOfTurn = options.endOfTurn ?? ((callback) => void setImmediate(callback));
  }

  /** Runs `run` now or in a later turn. Returns false, without running it, if too much of its caller waits. */
  enter(caller: object, run: () => void, isGone: () => boolean): boolean {
    if (this.#waiting.size === 0 && this.#started < this.#options.perTurn) {
      this.#start(run);
      return true;
    }
    const waiting = this.#waiting.get(caller);
    if (waiting === undefined) this.#waiting.set(caller, [{ run, isGone }]);
    else if (waiting.length >= this.#options.maxWaiting) return false;
    else waiting.push({ run, isGone });
    return true;
  }

  #start(run: () => void): void {
    this.#started += 1;
    if (!this.#isOpen) {
      this.#isOpen = true;
      this.#endOfTurn(this.#nextTurn);
    }
    run();
  }

  readonly #nextTurn = (): void => {
    this.#isOpen = false;
    this.#started = 0;
    while (this.#started < this.#options.perTurn) {
      const next = this.#next();
      if (next === undefined) return;
      this.#start(next.run);
    }
  };

  /** The next item whose caller is still there. */
  #next(): Waiting | undefined {
    for (const [caller, waiting] of this.#waiting) {
      const at = waiting.findIndex(({ isGone }) => !isGone());
      const next = waiting[at];
      this.#waiting.delete(caller);
      // At the end, after the other callers.
      if (next !== undefined && at + 1 < waiting.length) this.#waiting.set(caller, waiting.slice(at + 1));
      if (next !== undefined) return next;
    }
    return undefined;
  }
}
