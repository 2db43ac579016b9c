import type { Config } from '../../../contract/config/config.js';
import { VERSION } from '../../../contract/runtime/package-root.js';
import type { FactsLog, RepeatLog } from '../../../contract/runtime/repeat-log.js';
import type { Database } from '../../../storage/database/database.js';
import { createLease } from '../../../storage/database/lease.js';
import type { EventTail } from '../store/event-tail.js';
import type { EventSink } from './event-sink.js';
import { figuresOf, type SinkMeter } from './sink-meter.js';
import { createSinkRunner, type SinkRunner } from './sink-runner.js';

export interface EventSinksOptions {
  readonly config: Config['eventSinks'];
  readonly tail: EventTail;
  readonly database: Pick<Database, 'bulk' | 'instanceId'>;
  readonly log: FactsLog<'info' | 'warn'>;
  readonly failures: Pick<RepeatLog, 'failed' | 'told'>;
  readonly meter: SinkMeter;
  /** Milliseconds since 1970. */
  readonly now: () => number;
  /** Monotonic clock, in milliseconds. */
  readonly monotonic: () => number;
}

/** All configured sinks. */
export type EventSinks = Pick<SinkRunner, 'start' | 'close'>;

/** Loads and creates the sinks; what is not configured is not loaded. */
export async function createEventSinks(options: EventSinksOptions): Promise<EventSinks> {
  const { config, tail, database, log, failures, meter, now, monotonic } = options;

  function runnerOf(sink: EventSink, from: 'oldest' | 'now'): SinkRunner {
    return createSinkRunner({
      sink,
      tail,
      lease: createLease({ bulk: database.bulk, name: sink.name, now }),
      from,
      figures: figuresOf(meter, sink.name),
      log,
      failures,
      monotonic,
    });
  }

  const source = () => ({ instance: database.instanceId, version: VERSION });
  const runners: SinkRunner[] = [];
  if (config.kafka !== null) {
    const { createKafkaSink } = await import('./kafka-sink.js');
    runners.push(runnerOf(createKafkaSink(config.kafka, source), config.kafka.from));
  }
  if (config.http !== null) {
    const { createHttpSink } = await import('./http-sink.js');
    runners.push(runnerOf(createHttpSink({ config: config.http, source, now }), config.http.from));
  }
  const { parquet } = config;
  if (parquet !== null) {
    const { createParquetSink } = await import('./parquet-sink.js');
    const id = () => database.instanceId;
    runners.push(runnerOf(createParquetSink({ config: parquet, source: id, now }), parquet.from));
  }
  // A receiver of logs expects what happens; it keeps nothing for long.
  if (config.otlp !== null) {
    const { createOtlpSink } = await import('./otlp-sink.js');
    runners.push(runnerOf(createOtlpSink(config.otlp), 'now'));
  }
  return {
    start() {
      for (const runner of runners) runner.start();
    },
    async close() {
      await Promise.all(runners.map((runner) => runner.close()));
    },
  };
}
