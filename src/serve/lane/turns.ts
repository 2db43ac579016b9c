import type { Peer } from '../admission/peer.js';

/** An evaluation costs one unit, as do this many bytes. */
const BYTES_PER_UNIT = 2_048;
/**
 * Limit for one connection in one turn of the event loop: evaluations of one or a few milliseconds, after
 * which other connections get their turn.
 */
const UNITS_PER_TURN = 128;

/** A stream that is scheduled in turns. */
export interface TurnTaker {
  /** Sends the collected replies at the end of a turn. */
  flush(): void;
  /** Continues with deferred work. */
  resume(): void;
}

/** The turns of the streams of one connection. */
export class Turns {
  readonly #peer: Peer | undefined;
  #spent = 0;
  #isOpen = false;
  #unflushed: TurnTaker[] = [];
  #waiting: TurnTaker[] = [];

  constructor(peer?: Peer) {
    this.#peer = peer;
  }

  /** Whether the limit of this turn is not used up. */
  get mayGoOn(): boolean {
    return this.#spent < UNITS_PER_TURN && this.#peer?.owner.isHeldUp !== true;
  }

  spend(evaluations: number, bytes: number): void {
    // Counted as one call, because later work in this turn is charged to the connection as well.
    if (this.#spent === 0) this.#peer?.callStarted();
    this.#spent += evaluations + bytes / BYTES_PER_UNIT;
    this.#open();
  }

  /** Flushes a stream once at the end of the turn. */
  flushLater(stream: TurnTaker): void {
    this.#unflushed.push(stream);
    this.#open();
  }

  /** Resumes a stream in the next turn. */
  resumeLater(stream: TurnTaker): void {
    this.#waiting.push(stream);
    this.#open();
  }

  #open(): void {
    if (this.#isOpen) return;
    this.#isOpen = true;
    setImmediate(this.#end);
  }

  readonly #end = (): void => {
    this.#isOpen = false;
    this.#spent = 0;
    const unflushed = this.#unflushed;
    const waiting = this.#waiting;
    this.#unflushed = [];
    this.#waiting = [];
    for (const stream of unflushed) stream.flush();
    // Each of them checks whether the ones before it used up the turn, and waits again if so.
    for (const stream of waiting) stream.resume();
  };
}
