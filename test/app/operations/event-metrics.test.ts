import { Registry } from 'prom-client';
import { describe, expect, it } from 'vitest';
import { type Measurable, SharedMetrics } from '../../../src/app/cluster/shared-metrics.js';
import { createDatabaseMetrics, createEventMetrics } from '../../../src/app/operations/event-metrics.js';
import { measure } from '../../../src/app/operations/metrics.js';
import type { ObservabilityMeter } from '../../../src/observe/events/observability-meter.js';
import { event, eventRoutes } from '../../e2e/events.support.js';
import { restClient } from '../../support/http.js';
import { openedInTest } from '../../support/opened.js';
import { metric, parseMetrics } from '../../support/prometheus.js';
import { denyWord, evaluate, seeder } from '../../support/seed.js';
import { startService, type TestService } from '../../support/service.js';
import { until } from '../../support/until.js';

const PREFIX = 'acme';

/** The metrics of one process, after `act`. */
async function measured(
  act: (meter: ObservabilityMeter, timed: ReturnType<typeof createDatabaseMetrics>) => void,
) {
  const registry = new Registry();
  act(createEventMetrics(PREFIX, [registry]), createDatabaseMetrics(PREFIX, [registry]));
  return measure(registry);
}

describe('the metrics of events', () => {
  const services = openedInTest<TestService>((one) => one.stop());

  it('show what clients sent, what the service recorded, and how long storing it took', async () => {
    const service = await startService({
      SERVICE_PROMETHEUS_METRICS_PREFIX: PREFIX,
      OBSERVABILITY_FLUSH_INTERVAL_SECONDS: '0.02',
    });
    services.push(service);
    const rest = restClient(service.url);
    const seed = seeder(rest);
    await seed.linked('metered-agent', 'no-bad', denyWord('bad'));
    await evaluate(rest, 'metered-agent', 'bad');
    await eventRoutes(rest).send(event(), event(), event());
    const scrape = async () => parseMetrics(await (await fetch(`${service.url}/metrics`)).text());
    const samples = await until(
      scrape,
      (all) => metric(all, `${PREFIX}_events_stored_total`, { source: 'service' }) === 1,
    );
    expect(metric(samples, `${PREFIX}_events_stored_total`, { source: 'client' })).toBe(3);
    expect(metric(samples, `${PREFIX}_events_dropped_total`)).toBe(0);
    expect(metric(samples, `${PREFIX}_event_queue_depth`)).toBe(0);
    expect(metric(samples, `${PREFIX}_event_buffer_depth`)).toBe(0);
    expect(metric(samples, `${PREFIX}_event_commit_duration_seconds_count`)).toBe(2);
    const later = await until(
      scrape,
      (all) => metric(all, `${PREFIX}_event_flush_duration_seconds_count`) === 1,
    );
    const operations = (operation: string) =>
      metric(later, `${PREFIX}_database_duration_seconds_count`, { operation });
    // The first table of events is closed at the start; leases of work in the background may be among them.
    expect(operations('bulk_write')).toBeGreaterThanOrEqual(3);
    // Agent, control and link.
    expect(operations('mutation')).toBe(3);
    await eventRoutes(rest).query({});
    await eventRoutes(rest).stats({ agent_name: 'metered-agent' });
    const asked = await scrape();
    for (const operation of ['search', 'statistics']) {
      const count = metric(asked, `${PREFIX}_database_duration_seconds_count`, { operation });
      expect(count).toBeGreaterThan(operations(operation));
    }
  });

  it('of several processes are added up, or the worst of them', async () => {
    const shared = new SharedMetrics(async () => []);
    const one = await measured((meter, timed) => {
      meter.stored.client = 5;
      meter.dropped.service.queue_full = 2;
      meter.queued = () => 30;
      meter.buffered = () => 4;
      meter.pruned.events = 10;
      meter.lastPruningMs = 5_000;
      meter.committed(0.002);
      timed('mutation', 3);
    });
    const other = await measured((meter, timed) => {
      meter.stored.client = 7;
      meter.dropped.service.queue_full = 1;
      meter.queued = () => 12;
      meter.buffered = () => 1;
      meter.oldestEventMs = 2_000;
      meter.committed(0.2);
      timed('mutation', 0.001);
    });
    for (const metrics of [one, other]) {
      const worker: Measurable = { measure: (id) => shared.measured(worker, id, metrics) };
      shared.add(worker);
    }
    const samples = parseMetrics(await shared.text());
    const read = (name: string, labels = {}) => metric(samples, `${PREFIX}_${name}`, labels);
    expect(read('events_stored_total', { source: 'client' })).toBe(12);
    expect(read('events_dropped_total', { source: 'service', reason: 'queue_full' })).toBe(3);
    expect(read('event_queue_depth')).toBe(42);
    expect(read('event_buffer_depth')).toBe(5);
    expect(read('events_pruned_total')).toBe(10);
    expect(read('event_pruning_timestamp_seconds')).toBe(5);
    expect(read('event_oldest_timestamp_seconds')).toBe(2);
    expect(read('event_commit_duration_seconds_count')).toBe(2);
    expect(read('event_commit_duration_seconds_bucket', { le: '0.005' })).toBe(1);
    expect(read('database_duration_seconds_sum', { operation: 'mutation' })).toBe(3.001);
  });
});
