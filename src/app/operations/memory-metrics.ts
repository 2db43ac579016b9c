import { Counter, Gauge, Histogram, type Registry } from 'prom-client';
import type { MemoryMeter } from '../../decide/memory/memory-meter.js';
import { createMetricKinds } from './metric-kinds.js';

const SECONDS = [0.000_25, 0.000_5, 0.001, 0.002_5, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 10];
const STEPS = [0, 1, 2, 4, 8, 16, 32, 64, 128, 256];

/** Metrics of the memory of controls. Returns its meter. */
export function createMemoryMetrics(prefix: string, registers: Registry[]): MemoryMeter {
  const { counter } = createMetricKinds(prefix, registers);
  const histogram = (name: string, help: string, buckets: number[]) =>
    new Histogram({ name: `${prefix}_${name}`, help, buckets, registers });
  const exchangeSeconds = histogram(
    'memory_exchange_duration_seconds',
    'Time of an exchange with the store of memory, which decides all steps that wait.',
    SECONDS,
  );
  const exchangeSteps = histogram('memory_exchange_steps', 'Steps that an exchange decides.', STEPS);
  let conflicts = 0;
  let failures = 0;
  let isUp: boolean | null = null;
  let removed = 0;
  let refused = 0;
  counter(
    'memory_conflicts_total',
    'Steps that were decided again because another process was faster.',
    () => conflicts,
  );
  counter('memory_failures_total', 'Exchanges with the store of memory that failed.', () => failures);
  new Gauge({
    name: `${prefix}_memory_up`,
    help: 'Whether the store of memory answered last; absent until a control needs it.',
    aggregator: 'min',
    registers,
    collect() {
      this.reset();
      if (isUp === null) this.remove();
      else this.set(isUp ? 1 : 0);
    },
  });
  new Counter({
    name: `${prefix}_memory_keys_removed_total`,
    help: 'Keys that this process removed because nothing of them mattered any more.',
    labelNames: ['reason'],
    registers,
    collect() {
      this.reset();
      this.inc({ reason: 'expired' }, removed);
    },
  });
  counter(
    'memory_keys_refused_total',
    'Times that a step needed a new key for which a namespace, or the share of its agent, had no room.',
    () => refused,
  );
  const degraded = new Counter({
    name: `${prefix}_memory_degraded_steps_total`,
    help: 'Steps that were decided without the store of memory.',
    labelNames: ['kind'],
    registers,
  });
  return {
    exchanged(seconds, steps) {
      isUp = true;
      exchangeSeconds.observe(seconds);
      exchangeSteps.observe(steps);
    },
    conflicted(steps) {
      conflicts += steps;
    },
    failed() {
      isUp = false;
      failures += 1;
    },
    degraded(kind, steps) {
      degraded.inc({ kind }, steps);
    },
    swept(expired) {
      removed += expired;
    },
    refused(keys) {
      refused += keys;
    },
  };
}
