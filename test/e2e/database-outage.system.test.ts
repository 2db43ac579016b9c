import { Code, ConnectError } from '@connectrpc/connect';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { Decision, Stage } from '../../gen/proto/enforcement/v1/control_pb.js';
import { AppliesTo } from '../../gen/proto/enforcement/v1/observability_service_pb.js';
import { ErrorInfoSchema, RetryInfoSchema } from '../../gen/proto/google/rpc/error_details_pb.js';
import { type PostgresServer, startPostgresServer } from '../../scripts/postgres-server.mjs';
import { type RestClient, restClient } from '../support/http.js';
import { metric, parseMetrics } from '../support/prometheus.js';
import { methodNamed, type Outcome, PROTOCOLS, type ProtocolClient } from '../support/protocol-clients.js';
import { problem } from '../support/refusals.js';
import { BIDI_PROTOCOLS, RPC_PROTOCOLS, rpcTransport } from '../support/rpc-transports.js';
import { denyWord, evaluate, seeder } from '../support/seed.js';
import { startService, type TestService } from '../support/service.js';
import { until } from '../support/until.js';
import { observability } from './event-streams.support.js';

const AGENT = 'loaded-agent-1';
const EVENT = {
  control_execution_id: 'outage-1',
  trace_id: 'outage',
  span_id: 's',
  agent_name: AGENT,
  control_id: 1,
  control_name: 'c',
  check_stage: 'pre',
  applies_to: 'llm_call',
  action: 'deny',
  matched: true,
  confidence: 1,
};
const REGISTRATION = { agent: { agent_name: AGENT } };

