import { Counter, Gauge, type Registry } from 'prom-client';
import type { RefusalMeter } from '../../serve/admission/refusals.js';
import type { StreamNames } from '../../serve/routing/open-streams.js';
import type { Count, LabelledValues } from './labelled-values.js';

/** The metrics of calls and connections that are turned away. */
export function createRefusalMetrics(prefix: string, registers: Registry[]): RefusalMeter {
  const refusals = new Counter({
    name: `${prefix}_refused_calls_total`,
    help: 'Calls turned away, by the bound that was reached.',
    labelNames: ['reason'],
    registers,
  });
  const closed = new Counter({
    name: `${prefix}_closed_connections_total`,
    help: 'Connections that were not accepted or were cut off, by the bound that was reached.',
    labelNames: ['reason'],
    registers,
  });
  return {
    callRefused: (reason) => refusals.inc({ reason }),
    connectionClosed: (reason) => closed.inc({ reason }),
  };
}

/** Calls under way, and which of them are streams; null before that is known. */
interface CallsUnderWay {
  readonly rpcsInProgress: LabelledValues<Count>;
  readonly inProgress: LabelledValues<Count>;
  readonly streams: () => StreamNames | null;
}

/** Adds the number of open streams. */
export function addOpenStreams(
  prefix: string,
  registers: Registry[],
  { rpcsInProgress, inProgress, streams }: CallsUnderWay,
): void {
  new Gauge({
    name: `${prefix}_streams_open`,
    help: 'Calls under way that take a stream or answer with one, by method and protocol.',
    labelNames: ['rpc', 'protocol'],
    registers,
    // Derived from existing counts, so that calls have no extra cost.
    collect() {
      this.reset();
      const names = streams();
      if (names === null) return;
      for (const { labels, value } of rpcsInProgress.all) {
        if (names.isStream(labels.rpc ?? '')) this.inc(labels, value.value);
      }
      for (const { labels, value } of inProgress.all) {
        const rpc = names.streamOfRoute(labels.method ?? '', labels.path ?? '');
        if (rpc !== undefined) this.inc({ rpc, protocol: 'rest' }, value.value);
      }
    },
  });
}
