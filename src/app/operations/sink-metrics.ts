import { Counter, Gauge, type Registry } from 'prom-client';
import type { SinkFigures, SinkMeter } from '../../observe/events/sinks/sink-meter.js';

/** Metrics of event sinks. Returns their meter; all values are read from it on each scrape. */
export function createSinkMetrics(prefix: string, registers: Registry[]): SinkMeter {
  const meter: SinkMeter = new Map();
  const options = (name: string, help: string) => ({
    name: `${prefix}_event_sink_${name}`,
    help,
    labelNames: ['sink'],
    registers,
  });

  function gauge(name: string, help: string, read: (figures: SinkFigures) => number): void {
    new Gauge({
      ...options(name, help),
      aggregator: 'max',
      collect() {
        this.reset();
        // The values of a process that has handed a sink over are out of date.
        for (const [sink, figures] of meter) if (figures.isRunning) this.set({ sink }, read(figures));
      },
    });
  }
  function counter(name: string, help: string, read: (figures: SinkFigures) => number): void {
    new Counter({
      ...options(name, help),
      collect() {
        this.reset();
        for (const [sink, figures] of meter) this.inc({ sink }, read(figures));
      },
    });
  }

  new Gauge({
    ...options('running', 'Whether this process delivers to the sink; of several processes one does.'),
    aggregator: 'sum',
    collect() {
      for (const [sink, { isRunning }] of meter) this.set({ sink }, isRunning ? 1 : 0);
    },
  });
  gauge('position', 'Position in the event log up to which every event is in the sink for good.', (figures) =>
    Number(figures.position),
  );
  gauge('lag_events', 'Positions of the event log that are not in the sink for good.', ({ head, position }) =>
    Number(head - position),
  );
  gauge(
    'lag_seconds',
    'Time since the first event that is not in the sink for good was seen in the log, at most since this process delivers.',
    ({ lag }) => lag.ageMs(performance.now()) / 1000,
  );
  counter(
    'delivered_events_total',
    'Events that the sink took; those that were sent again after a failure count again.',
    ({ delivered }) => delivered,
  );
  counter('failures_total', 'Failed deliveries, each of which is tried again.', ({ failures }) => failures);
  counter(
    'missed_events_total',
    'Positions whose events were deleted because of their age before the sink took them; a few may never have had one.',
    ({ missed }) => missed,
  );
  return meter;
}
