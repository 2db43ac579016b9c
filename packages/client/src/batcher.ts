import { Code, ConnectError } from '@connectrpc/connect';
import type { EvaluateStreamResult } from '../../../gen/proto/enforcement/v1/evaluation_service_pb.js';
import type { Carrier, CarrierEvents } from './carrier.js';
import {
  askedPauseMs,
  errorOfStatus,
  isDraining,
  isRefusal,
  isTransient,
  type Remedy,
  remedyFor,
} from './failures.js';
import { pauseMs } from './pause.js';
import type { Pending } from './pending.js';

/** Most bytes of steps in a shared message; larger steps are sent alone. The default limit is 8 MiB. */
const MAX_BATCH_BYTES = 1024 * 1024;
/** Most evaluations waiting to be sent, so that an unreachable service does not fill the client's memory. */
const MAX_WAITING = 65_536;
/** An evaluation involved in this many failures that it may have caused is sent alone. */
const MAX_SUSPICIONS = 2;

export interface BatcherOptions {
  readonly batchWindowMs: number;
  readonly maxBatch: number;
  readonly maxInFlight: number;
  /**
   * After connections were refused for this long, evaluations that are new then fail at the next refusal instead of
   * waiting for their time limit, in milliseconds.
   */
  readonly refusedAfterMs: number;
  /** Sends the batches. */
  readonly batches: (events: CarrierEvents) => Carrier;
  /** Sends single evaluations. */
  readonly single: (events: CarrierEvents) => Carrier;
  /** Reads the API key again; undefined when it cannot change. */
  readonly renewKey: (() => Promise<void>) | undefined;
}

/**
 * Collects evaluations into batches, bounds the number in flight, and resends lost ones.
 *
 * While nothing is in flight, evaluations requested in the same turn of the event loop are sent immediately;
 * otherwise they wait for others, at most for the window. So a single evaluation has no batching delay.
 */
export class Batcher {
  readonly #options: BatcherOptions;
  readonly #batches: Carrier;
  readonly #single: Carrier;
  /** In sending order. May contain settled ones. */
  #queue: Pending[] = [];
  /** Evaluations that individually pause before the next attempt. */
  readonly #pausing = new Map<Pending, ReturnType<typeof setTimeout>>();
  #inFlight = 0;
  #turnScheduled = false;
  #windowTimer: ReturnType<typeof setTimeout> | undefined;
  /** Set while nothing is sent at all, after a failed connection or call. */
  #pauseTimer: ReturnType<typeof setTimeout> | undefined;
  #failures = 0;
  #closed = false;
  /** Since when every connection was refused, in milliseconds of `performance.now()`, and the last error. */
  #refused: { readonly since: number; error: ConnectError } | undefined;

  constructor(options: BatcherOptions) {
    this.#options = options;
    const events: CarrierEvents = {
      answered: (batch, results) => this.#answered(batch, results),
      lost: (batches, error) => this.#lost(batches.flat(), error),
    };
    this.#batches = options.batches(events);
    this.#single = options.single(events);
  }

