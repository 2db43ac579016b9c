import { waitFor } from '../data/retry.js';

/** A stream that can be held open, or opened for as long as it takes to catch up. */
export interface Slotted {
  hold(signal: AbortSignal): Promise<void>;
  visit(signal: AbortSignal): Promise<void>;
}

/** How many streams are open at the same time. */
export interface SlotLimits {
  readonly held: number;
  /** Time in which all streams without a slot of their own are visited once. */
  readonly roundMs: number;
}

/**
 * Over HTTP/1.1 a browser has six connections to a host, for all tabs together. Three streams are held open, all
 * others take turns on a fourth connection, and two connections are always free for other calls.
 */
export const SLOT_LIMITS: SlotLimits = { held: 3, roundMs: 1_000 };

/** Decides which streams are open, so that there are never more than the limit and one. */
export class StreamSlots<T extends Slotted> {
  readonly #held = new Map<T, AbortController>();
  /** In the order of their next turns. */
  readonly #waiting: T[] = [];
  #visited: { readonly stream: T; readonly stop: AbortController } | undefined;
  #turns: AbortController | undefined;

  constructor(private readonly limits: SlotLimits = SLOT_LIMITS) {}

  add(stream: T): void {
    if (this.#held.size < this.limits.held) {
      this.#hold(stream);
      return;
    }
    this.#waiting.push(stream);
    if (this.#turns === undefined) void this.#takeTurns();
  }

  /** Ends a stream. The one that has waited longest gets its slot. */
  remove(stream: T): void {
    this.#leave(stream);
    this.#held.get(stream)?.abort();
    if (!this.#held.delete(stream)) return;
    const next = this.#waiting[0];
    if (next === undefined) return;
    this.#leave(next);
    this.#hold(next);
  }

  #hold(stream: T): void {
    const stop = new AbortController();
    this.#held.set(stream, stop);
    void stream.hold(stop.signal);
  }

  #leave(stream: T): void {
    const at = this.#waiting.indexOf(stream);
    if (at === -1) return;
    this.#waiting.splice(at, 1);
    if (this.#visited?.stream === stream) this.#visited.stop.abort();
    if (this.#waiting.length === 0) this.#turns?.abort();
  }

  async #takeTurns(): Promise<void> {
    const turns = new AbortController();
    this.#turns = turns;
    while (!turns.signal.aborted) {
      const stream = this.#waiting.shift();
      if (stream === undefined) break;
      this.#waiting.push(stream);
      const stop = new AbortController();
      this.#visited = { stream, stop };
      await stream.visit(stop.signal);
      this.#visited = undefined;
      if (!turns.signal.aborted) await waitFor(this.limits.roundMs / this.#waiting.length, turns.signal);
    }
    this.#turns = undefined;
    if (this.#waiting.length > 0) void this.#takeTurns();
  }
}
