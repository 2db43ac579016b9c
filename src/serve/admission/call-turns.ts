/** Work of a caller that waits for its turn. */
interface Waiting {
  readonly run: () => void;
  /** Whether its caller has disconnected, so that it can be dropped. */
  readonly isGone: () => boolean;
}

/** Waiting work, taken in rotation among callers: one that sends much at once delays its own. */
export class Rotation<Caller> {
  /** By caller, the one whose turn is next first. */
  readonly #waiting = new Map<Caller, Waiting[]>();
  #size = 0;

  get size(): number {
    return this.#size;
  }

  /** How much work of a caller waits. */
  sizeOf(caller: Caller): number {
    return this.#waiting.get(caller)?.length ?? 0;
  }

  add(caller: Caller, work: Waiting): void {
    const waiting = this.#waiting.get(caller);
    if (waiting === undefined) this.#waiting.set(caller, [work]);
    else waiting.push(work);
    this.#size += 1;
  }

  /** Takes the next work whose caller is still there, and not busy. */
  take(isBusy: (caller: Caller) => boolean = () => false): Waiting | undefined {
    for (const [caller, waiting] of this.#waiting) {
      if (isBusy(caller)) continue;
      let next: Waiting | undefined;
      do {
        next = waiting.shift();
        if (next !== undefined) this.#size -= 1;
      } while (next?.isGone() === true);
      this.#waiting.delete(caller);
      // At the end, after the other callers.
      if (waiting.length > 0) this.#waiting.set(caller, waiting);
      if (next !== undefined) return next;
    }
    return undefined;
  }
}

export interface CallTurnsOptions {
  /** Items started in one turn. */
  readonly perTurn: number;
  /** Items of one caller that may wait. */
  readonly maxWaiting: number;
  /** Whether anything may start now. After it returned false, `goOn` must be called. */
  readonly mayStart?: () => boolean;
  /** Calls back after the input that is ready now has been processed. */
  readonly endOfTurn?: ((callback: () => void) => void) | undefined;
}

/**
 * Starts a limited number of work items in each turn of the event loop, so that more urgent work can run
 * between them, in rotation among callers, and drops items whose callers have disconnected.
 */
export class CallTurns {
  readonly #perTurn: number;
  readonly #maxWaiting: number;
  readonly #mayStart: () => boolean;
  readonly #endOfTurn: (callback: () => void) => void;
  readonly #waiting = new Rotation<object | undefined>();
  #started = 0;
  #isOpen = false;

  constructor(options: CallTurnsOptions) {
    const { perTurn, maxWaiting, mayStart, endOfTurn } = options;
    this.#perTurn = perTurn;
    this.#maxWaiting = maxWaiting;
    this.#mayStart = mayStart ?? (() => true);
    this.#endOfTurn = endOfTurn ?? ((callback) => void setImmediate(callback));
  }

  get waiting(): number {
    return this.#waiting.size;
  }

  /**
   * Runs `run` now or in a later turn. Returns false, without running it, if too many items of its caller wait; those
   * without one have the same.
   */
  enter(run: () => void, isGone: () => boolean, caller?: object): boolean {
    if (this.#waiting.size === 0 && this.#hasRoom) {
      this.#start(run);
      return true;
    }
    if (this.#waiting.sizeOf(caller) >= this.#maxWaiting) return false;
    this.#waiting.add(caller, { run, isGone });
    return true;
  }

  /** Starts waiting items, as many as allowed. */
  goOn(): void {
    while (this.#hasRoom) {
      const next = this.#waiting.take();
      if (next === undefined) return;
      this.#start(next.run);
    }
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
