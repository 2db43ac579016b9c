import type { Peer } from '../admission/peer.js';

/** Cost of one evaluation, and bytes that cost as much. */
const BYTES_PER_UNIT = 2_048;
/**
 * What one connection may spend in one turn of the event loop: evaluations of a millisecond or a few, after which the
 * other connections get their turn.
 */
const UNITS_PER_TURN = 128;

/** A stream that takes its turns. */
export interface TurnTaker {
  /** The turn is over: sends what has gathered. */
  flush(): void;
  /** Goes on with what it put off. */
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

  /** Whether there is something left to be spent in this turn. */
  get mayGoOn(): boolean {
    return this.#spent < UNITS_PER_TURN && this.#peer?.owner.isHeldUp !== true;
  }

  spend(evaluations: number, bytes: number): void {
    // Counted as one call, because what follows in this turn is charged to the connection as well.
    if (this.#spent === 0) this.#peer?.callStarted();
    this.#spent += evaluations + bytes / BYTES_PER_UNIT;
    this.#open();
  }

  /** Has a stream flushed once at the end of the turn. */
  flushLater(stream: TurnTaker): void {
    this.#unflushed.push(stream);
    this.#open();
  }

  /** Has a stream resumed in the next turn. */
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
    // Each of them looks whether those before it left something, and waits again if not.
    for (const stream of waiting) stream.resume();
  };
}
