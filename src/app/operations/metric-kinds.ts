import { type Aggregator, Counter, Gauge, type Registry } from 'prom-client';
import { type Count, LabelledHistogram, LabelledValues, newCount, Observations } from './labelled-values.js';

/** Creates metrics with numeric values, which are read on each scrape. Names get the prefix. */
export interface MetricKinds {
  /** A current value. `aggregator` combines those of several processes: sum, worst, or the common value. */
  gauge(name: string, help: string, aggregator: Aggregator, read: () => number): void;
  /** A count that is kept elsewhere. */
  counter(name: string, help: string, read: () => number): void;
  /** Counts by labels. */
  counts(name: string, help: string, labelNames: string[]): LabelledValues<Count>;
  /** Current values by labels, added up over processes. */
  levels(name: string, help: string, labelNames: string[]): LabelledValues<Count>;
  /** Durations in seconds by labels, in buckets with these upper bounds. */
  durations(
    name: string,
    help: string,
    labelNames: string[],
    buckets: readonly number[],
  ): LabelledValues<Observations>;
}

export function createMetricKinds(prefix: string, registers: Registry[]): MetricKinds {
  return {
    gauge(name, help, aggregator, read) {
      new Gauge({
        name: `${prefix}_${name}`,
        help,
        aggregator,
        registers,
        collect() {
          this.set(read());
        },
      });
    },
    counter(name, help, read) {
      new Counter({
        name: `${prefix}_${name}`,
        help,
        registers,
        collect() {
          this.reset();
          this.inc(read());
        },
      });
    },
    counts(name, help, labelNames) {
      const values = new LabelledValues(labelNames, newCount);
      new Counter({
        name: `${prefix}_${name}`,
        help,
        labelNames,
        registers,
        collect() {
          this.reset();
          for (const { labels, value } of values.all) this.inc(labels, value.value);
        },
      });
      return values;
    },
    levels(name, help, labelNames) {
      const values = new LabelledValues(labelNames, newCount);
      new Gauge({
        name: `${prefix}_${name}`,
        help,
        labelNames,
        registers,
        collect() {
          for (const { labels, value } of values.all) this.set(labels, value.value);
        },
      });
      return values;
    },
    durations(name, help, labelNames, buckets) {
      const values = new LabelledValues(labelNames, () => new Observations(buckets));
      new LabelledHistogram({ name: `${prefix}_${name}`, help, labelNames, registers }, buckets, values);
      return values;
    },
  };
}
