import type { Config } from '../../../contract/config/config.js';
import { demandPackage } from '../../../contract/config/demanded-package.js';
import { VERSION } from '../../../contract/runtime/package-root.js';
import type { FactsLog, RepeatLog } from '../../../contract/runtime/repeat-log.js';
import type { Database } from '../../../storage/database/database.js';
import { createLease } from '../../../storage/database/lease.js';
import type { EventTail } from '../store/event-tail.js';
import type { EventSink } from './event-sink.js';
import { figuresOf, type SinkMeter } from './sink-meter.js';
import { createSinkRunner, type SinkRunner } from './sink-runner.js';

/** Sinks over packages that the service can run without, with these packages. */
const LOADERS = {
  'kafka-producer': () => import('./kafka-sink.js'),
  'parquet-log': () => import('./parquet-sink.js'),
  's3-files': () => import('../../../../packages/s3-files/src/index.js'),
};

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
  /** For tests, which run without some packages. */
  readonly loaders?: Partial<typeof LOADERS>;
}

/** All configured sinks. */
export type EventSinks = Pick<SinkRunner, 'start' | 'close'>;

/** Loads and creates the sinks; what is not configured is not loaded. Rejects where the package of one is not installed. */
export async function createEventSinks(options: EventSinksOptions): Promise<EventSinks> {
  const { config, tail, database, log, failures, meter, now, monotonic } = options;
  const loaders = { ...LOADERS, ...options.loaders };

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
    const needed = { name: 'kafka-producer', load: loaders['kafka-producer'] };
    const { createKafkaSink } = await demandPackage('SERVICE_EVENT_KAFKA_BROKERS', needed);
    runners.push(runnerOf(createKafkaSink(config.kafka, source), config.kafka.from));
  }
  if (config.http !== null) {
    const { createHttpSink } = await import('./http-sink.js');
    runners.push(runnerOf(createHttpSink({ config: config.http, source, now }), config.http.from));
  }
  const { parquet } = config;
  if (parquet !== null) {
    const needed = { name: 'parquet-log', load: loaders['parquet-log'] };
    const { createParquetSink } = await demandPackage('SERVICE_EVENT_PARQUET', needed);
    // The sink takes it when it opens the bucket.
    if (parquet.place.kind !== 'folder')
      await demandPackage('SERVICE_EVENT_PARQUET', { name: 's3-files', load: loaders['s3-files'] });
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
