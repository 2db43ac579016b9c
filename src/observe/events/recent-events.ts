import type { TailEvent } from './store/event-tail.js';

/** Consecutive events, without gaps after `after`. */
export interface EventRun {
  readonly events: readonly TailEvent[];
  /** All events up to here are included. */
  readonly upTo: bigint;
}

/** Size limits of the held events. */
export interface RecentLimits {
  readonly events: number;
  readonly octets: number;
}

/** The latest events, held once for all streams. Beyond the limits the oldest ones are evicted. */
export class RecentEvents {
  readonly #limits: RecentLimits;
  #events: TailEvent[] = [];
  /** Those before this index are evicted; the array is trimmed periodically. */
  #first = 0;
  #octets = 0;
  /** All events after this position are held. */
  #from: bigint;
  #upTo: bigint;

  constructor(position: bigint, limits: RecentLimits) {
    this.#limits = limits;
    this.#from = position;
    this.#upTo = position;
  }

  /** The position up to which events are known. */
  get upTo(): bigint {
    return this.#upTo;
  }

  /** Appends the events that follow. */
  append({ events, upTo }: EventRun): void {
    for (const event of events) {
      this.#events.push(event);
      this.#octets += event.octets;
    }
    this.#upTo = upTo;
    while (
      this.#events.length - this.#first > this.#limits.events ||
      (this.#octets > this.#limits.octets && this.#first < this.#events.length)
    ) {
      const gone = this.#events[this.#first] as TailEvent;
      this.#first += 1;
      this.#octets -= gone.octets;
      this.#from = gone.position;
    }
    if (this.#first * 2 > this.#events.length) {
      this.#events = this.#events.slice(this.#first);
      this.#first = 0;
    }
  }

  /** The events after a position that fit into the limits, at least one; undefined when some were evicted. */
  after(position: bigint, limits: RecentLimits): EventRun | undefined {
    if (position < this.#from) return undefined;
    const start = this.#indexAfter(position);
    let end = start;
    let octets = 0;
    while (end < this.#events.length && end - start < limits.events) {
      octets += (this.#events[end] as TailEvent).octets;
      if (octets > limits.octets && end > start) break;
      end += 1;
    }
    const isAll = end === this.#events.length;
    const upTo = isAll ? this.#upTo : (this.#events[end - 1] as TailEvent).position;
    return { events: this.#events.slice(start, end), upTo: upTo < position ? position : upTo };
  }

  #indexAfter(position: bigint): number {
    let low = this.#first;
    let high = this.#events.length;
    while (low < high) {
      const middle = (low + high) >> 1;
      if ((this.#events[middle] as TailEvent).position > position) high = middle;
      else low = middle + 1;
    }
    return low;
  }
}
