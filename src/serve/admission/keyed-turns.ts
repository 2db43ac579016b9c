import { CallTurns, Rotation } from './call-turns.js';
import { type Owner, PROCESS_CLOCK, type TurnClock } from './fair-turns.js';

export interface KeyedTurnsOptions {
  /** Calls started in one turn. */
  readonly perTurn: number;
  /** Calls that may wait. */
  readonly maxWaiting: number;
  /** Whether a call of this caller, whose request has so many bytes, waits behind those of others. */
  readonly isHeavy: (owner: Owner, bytes: number) => boolean;
  /** Calls back after the input that is ready now has been processed. */
  readonly endOfTurn?: (callback: () => void) => void;
  readonly clock?: Pick<TurnClock, 'now' | 'after'>;
}

/** Longest rest of a caller after a heavy call, in milliseconds. */
const MAX_REST_MS = 100;

/**
 * The turns of calls with a key other than evaluations. Large ones, and those of callers that sent or received many bytes
 * lately, are started one at a time, in rotation among these callers: after a turn without one of them, and when the
 * caller has rested as long as its one before took. So every other call, and every evaluation, waits for at most one of
 * them, and a caller takes at most half of the time with them.
 */
export class KeyedTurns {
  readonly #turns: CallTurns;
  readonly #options: KeyedTurnsOptions;
  readonly #endOfTurn: (callback: () => void) => void;
  readonly #heavy = new Rotation<Owner>();
  /** Heavy callers with a call that is not answered, or that rest after it. */
  readonly #busy = new Set<Owner>();
  #isResting = false;

  constructor(options: KeyedTurnsOptions) {
    const { perTurn, maxWaiting, endOfTurn } = options;
    this.#options = options;
    this.#endOfTurn = endOfTurn ?? ((callback) => void setImmediate(callback));
    this.#turns = new CallTurns({ perTurn, maxWaiting, endOfTurn });
  }

  get waiting(): number {
    return this.#turns.waiting + this.#heavy.size;
  }

  /**
   * Runs `run` now or in a later turn. Returns false, without running it, if too many calls wait. `run` receives what
   * must be called when the call is answered, or undefined if that does not matter.
   */
  enter(
    owner: Owner | undefined,
    bytes: number,
    run: (answered?: () => void) => void,
    isGone: () => boolean,
  ): boolean {
    if (owner === undefined || !this.#options.isHeavy(owner, bytes))
      return this.#turns.enter(() => run(), isGone);
    if (this.waiting >= this.#options.maxWaiting) return false;
    this.#heavy.add(owner, { run: () => run(this.#started(owner)), isGone });
    this.#goOn();
    return true;
  }

  /** Starts a waiting call of a heavy caller if there may be one now. */
  #goOn(): void {
    if (this.#isResting) return;
    const next = this.#heavy.take((owner) => this.#busy.has(owner));
    if (next === undefined) return;
    this.#rest();
    next.run();
  }

  /** Until the end of the next turn: the others get a turn without a heavy call. */
  #rest(): void {
    this.#isResting = true;
    this.#endOfTurn(() =>
      this.#endOfTurn(() => {
        this.#isResting = false;
        this.#goOn();
      }),
    );
  }

  #started(owner: Owner): () => void {
    this.#busy.add(owner);
    const { clock = PROCESS_CLOCK } = this.#options;
    const beganMs = clock.now();
    let isAnswered = false;
    return () => {
      if (isAnswered) return;
      isAnswered = true;
      clock.after(Math.min(clock.now() - beganMs, MAX_REST_MS), () => {
        this.#busy.delete(owner);
        this.#goOn();
      });
    };
  }
}
