import { memoryOf, type StoreClock } from './store/memory-store.js';

/** Deviation from the monotonic clock up to which the clock of the store is followed, in microseconds. */
export const JUMP_US = 500_000;
/** The same for each microsecond that has passed: clocks are slewed by less. */
export const DRIFT_SHARE = 0.01;
/** A process that has known the clock for less may have met it right after a jump. */
const CONFIRMED_US = 3_000_000;

/** The clock of the store was set: its offset is to be changed so that the time of the memory continues. */
export interface ClockJump {
  readonly offsetUs: number;
  /** Of the clock that the offset is for. */
  readonly version: number;
  /** By how much the clock of the store was set forward. */
  readonly jumpedUs: number;
}

/**
 * The time of the memory, as a process estimates it between exchanges with the store: the last known time and what a monotonic
 * clock has measured since. A clock of the store that is set, forward or back, does not move the time of the memory: the process
 * that notices has its offset changed. All times are microseconds; `monotonicUs` are of the process.
 *
 * What the clock of the store gains on the monotonic clock fills a bucket that drains by `DRIFT_SHARE` of the time (the
 * generic cell rate algorithm, ITU-T I.371): in no interval does the time of the memory pass faster by more than `JUMP_US` and
 * that share.
 */
export class MemoryClock {
  #known: StoreClock | null = null;
  /** Time of the memory minus the monotonic one. */
  #leadUs = 0;
  /** Gain of the clock of the store that was followed and has not drained; negative for a loss. */
  #gainUs = 0;
  #sampledAtUs = 0;
  #knownSinceUs = 0;

  /** The clock as the store told it last; null before the first time. */
  get known(): StoreClock | null {
    return this.#known;
  }

  /** The time of the memory; before the store told it, that of `fallbackUs`. */
  now(monotonicUs: number, fallbackUs: number): number {
    return this.#known === null ? Math.floor(fallbackUs) : Math.floor(monotonicUs + this.#leadUs);
  }

  /**
   * Follows what an exchange between `sentUs` and `receivedUs` told. Returns a jump to compensate with `setOffset`, after which
   * the result is to be passed to this again; null otherwise.
   */
  saw(clock: StoreClock, sentUs: number, receivedUs: number): ClockJump | null {
    const { known } = this;
    const memoryUs = clock.storeUs + clock.offsetUs;
    if (known === null || memoryOf(known.epoch) !== memoryOf(clock.epoch)) {
      this.#begin(clock, memoryUs, receivedUs);
      return null;
    }
    // The store told its time after the request was sent and before the reply came.
    const deviationUs =
      Math.min(0, memoryUs - (sentUs + this.#leadUs)) + Math.max(0, memoryUs - (receivedUs + this.#leadUs));
    const drained = DRIFT_SHARE * Math.max(0, receivedUs - this.#sampledAtUs);
    const gainUs = toZero(this.#gainUs, drained) + deviationUs;
    this.#sampledAtUs = receivedUs;
    if (Math.abs(gainUs) <= JUMP_US) {
      this.#known = clock;
      this.#leadUs += deviationUs;
      this.#gainUs = gainUs;
      return null;
    }
    const isConfirmed = receivedUs - this.#knownSinceUs >= CONFIRMED_US;
    // Another process has compensated a jump that this one has not seen from the beginning. Less time is safe in any case.
    if (clock.version !== known.version && (!isConfirmed || deviationUs < 0)) {
      this.#begin(clock, memoryUs, receivedUs);
      return null;
    }
    this.#gainUs = toZero(this.#gainUs, drained);
    return {
      offsetUs: Math.round(clock.offsetUs - deviationUs),
      version: clock.version,
      jumpedUs: deviationUs,
    };
  }

  #begin(clock: StoreClock, memoryUs: number, receivedUs: number): void {
    this.#known = clock;
    this.#leadUs = memoryUs - receivedUs;
    this.#gainUs = 0;
    this.#sampledAtUs = receivedUs;
    this.#knownSinceUs = receivedUs;
  }
}

function toZero(value: number, by: number): number {
  return Math.sign(value) * Math.max(0, Math.abs(value) - by);
}