  add(pending: Pending): void {
    if (this.#queue.length >= MAX_WAITING) this.#queue = this.#queue.filter((one) => !one.settled);
    if (this.#queue.length >= MAX_WAITING) {
      pending.fail(new ConnectError(`${MAX_WAITING} evaluations wait already`, Code.Unavailable));
      return;
    }
    if (this.#pauseTimer !== undefined && this.#refused !== undefined && this.#isRefusedFor(pending)) {
      pending.fail(this.#refused.error);
      return;
    }
    this.#queue.push(pending);
    this.#schedule();
  }

  /** Whether connections were already refused for long when an evaluation began. */
  #isRefusedFor({ since }: Pending): boolean {
    return this.#refused !== undefined && since - this.#refused.since >= this.#options.refusedAfterMs;
  }

  /** Called when an evaluation is settled for any reason. */
  forget(pending: Pending): void {
    if (this.#pausing.size === 0) return;
    clearTimeout(this.#pausing.get(pending));
    this.#pausing.delete(pending);
  }

  /** Ends running batches. The evaluations themselves are settled by their creator. */
  close(): void {
    this.#closed = true;
    clearTimeout(this.#windowTimer);
    clearTimeout(this.#pauseTimer);
    for (const timer of this.#pausing.values()) clearTimeout(timer);
    this.#pausing.clear();
    this.#queue = [];
    this.#batches.close();
    this.#single.close();
  }

  #schedule(): void {
    if (this.#closed || this.#pauseTimer !== undefined) return;
    if (this.#queue.length >= this.#options.maxBatch) this.#send(false);
    if (this.#queue.length === 0) return;
    if (this.#inFlight > 0) {
      this.#windowTimer ??= setTimeout(() => {
        this.#windowTimer = undefined;
        this.#send(true);
      }, this.#options.batchWindowMs);
    } else if (!this.#turnScheduled) {
      this.#turnScheduled = true;
      queueMicrotask(() => {
        this.#turnScheduled = false;
        this.#send(true);
      });
    }
  }

  /** Sends what may be in flight: full batches, or all waiting evaluations. */
  #send(all: boolean): void {
    if (this.#closed || this.#pauseTimer !== undefined) return;
    const { maxBatch, maxInFlight } = this.#options;
    while (this.#queue.length >= (all ? 1 : maxBatch) && this.#inFlight < maxInFlight) {
      const batch = this.#take(Math.min(maxBatch, maxInFlight - this.#inFlight));
      const [first] = batch;
      if (first === undefined) continue;
      this.#inFlight += batch.length;
      (travelsAlone(first) ? this.#single : this.#batches).send(batch);
    }
  }

  /** The next batch; empty when those considered are settled. */
  #take(limit: number): Pending[] {
    const batch: Pending[] = [];
    let bytes = 0;
    let taken = 0;
    for (const pending of this.#queue) {
      if (batch.length >= limit) break;
      if (!pending.settled) {
        const isAlone = travelsAlone(pending);
        bytes += pending.bytes;
        if (batch.length > 0 && (isAlone || bytes > MAX_BATCH_BYTES)) break;
        batch.push(pending);
        if (isAlone) limit = 1;
      }
      taken += 1;
    }
    this.#queue.splice(0, taken);
    return batch;
  }

  #answered(batch: readonly Pending[], results: readonly EvaluateStreamResult[]): void {
    this.#inFlight -= batch.length;
    this.#failures = 0;
    this.#refused = undefined;
    batch.forEach((pending, index) => {
      const outcome = results[index]?.outcome;
      if (outcome?.case === 'verdict') pending.answer(outcome.value);
      else if (outcome?.case === 'error') this.#failed(pending, errorOfStatus(outcome.value));
      else pending.fail(new ConnectError('the reply has no result for this evaluation', Code.Internal));
    });
    this.#schedule();
  }

  /** Handles the individual status of one evaluation. */
  #failed(pending: Pending, error: ConnectError): void {
    if (pending.settled) return;
    if (!isTransient(error)) {
      pending.fail(error);
      return;
    }
    pending.note(error);
    const again = () => {
      this.#pausing.delete(pending);
      this.add(pending);
    };
    this.#pausing.set(pending, setTimeout(again, pauseMs(pending.attempts++, askedPauseMs(error))));
  }

  /** Handles the failure of a stream or a call with these evaluations. */
  #lost(batch: readonly Pending[], error: ConnectError): void {
    this.#inFlight -= batch.length;
    if (error.code === Code.Unauthenticated && this.#options.renewKey !== undefined) {
      void this.#renewKey(batch, error, this.#options.renewKey);
      return;
    }
    const remedy = remedyFor(error);
    if (!isRefusal(error)) this.#refused = undefined;
    else if (this.#refused === undefined) this.#refused = { since: performance.now(), error };
    else this.#refused.error = error;
    const again = batch.filter(
      (pending) => !pending.settled && this.#maySendAgain(pending, batch, remedy, error),
    );
    // They have waited longest.
    this.#queue.unshift(...again);
    const isPaused = remedy === 'again' || remedy === 'reconnect' || remedy === 'suspect';
    if (isPaused && !this.#continuesElsewhere(error)) this.#pause(askedPauseMs(error));
    else this.#schedule();
  }

  /** Whether the evaluations of a stream that ended can be sent over another at once: only for the first failure. */
  #continuesElsewhere(error: ConnectError): boolean {
    if (this.#failures > 0 || !(isDraining(error) || this.#batches.hasAnother)) return false;
    this.#failures += 1;
    return true;
  }

  /** The key was refused: each evaluation is sent once more, with the key as it is now. */
  async #renewKey(batch: readonly Pending[], error: ConnectError, renew: () => Promise<void>): Promise<void> {
    const again: Pending[] = [];
    for (const pending of batch) {
      if (pending.settled) continue;
      pending.note(error);
      if (pending.keyRenewed) pending.fail(error);
      else again.push(pending);
      pending.keyRenewed = true;
    }
    if (again.length > 0) {
      try {
        await renew();
      } catch (reason) {
        // The next stream reads the key, too; it reports why that is impossible.
        for (const pending of again) pending.note(ConnectError.from(reason));
      }
      if (this.#closed) return;
      this.#queue.unshift(...again);
    }
    this.#schedule();
  }

  #maySendAgain(pending: Pending, batch: readonly Pending[], remedy: Remedy, error: ConnectError): boolean {
    pending.note(error);
    if (remedy === 'again' && !this.#isRefusedFor(pending)) return true;
    if (remedy !== 'fail' && remedy !== 'again') {
      pending.suspicions += 1;
      const isLast = remedy === 'alone' ? batch.length === 1 : remedy === 'suspect' && pending.alone;
      pending.alone ||= remedy === 'alone' || pending.suspicions >= MAX_SUSPICIONS;
      if (!isLast) return true;
    }
    pending.fail(error);
    return false;
  }

  #pause(atLeastMs: number): void {
    if (this.#closed || this.#pauseTimer !== undefined) return;
    const over = () => {
      this.#pauseTimer = undefined;
      this.#send(true);
    };
    this.#pauseTimer = setTimeout(over, pauseMs(this.#failures++, atLeastMs));
  }
}

function travelsAlone(pending: Pending): boolean {
  return pending.alone || pending.headers !== undefined || pending.bytes > MAX_BATCH_BYTES;
}
