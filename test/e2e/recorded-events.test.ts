import { describe, expect, it } from 'vitest';
import { describeOnPostgresql } from '../support/databases.js';
import { type RestClient, restClient } from '../support/http.js';
import { openedInTest } from '../support/opened.js';
import { methodNamed, PROTOCOLS } from '../support/protocol-clients.js';
import { denyWord, seeder } from '../support/seed.js';
import { startService, type TestService } from '../support/service.js';
import { executeSql } from '../support/sql.js';
import { until } from '../support/until.js';
import { event, eventRoutes, refuseEventsOf } from './events.support.js';

const AGENT = 'recorded-bot-1';
const OFTEN = { SERVICE_OBSERVABILITY_FLUSH_INTERVAL_SECONDS: '0.02' };
const NEVER = { SERVICE_OBSERVABILITY_FLUSH_INTERVAL_SECONDS: '3600' };
const TRACE = /^[0-9a-f]{32}$/;
const SPAN = /^[0-9a-f]{16}$/;

type Shown = Record<string, unknown>;

/** A control that matches, one that fails, one that does not match. */
async function seed(call: RestClient): Promise<void> {
  const { agent, control, link } = seeder(call);
  await agent(AGENT);
  const broken = { selector: {}, evaluator: { name: 'missing-one', config: {} } };
  for (const [name, data] of [
    ['matches', denyWord('bad', { action: { decision: 'steer', steering_context: { message: 'no' } } })],
    ['fails', denyWord('x', { action: { decision: 'observe' }, condition: broken })],
    ['differs', denyWord('never')],
  ] as const) {
    await link(AGENT, await control(name, data));
  }
}

const step = (type = 'llm') => ({
  agent_name: AGENT,
  stage: 'post',
  step: { type, name: 'answer', input: { text: 'bad' } },
});

