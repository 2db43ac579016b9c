/** Work waiting for its turn. */
interface Waiting {
  readonly run: () => void;
  /** Whether its caller has disconnected, so that it can be dropped. */
  readonly isGone: () => boolean;
}

export interface CallTurnsOptions {
  /** Items started in one turn. */
  readonly perTurn: number;
  /** Items that may wait. */
  readonly maxWaiting: number;
  /** Whether anything may start now. After it returned false, `goOn` must be called. */
  readonly mayStart?: () => boolean;
  /** Calls back after the input that is ready now has been processed. */
  readonly endOfTurn?: (callback: () => void) => void;
}

/**
 * Starts a limited number of work items in each turn of the event loop, so that more urgent work can run
 * between them, and drops items whose callers have disconnected.
 */
export class CallTurns {
  readonly #perTurn: number;
  readonly #maxWaiting: number;
  readonly #mayStart: () => boolean;
  readonly #endOfTurn: (callback: () => void) => void;
  #started = 0;
  #isOpen = false;
  #waiting: Waiting[] = [];

  constructor(options: CallTurnsOptions) {
    const { perTurn, maxWaiting, mayStart, endOfTurn } = options;
    this.#perTurn = perTurn;
    this.#maxWaiting = maxWaiting;
    this.#mayStart = mayStart ?? (() => true);
    this.#endOfTurn = endOfTurn ?? ((callback) => void setImmediate(callback));
  }

  get waiting(): number {
    return this.#waiting.length;
  }

  /** Runs `run` now or in a later turn. Returns false, without running it, if too many items wait. */
  enter(run: () => void, isGone: () => boolean): boolean {
    if (this.#waiting.length === 0 && this.#hasRoom) {
      this.#start(run);
      return true;
    }
    if (this.#waiting.length >= this.#maxWaiting) return false;
    this.#waiting.push({ run, isGone });
    return true;
  }

  /** Starts waiting items, as many as allowed. */
  goOn(): void {
    const waiting = this.#waiting;
    let taken = 0;
    while (taken < waiting.length && this.#hasRoom) {
      const next = waiting[taken] as Waiting;
      taken += 1;
      if (!next.isGone()) this.#start(next.run);
    }
    if (taken > 0) this.#waiting = this.#waiting.slice(taken);
  }

  get #hasRoom(): boolean {
    return this.#started < this.#perTurn && this.#mayStart();
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
    this.goOn();
  };
}
