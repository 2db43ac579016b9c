import { Counter, type Registry } from 'prom-client';
import { type CountMeter, createCountMeter } from '../../observe/events/counts/count-meter.js';
import { createMetricKinds } from './metric-kinds.js';

/** Metrics of the counts of evaluations. Returns their meter; all values are read from it on each scrape. */
export function createCountMetrics(prefix: string, registers: Registry[]): CountMeter {
  const meter = createCountMeter();
  const { gauge, counter } = createMetricKinds(prefix, registers);
  new Counter({
    name: `${prefix}_evaluation_outcomes_total`,
    help: 'Evaluations by outcome (allow, deny, deny_by_error, steer), as GetEvaluationStats counts them; deny_by_error is not part of deny.',
    labelNames: ['outcome'],
    registers,
    collect() {
      const { evaluated, denied, steered, denied_by_error } = meter.totals();
      this.reset();
      this.inc({ outcome: 'allow' }, evaluated - denied - steered);
      this.inc({ outcome: 'deny' }, denied - denied_by_error);
      this.inc({ outcome: 'deny_by_error' }, denied_by_error);
      this.inc({ outcome: 'steer' }, steered);
    },
  });
  counter(
    'evaluations_observed_total',
    'Evaluations with the outcome allow and a match of a control that observes.',
    () => meter.totals().observed,
  );
  counter(
    'evaluations_failed_total',
    'Evaluations with an error of any control, whatever the outcome.',
    () => meter.totals().failed,
  );
  new Counter({
    name: `${prefix}_evaluation_counts_lost_total`,
    help: 'Evaluations that GetEvaluationStats will never count, by why: too many counts waited, the database cannot take them, or the process ended before.',
    labelNames: ['reason'],
    registers,
    collect() {
      this.reset();
      const { queue_full, refused, shutdown } = meter.lost;
      this.inc({ reason: 'queue_full' }, queue_full + meter.beyond());
      this.inc({ reason: 'refused' }, refused);
      this.inc({ reason: 'shutdown' }, shutdown);
    },
  });
  gauge(
    'evaluation_counts_waiting',
    'Evaluations whose counts are in memory and wait for the next flush.',
    'sum',
    () => meter.waiting(),
  );
  gauge(
    'evaluation_count_spool_bytes',
    'Counts of evaluations on disk that wait until the database is back.',
    'sum',
    () => meter.spooledOctets(),
  );
  return meter;
}
