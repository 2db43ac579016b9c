import { LagClock, type SinkMeter } from '../events/sinks/sink-meter.js';
import { counted, durationText, ofSubjects, type Problem, type ProblemSubject } from './problem.js';

/** Lag from which on a sink is behind, in milliseconds. */
const BEHIND_MS = 5 * 60_000;

/** The sinks as this process delivers to them, and as their positions in the database tell. */
export interface SinkWatch {
  /** Notes the end of the log and the positions of the sinks. Times are of a monotonic clock. */
  saw(head: bigint, positions: ReadonlyMap<string, bigint | null>, atMs: number): void;
  problems(atMs: number): Problem[];
}

/** Watches the sinks of `meter`: those that the service is configured with. */
export function createSinkWatch(meter: SinkMeter): SinkWatch {
  const lags = new Map<string, LagClock>();
  return {
    saw(head, positions, atMs) {
      for (const name of meter.keys()) {
        const position = positions.get(name) ?? null;
        const lag = lags.get(name) ?? new LagClock();
        lags.set(name, lag);
        // Before its first event a sink has no position, and nothing is known of what it lacks.
        if (position === null) continue;
        lag.saw(head, atMs);
        lag.delivered(position);
      }
    },
    problems(atMs) {
      const failing = [...meter].flatMap(([name, { failuresInRow }]) =>
        failuresInRow > 0 ? [sink(name, `failed ${counted(failuresInRow, 'time')} in a row`)] : [],
      );
      const behind = [...lags].flatMap(([name, lag]) => {
        const ageMs = lag.ageMs(atMs);
        return ageMs > BEHIND_MS ? [sink(name, `events of ${durationText(ageMs / 1_000)} wait`)] : [];
      });
      return [
        ...ofSubjects('sink_failing', 'warning', failing, FAILING, FAILING_ADVICE),
        ...ofSubjects('sink_behind', 'warning', behind, BEHIND, BEHIND_ADVICE),
      ];
    },
  };
}

const sink = (name: string, detail: string): ProblemSubject => ({ type: 'sink', id: name, name, detail });

const FAILING = {
  one: (name: string) => `Events cannot be delivered to ${name}`,
  many: (count: number) => `Events cannot be delivered to ${counted(count, 'sink')}`,
};
const FAILING_ADVICE =
  'The last delivery of the process that was asked failed, and is tried again until it succeeds. Nothing is lost while events are kept; the log of the service names the cause.';
const BEHIND = {
  one: (name: string) => `${name} is behind with events`,
  many: (count: number) => `${counted(count, 'sink')} are behind with events`,
};
const BEHIND_ADVICE =
  'Events have waited for more than 5 minutes to be delivered. Those that are deleted because of their age before are missed.';
