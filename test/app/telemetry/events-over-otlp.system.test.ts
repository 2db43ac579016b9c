import { readFileSync } from 'node:fs';
import path from 'node:path';
import { afterEach, expect, it } from 'vitest';
import { VERSION } from '../../../src/contract/runtime/package-root.js';
import { EVENT_NAMES } from '../../../src/contract/telemetry/attribute-names.js';
import { event, eventRoutes } from '../../e2e/events.support.js';
import { describeAboveStores } from '../../support/databases.js';
import { restClient } from '../../support/http.js';
import { startService, type TestService } from '../../support/service.js';
import { until } from '../../support/until.js';
import { type OtlpReceiver, type ReceivedRecord, startOtlpReceiver } from './otlp-receiver.support.js';

const TRACE_ID = 'abcdef0123456789abcdef0123456789';
const SPAN_ID = 'abcdef0123456789';

describeAboveStores('events over OTLP', (freshDatabaseUrl) => {
  const closers: (() => Promise<void>)[] = [];
  afterEach(async () => {
    for (const close of closers.splice(0).reverse()) await close();
  });

  async function receiver(port?: number): Promise<OtlpReceiver> {
    const started = await startOtlpReceiver(port);
    closers.push(() => started.stop());
    return started;
  }
  async function serviceFor({ url }: OtlpReceiver, databaseUrl: string): Promise<TestService> {
    const started = await startService({
      DATABASE_URL: databaseUrl,
      SERVICE_OTLP_ENDPOINT: url,
      SERVICE_OTLP_SIGNALS: 'events',
      SERVICE_OTLP_HEADERS: 'authorization=Bearer%20secret',
      SERVICE_OTLP_RESOURCE_ATTRIBUTES: 'deployment.environment.name=test',
    });
    closers.push(() => started.stop());
    // It begins with what is stored from now on.
    await until(
      async () => await (await fetch(`${started.url}/metrics`)).text(),
      (page) => /_event_sink_running\{[^}]*sink="otlp"[^}]*\} 1/.test(page),
    );
    return started;
  }
  const idOf = ({ attributes }: ReceivedRecord) => String(attributes[EVENT_NAMES.id]);
  const recordsOf = async (from: OtlpReceiver, count: number) =>
    (
      await until(
        () => from.received(),
        ({ records }) => new Set(records.map(idOf)).size >= count,
      )
    ).records;
  const send = async (service: TestService, events: object[]) =>
    expect((await eventRoutes(restClient(service.url)).send(...(events as never[]))).status).toBe(202);

  it('are log records with their trace, severity and attributes, and the event as their body', async () => {
    const target = await receiver();
    const service = await serviceFor(target, await freshDatabaseUrl());
    const common = { trace_id: TRACE_ID, span_id: SPAN_ID, timestamp: '2026-01-02T03:04:05.678901Z' };
    await send(service, [
      event({ ...common, control_execution_id: 'denied', action: 'deny', matched: true }),
      event({ ...common, control_execution_id: 'observed', action: 'observe', matched: true }),
      event({ ...common, control_execution_id: 'failed', matched: false, error_message: 'no answer' }),
      event({ ...common, control_execution_id: 'other-ids', trace_id: 'no hex', matched: false }),
    ]);
    const records = await recordsOf(target, 4);
    const found = new Map(records.map((record) => [idOf(record), record]));
    const denied = found.get('denied');
    expect(denied).toMatchObject({
      name: EVENT_NAMES.event,
      nanoseconds: '1767323045678901000',
      severity: 'WARN',
      severityNumber: 13,
      traceId: TRACE_ID,
      spanId: SPAN_ID,
      resource: {
        'service.name': 'control-enforcement',
        'service.version': VERSION,
        'deployment.environment.name': 'test',
      },
      attributes: {
        [EVENT_NAMES.action]: 'deny',
        [EVENT_NAMES.matched]: true,
        [EVENT_NAMES.outcome]: 'deny',
        [EVENT_NAMES.stage]: 'pre',
      },
    });
    const { body } = await eventRoutes(restClient(service.url)).query({ trace_id: TRACE_ID });
    const stored = body.events.find(
      ({ control_execution_id: id }: { control_execution_id: string }) => id === 'denied',
    );
    expect(JSON.parse(denied?.body ?? '')).toMatchObject(stored);
    expect([found.get('observed')?.severity, found.get('failed')?.severity]).toEqual(['INFO', 'ERROR']);
    expect(found.get('other-ids')).toMatchObject({ traceId: '', spanId: '' });
    const { headers, spans, metrics } = await target.received();
    expect(new Set(headers.map(({ authorization }) => authorization))).toEqual(new Set(['Bearer secret']));
    expect([spans, metrics]).toEqual([[], []]);
  });

  it('arrive after times in which the receiver refuses them or is away, in their order', async () => {
    const target = await receiver();
    const service = await serviceFor(target, await freshDatabaseUrl());
    const named = (from: number) =>
      Array.from({ length: 50 }, (_, index) => event({ control_execution_id: `event-${from + index}` }));
    await send(service, named(0));
    await recordsOf(target, 50);
    await target.answer(400);
    await send(service, named(50));
    await until(
      () => target.received(),
      ({ refused }) => refused > 0,
    );
    await target.answer(200);
    const before = await recordsOf(target, 100);
    await target.stop();
    await send(service, named(100));
    const second = await receiver(target.port);
    const all = [...before, ...(await recordsOf(second, 50))].map(idOf);
    expect([...new Set(all)]).toEqual(Array.from({ length: 150 }, (_, index) => `event-${index}`));
  });
});

it('docs/telemetry.md explains every name of a log record', () => {
  const page = readFileSync(path.join(import.meta.dirname, '../../../docs/telemetry.md'), 'utf8');
  for (const name of Object.values(EVENT_NAMES)) expect(page).toContain(`\`${name}\``);
});