describe('while PostgreSQL is gone', () => {
  let postgres: PostgresServer;
  let service: TestService;
  let call: RestClient;
  const clients: ProtocolClient[] = [];
  beforeAll(async () => {
    postgres = await startPostgresServer();
    service = await startService({ DATABASE_URL: postgres.url, SERVICE_LAST_KNOWN_GOOD: 'off' });
    call = restClient(service.url);
    clients.push(PROTOCOLS['gRPC (grpc-js)'](service.url), PROTOCOLS['Connect over h2'](service.url));
    const seed = seeder(call);
    await seed.agent(AGENT);
    await seed.agent('stored-agent-1');
    await seed.link(AGENT, await seed.control('loaded'));
    expect((await evaluate(call, AGENT, 'bad')).body.is_safe).toBe(false);
    await postgres.pause();
  });
  afterAll(async () => {
    for (const client of clients) client.close();
    await service.stop();
    await postgres.stop();
  });

  const rpc = (name: string, input: object): Promise<Outcome[]> =>
    Promise.all(clients.map((client) => client.call(methodNamed(name), input)));
  const evaluation = (agentName: string) => ({
    agent_name: agentName,
    stage: 'pre',
    step: { type: 'llm', name: 'answer', input: 'bad' },
  });

  it('loaded agents are evaluated', async () => {
    expect((await evaluate(call, AGENT, 'bad')).body).toMatchObject({ is_safe: false, errors: [] });
    expect((await evaluate(call, AGENT, 'good')).body).toMatchObject({ is_safe: true, errors: [] });
    for (const outcome of await rpc('EvaluationService.Evaluate', evaluation(AGENT))) {
      expect(outcome).toMatchObject({ ok: true, reply: { is_safe: false, errors: [] } });
    }
  });

  it.each(['stored-agent-1', 'never-registered'])(
    '%s, not loaded, receives a time to retry',
    async (agentName) => {
      const reply = await evaluate(call, agentName, 'bad');
      expect(reply).toMatchObject(problem(503, 'SERVICE_UNAVAILABLE', { reason: 'ServiceUnavailable' }));
      expect(reply.headers.get('retry-after')).toBe('1');
      for (const outcome of await rpc('EvaluationService.Evaluate', evaluation(agentName))) {
        expect(outcome).toMatchObject({
          ok: false,
          status: 'Unavailable',
          reason: 'SERVICE_UNAVAILABLE',
          retryAfterSeconds: 1,
        });
      }
    },
  );

  it('a stream continues: each evaluation has a verdict or a status of its own', async () => {
    for (const client of clients) {
      const [reply] = await client.stream(methodNamed('EvaluationService.EvaluateStream'), [
        { id: 'x', evaluations: [evaluation(AGENT), evaluation('stored-agent-1')] },
      ]);
      expect(reply?.results).toMatchObject([{ verdict: { is_safe: false } }, { error: { code: 14 } }]);
    }
  });

  it.each<[string, string, unknown]>([
    ['POST', '/api/v1/agents/initAgent', REGISTRATION],
    ['PUT', '/api/v1/controls', { name: 'never-stored', data: denyWord('x') }],
    ['PUT', '/api/v1/controls/1/data', { data: denyWord('x') }],
    ['PATCH', '/api/v1/controls/1', { enabled: false }],
    ['DELETE', '/api/v1/controls/1?force=true', undefined],
    ['POST', `/api/v1/agents/${AGENT}/controls/1`, undefined],
    ['DELETE', `/api/v1/agents/${AGENT}/controls/1`, undefined],
    ['POST', '/api/v1/observability/events', { events: [EVENT] }],
    ['GET', '/api/v1/agents', undefined],
    ['GET', `/api/v1/agents/${AGENT}`, undefined],
    ['GET', `/api/v1/agents/${AGENT}/controls`, undefined],
    ['GET', '/api/v1/controls', undefined],
    ['GET', '/api/v1/controls/1', undefined],
    ['GET', '/api/v1/controls/1/data', undefined],
  ])('%s %s is refused with 503 and states when to retry', async (method, path, body) => {
    const reply = await call(method, path, body);
    expect(reply).toMatchObject(problem(503, 'SERVICE_UNAVAILABLE'));
    expect(reply.headers.get('retry-after')).toBe('1');
  });

  it('RPCs that need the database are refused with UNAVAILABLE', async () => {
    for (const outcome of [
      ...(await rpc('AgentService.InitAgent', REGISTRATION)),
      ...(await rpc('ControlService.ListControls', {})),
      ...(await rpc('ObservabilityService.CreateEvents', { events: [EVENT] })),
    ]) {
      expect(outcome).toMatchObject({ ok: false, status: 'Unavailable', retryAfterSeconds: 1 });
    }
  });

  const { agent_name: agentName, trace_id: traceId, span_id: spanId } = EVENT;
  const sent = {
    agentName,
    traceId,
    spanId,
    controlExecutionId: EVENT.control_execution_id,
    controlId: EVENT.control_id,
    controlName: EVENT.control_name,
    checkStage: Stage.PRE,
    appliesTo: AppliesTo.LLM_CALL,
    action: Decision.DENY,
    matched: true,
    confidence: 1,
  };
  async function* messages() {
    yield { events: [sent] };
  }

  it.each(RPC_PROTOCOLS)('a stream of events ends with UNAVAILABLE over %s', async (protocol) => {
    const call = observability(rpcTransport(protocol, service.url)).ingestEvents(messages());
    const error = await call.then(
      () => undefined,
      (reason: unknown) => ConnectError.from(reason),
    );
    expect(error?.code).toBe(Code.Unavailable);
    expect(error?.findDetails(ErrorInfoSchema)[0]?.metadata).toMatchObject({ stored_events: '0' });
    expect(error?.findDetails(RetryInfoSchema)[0]?.retryDelay?.seconds).toBe(1n);
  });

  it.each(BIDI_PROTOCOLS)('a stream of published events ends with UNAVAILABLE over %s', async (protocol) => {
    const replies = observability(rpcTransport(protocol, service.url)).publishEvents(messages());
    const error = await replies[Symbol.asyncIterator]()
      .next()
      .then(
        () => undefined,
        (reason: unknown) => ConnectError.from(reason),
      );
    expect(error?.code).toBe(Code.Unavailable);
    expect(error?.findDetails(ErrorInfoSchema)[0]?.metadata).toMatchObject({ acknowledged_messages: '0' });
    expect(error?.findDetails(RetryInfoSchema)[0]?.retryDelay?.seconds).toBe(1n);
  });

  it('what the service has recorded cannot be stored, and a query that wants it is refused', async () => {
    for (const outcome of [
      ...(await rpc('ObservabilityService.FlushEvents', {})),
      ...(await rpc('ObservabilityService.QueryEvents', { include_buffered: true })),
    ]) {
      expect(outcome).toMatchObject({ ok: false, status: 'Unavailable', retryAfterSeconds: 1 });
    }
  });

  it('what needs no database is answered', async () => {
    expect((await call('GET', '/api/v1/evaluators')).status).toBe(200);
    expect((await call('POST', '/api/v1/controls/validate', { data: denyWord('x') })).status).toBe(200);
  });

  it('the service is healthy and ready, and reports that the database is down', async () => {
    const health = await until(
      () => call('GET', '/health'),
      ({ body }) => body.database === 'down',
    );
    expect(health).toMatchObject({ status: 200, body: { status: 'healthy', database: 'down' } });
    expect((await call('GET', '/ready')).status).toBe(200);
  });

  it('nothing has to be restarted once it is back', async () => {
    await postgres.resume();
    await until(
      () => call('GET', '/health'),
      ({ body }) => body.database === 'up',
    );
    const mutation = await until(
      () => call('PUT', '/api/v1/controls/1/data', { data: denyWord('worse') }),
      ({ status }) => status !== 503,
    );
    expect(mutation.status).toBe(200);
    expect((await evaluate(call, AGENT, 'bad')).body.is_safe).toBe(true);
    expect((await evaluate(call, AGENT, 'worse')).body.is_safe).toBe(false);
    expect((await evaluate(call, 'stored-agent-1', 'bad')).body.is_safe).toBe(true);
    expect((await evaluate(call, 'never-registered', 'bad')).status).toBe(404);
    const events = await call('POST', '/api/v1/observability/events', { events: [EVENT] });
    expect([events.status, events.body.status]).toEqual([202, 'queued']);
    // Evaluations during the outage were counted, those that were refused not.
    expect((await call('POST', '/api/v1/observability/flush')).status).toBe(200);
    const { counts } = (await call('GET', '/api/v1/observability/evaluations?time_range=1h')).body;
    const samples = parseMetrics(String((await call('GET', '/metrics')).body));
    expect(counts.evaluated).toBe(10);
    for (const name of ['evaluation_outcomes_total', 'evaluations_total']) {
      expect(metric(samples, `control_enforcement_server_${name}`)).toBe(counts.evaluated);
    }
    // What was refused was not done.
    expect((await call('GET', '/api/v1/controls')).body.pagination.total).toBe(1);
  });
});
