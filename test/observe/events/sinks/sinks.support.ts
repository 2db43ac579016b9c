import type { EventSink, SinkSession, SinkStart } from '../../../../src/observe/events/sinks/event-sink.js';
import { figuresOf, type SinkFigures } from '../../../../src/observe/events/sinks/sink-meter.js';
import {
  createSinkRunner,
  type SinkRunner,
  type SinkTimes,
} from '../../../../src/observe/events/sinks/sink-runner.js';
import type { EventTail } from '../../../../src/observe/events/store/event-tail.js';
import type { Database } from '../../../../src/storage/database/database.js';
import { createLease } from '../../../../src/storage/database/lease.js';
import { keptFailures, type LoggedFailure } from '../../../support/failures.js';

/** Short pauses, so that tests wait for events and not for time. */
export const QUICK: SinkTimes = { idleMs: 5, standbyMs: 20, retryMs: 5, longestRetryMs: 20, closeMs: 30_000 };

/** A runner with what it counts and logs. */
export interface TestRunner extends SinkRunner {
  readonly figures: SinkFigures;
  readonly logged: LoggedFailure[];
}

/** Creates a runner as the service does, with an owner of its own, as if it were another process. */
export function testRunner(options: {
  readonly sink: EventSink;
  readonly database: Pick<Database, 'bulk'>;
  readonly tail: EventTail;
  readonly from?: SinkStart;
  readonly now?: () => number;
  readonly times?: Partial<SinkTimes>;
}): TestRunner {
  const { sink, database, tail, from = 'oldest', now = () => Date.now() } = options;
  const logged: LoggedFailure[] = [];
  const figures = figuresOf(new Map(), sink.name);
  const write = (facts: object, message: string) => void logged.push({ facts, message });
  const runner = createSinkRunner({
    sink,
    tail,
    lease: createLease({ bulk: database.bulk, name: sink.name, now }),
    from,
    figures,
    log: { info: write, warn: write },
    failures: keptFailures(logged),
    monotonic: () => performance.now(),
    times: { ...QUICK, ...options.times },
  });
  return { ...runner, figures, logged };
}

/** A sink that keeps the ids of events in memory: what survives the process that delivers. */
export class MemorySink implements EventSink {
  readonly name = 'memory';
  readonly ids: string[] = [];
  readonly rewinds: bigint[] = [];
  opened = 0;
  closed = 0;
  finished = 0;
  /** Called before events are taken; may wait, or fail. */
  before: (signal: AbortSignal) => Promise<void> | void = () => {};

  async open(stored: bigint | null, first: () => Promise<bigint>, signal: AbortSignal): Promise<SinkSession> {
    this.opened += 1;
    const sink = this;
    let durable = stored ?? (await first());
    return {
      start: durable,
      get durable() {
        return durable;
      },
      async take(events, upTo) {
        await sink.before(signal);
        sink.ids.push(...events.map(({ event }) => event.control_execution_id));
        durable = upTo;
      },
      rest: async () => {},
      async rewind(position) {
        sink.rewinds.push(position);
        durable = position;
      },
      async finish() {
        sink.finished += 1;
      },
      async close() {
        sink.closed += 1;
      },
    };
  }
}