describeOnPostgresql('what the service records itself', (freshDatabaseUrl) => {
  const services = openedInTest<TestService>((one) => one.stop());
  async function start(environment: Record<string, string>, url?: string) {
    const DATABASE_URL = url ?? (await freshDatabaseUrl());
    const service = await startService({ DATABASE_URL, ...environment });
    services.push(service);
    const call = restClient(service.url);
    return { service, call, routes: eventRoutes(call), url: DATABASE_URL };
  }
  const evaluation = (call: RestClient, body: object = step(), headers: Record<string, string> = {}) =>
    call('POST', '/api/v1/evaluation', body, headers);
  const recorded = async (routes: ReturnType<typeof eventRoutes>, n: number): Promise<Shown[]> => {
    const found = await until(
      () => routes.query({ agent_name: AGENT }),
      ({ body }) => body.total >= n,
    );
    expect(found.body.total).toBe(n);
    return found.body.events;
  };

  it('is every match and every error, with the id that the verdict gave it', async () => {
    const { call, routes } = await start(OFTEN);
    await seed(call);
    const before = Date.now();
    const verdict = (await evaluation(call)).body;
    const events = await recorded(routes, 2);
    const common = {
      trace_id: expect.stringMatching(TRACE),
      span_id: expect.stringMatching(SPAN),
      agent_name: AGENT,
      check_stage: 'post',
      applies_to: 'llm_call',
      timestamp: expect.toSatisfy((text: string) => {
        const at = Date.parse(text);
        return at >= before && at <= Date.now();
      }),
      execution_duration_ms: null,
      metadata: {},
    };
    const [match] = verdict.matches;
    const [failure] = verdict.errors;
    const byName = new Map(events.map((one) => [one.control_name, one]));
    expect(byName.get('matches')).toEqual({
      ...common,
      control_execution_id: match.control_execution_id,
      control_id: match.control_id,
      control_name: 'matches',
      action: 'steer',
      matched: true,
      confidence: 1,
      error_message: null,
      evaluator_name: 'regex',
      selector_path: 'input',
    });
    expect(byName.get('fails')).toEqual({
      ...common,
      control_execution_id: failure.control_execution_id,
      control_id: failure.control_id,
      control_name: 'fails',
      action: 'observe',
      matched: false,
      confidence: failure.result.confidence,
      error_message: failure.result.error,
      evaluator_name: 'missing-one',
      selector_path: '*',
    });
    // Both belong to the same call.
    expect(new Set(events.map((one) => one.trace_id)).size).toBe(1);
  });

  it('has the trace of the caller, and marks tool calls', async () => {
    const { call, routes } = await start(OFTEN);
    await seed(call);
    const parent = `00-${'a'.repeat(32)}-${'b'.repeat(16)}-01`;
    await evaluation(call, step('tool'), {
      'x-trace-id': 'my-trace',
      'x-span-id': 'my-span',
      traceparent: parent,
    });
    const own = await recorded(routes, 2);
    expect(own.map((one) => [one.trace_id, one.span_id, one.applies_to])).toEqual(
      Array(2).fill(['my-trace', 'my-span', 'tool_call']),
    );
    await evaluation(call, step('other'), { traceparent: parent });
    const both = await recorded(routes, 4);
    const traced = both.filter((one) => one.trace_id === 'a'.repeat(32));
    expect(traced.map((one) => [one.span_id, one.applies_to])).toEqual(
      Array(2).fill(['b'.repeat(16), 'llm_call']),
    );
    await evaluation(call, step(), { 'x-trace-id': 'x'.repeat(5_000), traceparent: 'garbage' });
    const all = await recorded(routes, 6);
    expect(
      all.filter((one) => TRACE.test(String(one.trace_id)) && SPAN.test(String(one.span_id))),
    ).toHaveLength(4);
  });

  it('is the same over gRPC, whose replies stay as short as they were requested', async () => {
    for (const [record, n] of [
      ['matches', 2],
      ['all', 3],
    ] as const) {
      const { service, call, routes } = await start({ ...OFTEN, SERVICE_OBSERVABILITY_RECORD: record });
      await seed(call);
      const client = PROTOCOLS['gRPC (grpc-js)'](service.url);
      const outcome = await client.call(methodNamed('EvaluationService.Evaluate'), step());
      client.close();
      expect(outcome).toMatchObject({
        ok: true,
        reply: {
          matches: [{ control_name: 'matches', result: { metadata: null } }],
          errors: [{ control_name: 'fails', result: { metadata: null } }],
          non_matches: [],
        },
      });
      await recorded(routes, n);
    }
  });

  it('is everything, non-matches included, or nothing, as configured', async () => {
    const all = await start({ ...OFTEN, SERVICE_OBSERVABILITY_RECORD: 'all' });
    await seed(all.call);
    expect((await evaluation(all.call)).body.non_matches).toHaveLength(1);
    const events = await recorded(all.routes, 3);
    expect(events.find((one) => one.control_name === 'differs')).toMatchObject({
      matched: false,
      action: 'deny',
      error_message: null,
    });

    const none = await start({ ...OFTEN, SERVICE_OBSERVABILITY_RECORD: 'none' });
    await seed(none.call);
    await evaluation(none.call);
    // Whatever the service had recorded would be written at the latest when it stops.
    await services.pop()?.stop();
    await recorded((await start(NEVER, none.url)).routes, 0);
  });

  it('is one event with what the client reports of it, in either order', async () => {
    const { call, routes } = await start({ SERVICE_OBSERVABILITY_FLUSH_INTERVAL_SECONDS: '0.5' });
    await seed(call);
    const told = (id: string) => ({
      ...event({ agent_name: AGENT, control_name: 'told by the client', action: 'observe', matched: false }),
      control_execution_id: id,
      trace_id: 'trace of the client',
      execution_duration_ms: 1.5,
      evaluator_name: 'list',
      selector_path: 'input.text',
      metadata: { by: 'the client' },
    });
    const first = (await evaluation(call)).body.matches[0];
    expect((await routes.send(told(first.control_execution_id))).body.status).toBe('queued');
    await until(
      () => routes.query({ agent_name: AGENT }),
      ({ body }) =>
        body.total === 2 && body.events.every((one: Shown) => one.control_name !== 'told by the client'),
    );
    const second = (await evaluation(call)).body.matches[0];
    await recorded(routes, 4);
    expect((await routes.send(told(second.control_execution_id))).body.status).toBe('queued');
    const events = await recorded(routes, 4);
    for (const { control_execution_id: id, control_id } of [first, second]) {
      expect(events.find((one) => one.control_execution_id === id)).toMatchObject({
        control_id,
        control_name: 'matches',
        action: 'steer',
        matched: true,
        confidence: 1,
        trace_id: 'trace of the client',
        span_id: 'span-1',
        execution_duration_ms: 1.5,
        evaluator_name: 'list',
        selector_path: 'input.text',
        metadata: { by: 'the client' },
      });
    }
    const { body } = await routes.stats({ agent_name: AGENT });
    expect(body.totals).toMatchObject({ execution_count: 4, match_count: 2, action_counts: { steer: 2 } });
    const names = body.controls.map((one: Shown) => [
      one.control_name,
      one.execution_count,
      one.avg_duration_ms,
    ]);
    expect(names.sort()).toEqual([
      ['fails', 2, null],
      ['matches', 2, 1.5],
    ]);
    await routes.send({ ...told(first.control_execution_id), evaluator_name: 'told again' });
    expect(await recorded(routes, 4)).toEqual(events);
  });

  it('is written at shutdown', async () => {
    const { call, routes, url } = await start(NEVER);
    await seed(call);
    await evaluation(call);
    await recorded(routes, 0);
    await services.pop()?.stop();
    await recorded((await start(NEVER, url)).routes, 2);
  });

  it('loses nothing while the table of the events is missing', async () => {
    const { service, call, routes, url } = await start(OFTEN);
    await seed(call);
    await executeSql(url, 'ALTER TABLE "events" RENAME TO "events_away"');
    await evaluation(call);
    await until(
      () => service.logLines.filter((line) => line.includes('cannot be stored now')),
      (lines) => lines.length > 0,
    );
    await executeSql(url, 'ALTER TABLE "events_away" RENAME TO "events"');
    await evaluation(call);
    await recorded(routes, 4);
  });

  it('continues after a database that refused it for good', async () => {
    const { service, call, routes, url } = await start(OFTEN);
    await seed(call);
    const accept = await refuseEventsOf(url, 'matches');
    await evaluation(call);
    await until(
      () => service.logLines.filter((line) => line.includes('are lost')),
      (lines) => lines.length > 0,
    );
    await accept();
    await evaluation(call);
    await recorded(routes, 2);
  });

  it('is logged event by event, like what clients send, if configured so', async () => {
    const { service, call, routes } = await start({ ...OFTEN, SERVICE_OBSERVABILITY_STDOUT: 'true' });
    const logged = () =>
      service.logLines.map((line) => JSON.parse(line)).filter(({ msg }) => msg === 'an event was ingested');
    await routes.send(event({ trace_id: 'to be logged', timestamp: '2026-01-02T03:04:05Z' }));
    expect(logged()).toMatchObject([
      { event: { trace_id: 'to be logged', timestamp: '2026-01-02T03:04:05Z' } },
    ]);
    await seed(call);
    await evaluation(call);
    await until(logged, (lines) => lines.length >= 3);
    expect(logged()).toHaveLength(3);
    const quiet = await start(OFTEN);
    await quiet.routes.send(event());
    expect(quiet.service.logLines.filter((line) => line.includes('an event was ingested'))).toEqual([]);
  });

  describe('and everything else about events is off', () => {
    const OFF = {
      SERVICE_OBSERVABILITY_ENABLED: 'false',
      SERVICE_API_KEY_ENABLED: 'true',
      SERVICE_API_KEYS: 'key-1',
    };
    it('with 503 after the key and before anything about the request', async () => {
      const { service } = await start(OFF);
      const call = restClient(service.url, { 'x-api-key': 'key-1' });
      const off = eventRoutes(call);
      for (const reply of [
        await off.send(event()),
        await off.send(),
        await call('POST', '/api/v1/observability/events', '{broken'),
        await off.query({}),
        await off.query({ limit: 'x' }),
        await off.stats({}),
        await off.controlStats('x', {}),
      ]) {
        expect(reply.status).toBe(503);
        expect(reply.body).toMatchObject({
          error_code: 'SERVICE_UNAVAILABLE',
          detail: expect.stringContaining('off'),
        });
      }
      expect((await eventRoutes(restClient(service.url)).send(event())).status).toBe(401);
      const { status, body } = await off.status();
      expect([status, body]).toEqual([
        200,
        { status: 'ok', ingestor_initialized: false, store_initialized: false },
      ]);
      const grpc = PROTOCOLS['gRPC (grpc-js)'](service.url);
      const outcome = await grpc.call(methodNamed('ObservabilityService.QueryEvents'), {}, 'key-1');
      grpc.close();
      expect(outcome).toMatchObject({ ok: false, reason: 'SERVICE_UNAVAILABLE', status: 'Unavailable' });
    });
    it('while steps are evaluated as ever, and nothing is recorded', async () => {
      const { call, url } = await start({ ...OFTEN, SERVICE_OBSERVABILITY_ENABLED: 'false' });
      await seed(call);
      expect((await evaluation(call)).body).toMatchObject({ is_safe: false, matches: [{ action: 'steer' }] });
      await services.pop()?.stop();
      await recorded((await start(NEVER, url)).routes, 0);
    });
  });
});
