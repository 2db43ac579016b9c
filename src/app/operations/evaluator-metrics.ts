import { Counter, Gauge, Histogram, type Registry } from 'prom-client';
import type { BreakerState, Evaluator, EvaluatorStatus } from '../../kernel/core/evaluator.js';
import type { EvaluatorMeter } from '../../kernel/evaluators/metered.js';

/** Upper bounds in seconds, for asynchronous checks. */
const BUCKETS = [0.000_25, 0.001, 0.002_5, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30];

const BREAKER_STATES: readonly BreakerState[] = ['closed', 'half_open', 'open'];

interface Metered {
  readonly name: string;
  readonly meter: EvaluatorMeter;
  /** Undefined for a synchronous evaluator. */
  readonly status: () => EvaluatorStatus | undefined;
}

/**
 * Metrics of the evaluators, by name. Returns a function that creates the meter of an evaluator, which adds
 * its rows. Counts and states are read on each scrape.
 */
export function createEvaluatorMetrics(
  prefix: string,
  registers: Registry[],
): (evaluator: Evaluator) => EvaluatorMeter {
  const all: Metered[] = [];
  const durations = new Histogram({
    name: `${prefix}_evaluator_duration_seconds`,
    help: 'Time of a check that had to be waited for, its wait in the queue included. Checks that answer at once are not timed.',
    labelNames: ['evaluator'],
    buckets: BUCKETS,
    registers,
  });
  const counter = (name: string, help: string, read: (one: Metered) => number | undefined): void => {
    new Counter({
      name: `${prefix}_evaluator_${name}`,
      help,
      labelNames: ['evaluator'],
      registers,
      collect() {
        this.reset();
        for (const one of all) {
          const value = read(one);
          if (value !== undefined) this.inc({ evaluator: one.name }, value);
        }
      },
    });
  };
  const gauge = (name: string, help: string, read: (status: EvaluatorStatus) => number): void => {
    new Gauge({
      name: `${prefix}_evaluator_${name}`,
      help,
      labelNames: ['evaluator'],
      registers,
      collect() {
        for (const { name: evaluator, status } of all) {
          const found = status();
          if (found !== undefined) this.set({ evaluator }, read(found));
        }
      },
    });
  };
  counter('calls_total', 'Checks.', ({ meter }) => meter.calls);
  counter(
    'errors_total',
    'Checks that failed, time-outs and those answered by on_error included.',
    ({ meter, status }) => meter.errors + (status()?.answeredErrors ?? 0),
  );
  counter(
    'timeouts_total',
    'Checks that ran out of time, those answered by on_error included.',
    ({ meter, status }) => meter.timeouts + (status()?.answeredTimeouts ?? 0),
  );
  counter(
    'worker_restarts_total',
    'Workers that ended and were replaced.',
    ({ status }) => status()?.workerRestarts,
  );
  gauge('running', 'Checks that run outside the main thread.', ({ running }) => running);
  gauge('queue_length', 'Checks that wait for their turn.', ({ queued }) => queued);
  new Gauge({
    name: `${prefix}_evaluator_breaker_state`,
    help: 'Processes in which the circuit breaker before a remote endpoint is closed, half_open or open.',
    labelNames: ['evaluator', 'state'],
    registers,
    collect() {
      for (const { name, status } of all) {
        const breaker = status()?.breaker;
        if (breaker === undefined) continue;
        for (const state of BREAKER_STATES) this.set({ evaluator: name, state }, breaker === state ? 1 : 0);
      }
    },
  });
  return (evaluator) => {
    const { name } = evaluator;
    const meter: EvaluatorMeter = {
      calls: 0,
      errors: 0,
      timeouts: 0,
      waited: (seconds) => durations.observe({ evaluator: name }, seconds),
    };
    all.push({ name, meter, status: () => evaluator.status?.() });
    return meter;
  };
}
