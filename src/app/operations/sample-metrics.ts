import { Counter, Gauge, type Registry } from 'prom-client';
import type { SampleMeter } from '../../observe/samples/sample-meter.js';

/** Metrics of samples. Returns their meter. */
export function createSampleMetrics(prefix: string, registers: Registry[]): SampleMeter {
  let kept = 0;
  const written = new Counter({
    name: `${prefix}_samples_written_total`,
    help: 'Steps that were kept as samples by this process.',
    registers,
  });
  const lost = new Counter({
    name: `${prefix}_samples_dropped_total`,
    help: 'Steps that a sampling rule chose and that were not kept, by reason: too_large (beyond max_bytes), queue_full, masking (it failed), storage.',
    labelNames: ['reason'],
    registers,
  });
  new Gauge({
    name: `${prefix}_samples_stored`,
    help: 'Samples of steps that are stored, of all namespaces; counted every minute by one process of each replica, with those that a process has written since.',
    aggregator: 'max',
    registers,
    collect() {
      this.set(kept);
    },
  });
  return {
    stored(count) {
      written.inc(count);
      kept += count;
    },
    lost: (reason, count) => lost.inc({ reason }, count),
    counted(samples) {
      kept = samples;
    },
  };
}
