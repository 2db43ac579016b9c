import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { restClient } from '../../support/http.js';
import { evaluate, seeder } from '../../support/seed.js';
import { startService, type TestService } from '../../support/service.js';
import { until } from '../../support/until.js';
import { type OtlpReceiver, type ReceivedMetric, startOtlpReceiver } from './otlp-receiver.support.js';
import { AGENT } from './telemetry-clients.js';

describe('metrics over OTLP', () => {
  let receiver: OtlpReceiver;
  let service: TestService;
  beforeAll(async () => {
    receiver = await startOtlpReceiver();
    service = await startService({
      SERVICE_OTLP_ENDPOINT: receiver.url,
      SERVICE_OTLP_SIGNALS: 'metrics',
      SERVICE_OTLP_METRIC_SECONDS: '1',
      SERVICE_OTLP_SERVICE_NAME: 'guard',
    });
    const call = restClient(service.url);
    await seeder(call).agent(AGENT);
    for (let times = 0; times < 3; times += 1) await evaluate(call, AGENT, 'hello');
  });
  afterAll(async () => {
    await service.stop();
    await receiver.stop();
  });

  /** The latest value of a metric of this name that satisfies a condition. */
  async function metricWhen(name: string, check: (metric: ReceivedMetric) => boolean) {
    const latest = async () => (await receiver.received()).metrics.findLast((metric) => metric.name === name);
    return (await until(latest, (metric) => metric !== undefined && check(metric))) as ReceivedMetric;
  }

  it('counts are cumulative sums', async () => {
    const { kind, isMonotonic, temporality, points, resource } = await metricWhen(
      'control_enforcement_server_evaluations_total',
      // Those of the first seconds may have been sent between two evaluations.
      (metric) => metric.points.some(({ value }) => Number(value) >= 3),
    );
    expect({ kind, isMonotonic, temporality }).toEqual({
      kind: 'sum',
      isMonotonic: true,
      temporality: 'CUMULATIVE',
    });
    expect(points).toMatchObject([
      { attributes: { decision: 'allow', stage: 'pre', protocol: 'rest' }, value: 3 },
    ]);
    expect(resource['service.name']).toBe('guard');
  });

  it('durations are histograms whose buckets add up to their count', async () => {
    const { kind, temporality, points } = await metricWhen(
      'control_enforcement_server_request_duration_seconds',
      (metric) =>
        metric.points.some(
          ({ attributes, count }) => attributes.path === '/api/v1/evaluation' && Number(count) >= 3,
        ),
    );
    expect({ kind, temporality }).toEqual({ kind: 'histogram', temporality: 'CUMULATIVE' });
    const evaluations = points.find(({ attributes }) => attributes.path === '/api/v1/evaluation');
    expect(evaluations).toMatchObject({ count: 3, attributes: { method: 'POST', status_code: '200' } });
    expect(evaluations?.attributes).not.toHaveProperty('le');
    expect(evaluations?.sum).toBeGreaterThan(0);
    for (const { bucketCounts, bounds, count } of points) {
      expect(bucketCounts.reduce((sum, one) => sum + one, 0)).toBe(count);
      expect(bucketCounts.length).toBe(bounds.length + 1);
      expect(bounds).toEqual(bounds.toSorted((one, other) => one - other));
    }
  });

  it('every metric of the Prometheus page that has values is sent', async () => {
    const page = await (await fetch(`${service.url}/metrics`)).text();
    const shown = [...page.matchAll(/^# TYPE (\S+) (counter|gauge|histogram)$/gm)].filter(([, name]) =>
      new RegExp(`^${name}(?:_count)?(?:\\{[^}]*\\})? [\\d.]`, 'm').test(page),
    );
    const seen = (await receiver.received()).metrics.length;
    const { metrics } = await until(
      () => receiver.received(),
      (answer) => answer.metrics.length >= seen * 2,
    );
    const kinds = new Map(metrics.map(({ name, kind }) => [name, kind]));
    expect(shown.length).toBeGreaterThan(30);
    for (const [, name = '', type] of shown) {
      expect([name, kinds.get(name)]).toEqual([name, type === 'counter' ? 'sum' : type]);
    }
  });

  it('no spans are made', async () => {
    const page = await (await fetch(`${service.url}/metrics`)).text();
    expect(page).toMatch(/telemetry_items_total\{signal="metrics",result="sent"[^}]*\} [1-9]/);
    expect(page).not.toContain('signal="traces"');
    expect((await receiver.received()).spans).toEqual([]);
  });
});
