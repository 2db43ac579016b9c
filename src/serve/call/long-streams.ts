import type { ConnectError } from '@connectrpc/connect';
import { draining } from '../../contract/errors/draining.js';
import { toConnectError } from '../wire/error-status.js';
import type { DueTimes } from './due-times.js';

/** How long a stream must have been idle after its notice before it is ended, in milliseconds. */
export const IDLE_MS = 1_000;
/** Ages differ by up to this part of them, so that what began together does not end together. */
const JITTER = 0.1;

/** A stream of an RPC that lasts as long as its client wants. */
export interface LongStream {
  /** What it runs on: the HTTP/2 session, or the socket. */
  readonly connection: object | undefined;
  /** Tells the client that the stream ends within this time, in whole milliseconds. Absent if it cannot be told. */
  notify?(withinMs: number): void;
  /** Whether a message has arrived since the last call, or waits for its answer. */
  wasActive?(): boolean;
  /** Ends the stream. The status is the error. */
  end(reason: ConnectError): void;
}

/** Times in milliseconds; infinite for no limit. */
export interface StreamAges {
  readonly maxAgeMs: number;
  /** From the notice until the end. */
  readonly graceMs: number;
}

interface Entry {
  readonly stream: LongStream;
  cancelAge: () => void;
  /** When it ends at the latest; infinite until it is asked to. */
  endsAtMs: number;
  cancelEnd: () => void;
  cancelIdle: () => void;
}

/** An age with jitter: ±10 %. */
export function jittered(ageMs: number, random: () => number): number {
  return ageMs * (1 - JITTER + 2 * JITTER * random());
}

const nothing = (): void => {};

/**
 * The long streams of a process. A stream is asked to end when it or its connection has reached its maximum age, and
 * when the process shuts down: its client is told, if that is possible, and the stream ends as soon as it has been
 * idle for a moment, at the latest when the time is over.
 */
export class LongStreams {
  readonly #due: DueTimes;
  readonly #ages: StreamAges;
  readonly #random: () => number;
  readonly #entries = new Map<LongStream, Entry>();
  /** Connections that have reached their maximum age: a stream that was accepted before may begin after that. */
  readonly #left = new WeakSet<object>();
  /** When the process ends all streams; infinite while it does not shut down. */
  #drainsAtMs = Number.POSITIVE_INFINITY;

  constructor(due: DueTimes, ages: StreamAges, random: () => number = Math.random) {
    this.#due = due;
    this.#ages = ages;
    this.#random = random;
  }

  get size(): number {
    return this.#entries.size;
  }

  add(stream: LongStream): void {
    const entry: Entry = {
      stream,
      cancelAge: nothing,
      endsAtMs: Number.POSITIVE_INFINITY,
      cancelEnd: nothing,
      cancelIdle: nothing,
    };
    this.#entries.set(stream, entry);
    const { connection } = stream;
    if (this.#drainsAtMs !== Number.POSITIVE_INFINITY) this.#leave(entry, this.#drainsAtMs - this.#due.now());
    else if (connection !== undefined && this.#left.has(connection)) this.#leave(entry, this.#ages.graceMs);
    else {
      const ageMs = jittered(this.#ages.maxAgeMs, this.#random);
      entry.cancelAge = this.#due.after(ageMs, () => this.#leave(entry, this.#ages.graceMs));
    }
  }

  /** Must be called when the stream is over. May be called again. */
  remove(stream: LongStream): void {
    const entry = this.#entries.get(stream);
    if (entry === undefined) return;
    this.#entries.delete(stream);
    entry.cancelAge();
    entry.cancelEnd();
    entry.cancelIdle();
  }

  /** The process shuts down: every stream is asked to end within this time. */
  drain(withinMs: number): void {
    this.#drainsAtMs = this.#due.now() + withinMs;
    for (const entry of [...this.#entries.values()]) this.#leave(entry, withinMs);
  }

  /** A connection has reached its maximum age. */
  leaveConnection(connection: object): void {
    this.#left.add(connection);
    for (const entry of [...this.#entries.values()]) {
      if (entry.stream.connection === connection) this.#leave(entry, this.#ages.graceMs);
    }
  }

  #leave(entry: Entry, withinMs: number): void {
    const { stream } = entry;
    const isTold = stream.notify !== undefined;
    // A stream whose client cannot be told gets a moment to end by itself.
    const leftMs = Math.max(0, Math.round(isTold ? withinMs : Math.min(withinMs, IDLE_MS)));
    const endsAtMs = this.#due.now() + leftMs;
    if (endsAtMs >= entry.endsAtMs) return;
    entry.endsAtMs = endsAtMs;
    entry.cancelAge();
    entry.cancelEnd();
    entry.cancelEnd = this.#due.after(leftMs, () => this.#end(entry));
    if (!isTold) return;
    stream.notify?.(leftMs);
    entry.cancelIdle();
    stream.wasActive?.();
    this.#endWhenIdle(entry);
  }

  #endWhenIdle(entry: Entry): void {
    entry.cancelIdle = this.#due.after(IDLE_MS, () => {
      if (entry.stream.wasActive?.() === true) this.#endWhenIdle(entry);
      else this.#end(entry);
    });
  }

  #end(entry: Entry): void {
    this.remove(entry.stream);
    entry.stream.end(toConnectError(draining()));
  }
}
