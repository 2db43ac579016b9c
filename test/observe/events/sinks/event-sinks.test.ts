import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { afterAll, afterEach, beforeAll, describe, expect, it, onTestFinished } from 'vitest';
import { createFolderFiles } from '../../../../packages/versioned-files/src/index.js';
import { readConfig } from '../../../../src/contract/config/config.js';
import { createEventSinks } from '../../../../src/observe/events/sinks/event-sinks.js';
import { LagClock } from '../../../../src/observe/events/sinks/sink-meter.js';
import { NO_FAILURES } from '../../../support/failures.js';
import { exchange } from '../../../support/http.js';
import { missingPackage } from '../../../support/missing-package.js';
import { metric, parseMetrics } from '../../../support/prometheus.js';
import { startService, type TestService } from '../../../support/service.js';
import { until } from '../../../support/until.js';
import { startHttpReceiver } from './http-receiver.js';
import { allRows } from './parquet-files.js';

const SECRET = 'a-secret-for-brokers';
const PREFIX = 'control_enforcement_server_event_sink';

describe('a service with event sinks', () => {
  let folder: string;
  let service: TestService;
  beforeAll(async () => {
    folder = await mkdtemp(path.join(tmpdir(), 'event-sinks-'));
  });
  afterEach(() => service.stop());
  afterAll(() => rm(folder, { recursive: true, force: true }));

  const samples = async () => parseMetrics((await exchange(service.url, { path: '/metrics' })).text);

  it('reports each of them, is ready although one is away, and completes the others when it stops', async () => {
    const receiver = await startHttpReceiver();
    onTestFinished(() => receiver.stop());
    service = await startService({
      SERVICE_EVENT_PARQUET: folder,
      SERVICE_EVENT_HTTP_URL: receiver.url,
      SERVICE_EVENT_HTTP_FORMAT: 'opa',
      SERVICE_EVENT_HTTP_TOKEN: SECRET,
      // Nothing listens there.
      SERVICE_EVENT_KAFKA_BROKERS: '127.0.0.1:1',
      SERVICE_EVENT_KAFKA_SASL_MECHANISM: 'plain',
      SERVICE_EVENT_KAFKA_USERNAME: 'writer',
      SERVICE_EVENT_KAFKA_PASSWORD: SECRET,
    });
    const events = Array.from({ length: 25 }, (_, index) => ({
      control_execution_id: `event-${index}`,
      trace_id: 'trace',
      span_id: 'span',
      agent_name: 'copied-bot-01',
      control_id: 1,
      control_name: 'one',
      check_stage: 'pre',
      applies_to: 'llm_call',
      action: 'deny',
      matched: true,
      confidence: 1,
    }));
    const reply = await exchange(service.url, {
      method: 'POST',
      path: '/api/v1/observability/events',
      headers: { 'content-type': 'application/json' },
      body: JSON.stringify({ events }),
    });
    expect(reply.status).toBe(202);
    const seen = await until(
      samples,
      (found) =>
        metric(found, `${PREFIX}_delivered_events_total`, { sink: 'parquet' }) === 25 &&
        metric(found, `${PREFIX}_delivered_events_total`, { sink: 'http' }) === 25 &&
        metric(found, `${PREFIX}_failures_total`, { sink: 'kafka' }) > 0,
    );
    expect(metric(seen, `${PREFIX}_running`, { sink: 'parquet' })).toBe(1);
    // They are in the file that is being made, and not in the folder yet.
    expect(metric(seen, `${PREFIX}_position`, { sink: 'parquet' })).toBe(0);
    expect(metric(seen, `${PREFIX}_lag_events`, { sink: 'parquet' })).toBe(25);
    expect(metric(seen, `${PREFIX}_lag_seconds`, { sink: 'parquet' })).toBeGreaterThan(0);
    expect(metric(seen, `${PREFIX}_delivered_events_total`, { sink: 'kafka' })).toBe(0);
    expect((await exchange(service.url, { path: '/ready' })).status).toBe(200);
    await service.stop();
    const rows = await allRows(createFolderFiles(folder));
    expect(rows.map((row) => row.control_execution_id)).toEqual(
      events.map((event) => event.control_execution_id),
    );
    const entries = receiver.kept.flatMap(({ body }) => JSON.parse(body));
    expect(entries.map((entry) => entry.decision_id)).toEqual(events.map((one) => one.control_execution_id));
    for (const { headers } of receiver.kept) {
      expect(headers).toMatchObject({ authorization: `Bearer ${SECRET}`, 'content-encoding': 'gzip' });
    }
    const lines = service.logLines.join('');
    expect(lines).toContain('events could not be delivered to a sink now');
    expect(lines).not.toContain(SECRET);
  });

  it('has no metrics of sinks that are not configured', async () => {
    service = await startService();
    expect((await samples()).filter(({ name }) => name.startsWith(PREFIX))).toEqual([]);
  });
});

it.each([
  ['kafka-producer', 'SERVICE_EVENT_KAFKA_BROKERS', '127.0.0.1:1'],
  ['parquet-log', 'SERVICE_EVENT_PARQUET', 'events'],
  ['s3-files', 'SERVICE_EVENT_PARQUET', 's3://audit/events'],
] as const)('without the package %s, %s stops the start', async (name, setting, value) => {
  const { eventSinks } = readConfig({
    [setting]: value,
    SERVICE_EVENT_S3_ACCESS_KEY_ID: 'key-id',
    SERVICE_EVENT_S3_SECRET_ACCESS_KEY: 'secret',
    SERVICE_EVENT_S3_REGION: 'us-east-1',
  });
  const created = createEventSinks({
    config: eventSinks,
    tail: {} as never,
    database: {} as never,
    log: { info() {}, warn() {} },
    failures: NO_FAILURES,
    meter: new Map(),
    now: () => 0,
    monotonic: () => 0,
    loaders: { [name]: missingPackage(name) },
  });
  await expect(created).rejects.toThrow(`${setting} needs the package ${name}, which is not installed.`);
});

describe('the lag of a sink', () => {
  it('is the time since the first position that is missing was seen', () => {
    const lag = new LagClock();
    expect(lag.ageMs(5_000)).toBe(0);
    lag.saw(10n, 1_000);
    lag.saw(20n, 3_000);
    lag.saw(30n, 3_500);
    expect(lag.ageMs(5_000)).toBe(4_000);
    lag.delivered(9n);
    expect(lag.ageMs(5_000)).toBe(4_000);
    lag.delivered(10n);
    expect(lag.ageMs(5_000)).toBe(2_000);
    lag.delivered(30n);
    expect(lag.ageMs(5_000)).toBe(0);
    lag.saw(31n, 6_000);
    lag.clear();
    expect(lag.ageMs(7_000)).toBe(0);
  });

  it('stays known, roughly, however long it is', () => {
    const lag = new LagClock();
    for (let second = 1; second <= 10_000; second += 1) lag.saw(BigInt(second), second * 1_000);
    expect(lag.ageMs(10_000_000)).toBe(9_999_000);
    lag.delivered(5_000n);
    const age = lag.ageMs(10_000_000);
    expect(Math.abs(age - 5_000_000)).toBeLessThan(500_000);
  });
});
