/** Work that takes its turn. */
interface Waiting {
  readonly run: () => void;
  /** Whether its caller has gone away, so that it need not be done. */
  readonly isGone: () => boolean;
}

export interface CallTurnsOptions {
  /** Pieces of work that are started in one turn. */
  readonly perTurn: number;
  /** Pieces that may wait. */
  readonly maxWaiting: number;
  /** Whether anything may be started now. After it was false, `goOn` has to be called. */
  readonly mayStart?: () => boolean;
  /** Calls back after the input that is ready now was worked off. */
  readonly endOfTurn?: (callback: () => void) => void;
}

/**
 * Starts at most so many pieces of work in one turn of the event loop, so that what is more urgent gets its turn between
 * them, and drops what waits for callers that have gone away.
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

  /** Runs it now, or in a later turn. False when too many wait already: then it is not run. */
  enter(run: () => void, isGone: () => boolean): boolean {
    if (this.#waiting.length === 0 && this.#hasRoom) {
      this.#start(run);
      return true;
    }
    if (this.#waiting.length >= this.#maxWaiting) return false;
    this.#waiting.push({ run, isGone });
    return true;
  }

  /** Starts what waits, as far as it may. */
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
