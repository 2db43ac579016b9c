/** Most marks of a lag: at one a second, of twenty minutes exactly, and of longer ones roughly. */
const MAX_MARKS = 1_200;
/** Shortest time between two marks, in milliseconds. */
const MARK_INTERVAL_MS = 1_000;

/** Counts of one sink, kept by its runner and read by the metrics. */
export interface SinkFigures {
  /** Whether this process delivers. The following two are only known then. */
  isRunning: boolean;
  /** Every event up to here is in the sink for good. */
  position: bigint;
  /** The end of the event log as last read. */
  head: bigint;
  /** Events taken by the sink since the start of the process. */
  delivered: number;
  failures: number;
  /** Those since something was delivered, or since another process delivers. */
  failuresInRow: number;
  /** Positions whose events may have been deleted because of their age before the sink took them. */
  missed: number;
  readonly lag: LagClock;
}

/** Figures by name of the sink. */
export type SinkMeter = Map<string, SinkFigures>;

/** The figures of a sink; created on first use. */
export function figuresOf(meter: SinkMeter, sink: string): SinkFigures {
  const known = meter.get(sink);
  if (known !== undefined) return known;
  const figures: SinkFigures = {
    isRunning: false,
    position: 0n,
    head: 0n,
    delivered: 0,
    failures: 0,
    failuresInRow: 0,
    missed: 0,
    lag: new LagClock(),
  };
  meter.set(sink, figures);
  return figures;
}

/** How long ago the oldest position that is not in the sink yet was first seen in the log. */
export class LagClock {
  /** Ends of the log with the time at which each was first seen, ascending. */
  #marks: { readonly head: bigint; readonly atMs: number }[] = [];

  /** `atMs` is of a monotonic clock. */
  saw(head: bigint, atMs: number): void {
    const last = this.#marks.at(-1);
    if (last !== undefined && (head <= last.head || atMs - last.atMs < MARK_INTERVAL_MS)) return;
    this.#marks.push({ head, atMs });
    // Every second one of a long lag is enough to tell how long it is.
    if (this.#marks.length > MAX_MARKS) this.#marks = this.#marks.filter((_, index) => index % 2 === 0);
  }

  delivered(position: bigint): void {
    const first = this.#marks.findIndex(({ head }) => head > position);
    this.#marks = first === -1 ? [] : this.#marks.slice(first);
  }

  clear(): void {
    this.#marks = [];
  }

  /** Milliseconds; 0 when everything seen is in the sink. */
  ageMs(atMs: number): number {
    const [first] = this.#marks;
    return first === undefined ? 0 : atMs - first.atMs;
  }
}
