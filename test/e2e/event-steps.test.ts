import type { MessageInitShape } from '@bufbuild/protobuf';
import { Code, ConnectError, createClient } from '@connectrpc/connect';
import { beforeAll, describe, expect, it } from 'vitest';
import { Stage } from '../../gen/proto/enforcement/v1/control_pb.js';
import { EvaluationService, Outcome } from '../../gen/proto/enforcement/v1/evaluation_service_pb.js';
import type { QueryEventsRequestSchema } from '../../gen/proto/enforcement/v1/observability_service_pb.js';
import { exchange, restClient } from '../support/http.js';
import { RPC_PROTOCOLS, rpcTransport } from '../support/rpc-transports.js';
import { denyWord } from '../support/seed.js';
import { describeService } from '../support/service-suite.js';
import { observability, watchEvents } from './event-streams.support.js';
import { event, eventRoutes, problems } from './events.support.js';

const AGENT = 'stepping-bot-1';
const STEP_MEMBERS = ['step_type', 'step_name', 'session_id', 'step_id', 'revision', 'decision_id'];
const TRACE = 'a'.repeat(32);

describeService('the step of an event', ({ call, service }) => {
  let routes: ReturnType<typeof eventRoutes>;
  beforeAll(async () => {
    routes = eventRoutes(call);
    const { agent, control, link } = service.seed;
    await agent(AGENT);
    await link(AGENT, await control('denies', denyWord('bad')));
  });

  const client = (protocol: (typeof RPC_PROTOCOLS)[number] = 'gRPC') =>
    observability(rpcTransport(protocol, service.url));

  describe.each(RPC_PROTOCOLS)('over %s', (protocol) => {
    const sessionId = `session ${protocol}`;
    const evaluate = (more: object) =>
      createClient(EvaluationService, rpcTransport(protocol, service.url)).evaluate({
        agentName: AGENT,
        stage: Stage.PRE,
        stepForm: {
          case: 'stepJson',
          value: Buffer.from(
            JSON.stringify({ type: 'tool', name: `send ${protocol}`, input: { text: 'bad' } }),
          ),
        },
        sessionId,
        ...more,
      });

    it('is recorded with the verdict, and found by each of its members', async () => {
      const verdict = await evaluate({ stepId: 'step-1', traceparent: `00-${TRACE}-${'b'.repeat(16)}-01` });
      expect(verdict.outcome).toBe(Outcome.DENY);
      await evaluate({ stepId: 'step-2' });
      const found = async (filter: MessageInitShape<typeof QueryEventsRequestSchema>) =>
        (await client(protocol).queryEvents({ sessionId, includeBuffered: true, ...filter })).events;
      const [own, ...others] = await found({ stepId: 'step-1' });
      expect(others).toEqual([]);
      expect(own).toMatchObject({
        traceId: TRACE,
        stepType: 'tool',
        stepName: `send ${protocol}`,
        sessionId,
        stepId: 'step-1',
        revision: verdict.revision,
        decisionId: verdict.decisionId,
      });
      const counted = async (filter: object) => (await found(filter)).length;
      const revision = Number(verdict.revision);
      expect(await counted({})).toBe(2);
      expect(await counted({ decisionId: verdict.decisionId })).toBe(1);
      expect(await counted({ decisionId: 'another' })).toBe(0);
      expect(await counted({ stepType: 'tool', stepName: `send ${protocol}` })).toBe(2);
      expect(await counted({ stepType: 'llm' })).toBe(0);
      expect(await counted({ stepName: 'send' })).toBe(0);
      expect(await counted({ minRevision: BigInt(revision), maxRevision: BigInt(revision) })).toBe(2);
      expect(await counted({ minRevision: BigInt(revision + 1) })).toBe(0);
      expect(await counted({ maxRevision: BigInt(revision - 1) })).toBe(0);
    });

    it('is exported and watched with the same filters', async () => {
      const verdict = await evaluate({ stepId: 'step-3' });
      const filter = { sessionId, stepId: 'step-3', decisionId: verdict.decisionId, minRevision: 1n };
      const watcher = watchEvents(rpcTransport(protocol, service.url), { ...filter, afterPosition: 0n });
      await client(protocol).flushEvents({});
      const [id = ''] = verdict.matches.map(({ controlExecutionId }) => controlExecutionId);
      await watcher.reached(id);
      await watcher.stop();
      expect(watcher.ids()).toEqual([id]);
      const exported: unknown[] = [];
      for await (const { event: one } of client(protocol).exportEvents(filter)) exported.push(one);
      expect(exported).toMatchObject([{ controlExecutionId: id, stepId: 'step-3', sessionId }]);
    });

    it('of a client is stored, and refused with the name of each invalid member', async () => {
      const of = (more: object) => ({
        controlExecutionId: `of ${protocol}`,
        traceId: 't',
        spanId: 's',
        agentName: 'client-bot-01',
        controlId: 1,
        controlName: 'one',
        checkStage: Stage.PRE,
        appliesTo: 2,
        action: 1,
        matched: true,
        confidence: 1,
        ...more,
      });
      const step = {
        stepType: 't'.repeat(255),
        stepName: 'ö'.repeat(1_024),
        sessionId: `client ${protocol}`,
        stepId: 'x',
        revision: 2n ** 53n - 1n,
        decisionId: 'd',
      };
      await client(protocol).createEvents({ events: [of(step)] });
      const { events } = await client(protocol).queryEvents({ sessionId: step.sessionId });
      expect(events).toMatchObject([step]);
      const wrong = { stepType: '', stepName: 'n'.repeat(1_025), revision: 2n ** 53n, decisionId: '' };
      const error = await client(protocol)
        .createEvents({ events: [of(wrong)] })
        .then(() => undefined, ConnectError.from);
      expect(error?.code).toBe(Code.InvalidArgument);
      expect(error?.rawMessage).toContain('events[0].step_type');
    });
  });

  it('is part of the replies of JSON routes only if they are asked for it', async () => {
    const step = {
      step_type: 'tool',
      step_name: 'pay',
      session_id: 'asked',
      step_id: 's',
      revision: 3,
      decision_id: 'd',
    };
    await routes.send(event({ control_execution_id: 'with', ...step }));
    await routes.send(event({ control_execution_id: 'without', span_id: 'asked' }));
    const [plain] = (await routes.query({ session_id: 'asked' })).body.events;
    expect(Object.keys(plain).filter((name) => STEP_MEMBERS.includes(name))).toEqual([]);
    const [shown] = (await routes.query({ session_id: 'asked', include_step: true })).body.events;
    expect(shown).toEqual({ ...plain, ...step });
    const [empty] = (await routes.query({ span_id: 'asked', include_step: true })).body.events;
    expect(STEP_MEMBERS.map((name) => empty[name])).toEqual(STEP_MEMBERS.map(() => null));
    const lines = async (body: object) => {
      const path = '/api/v1/observability/events/export';
      const headers = { 'content-type': 'application/json' };
      const reply = await exchange(service.url, {
        method: 'POST',
        path,
        headers,
        body: JSON.stringify(body),
      });
      return reply.text
        .trim()
        .split('\n')
        .map((line) => JSON.parse(line));
    };
    expect(await lines({ session_id: 'asked' })).toEqual([plain]);
    expect(await lines({ session_id: 'asked', include_step: true })).toEqual([shown]);
    expect(problems(await routes.query({ include_step: 'perhaps', min_revision: -1 }))).toEqual([
      'min_revision greater_than_equal',
      'include_step bool_parsing',
    ]);
  });

  it('is documented as members that a response may lack', async () => {
    const { json } = await exchange(service.url, { path: '/openapi.json' });
    const { properties, required } = json.components.schemas.ControlExecutionEvent;
    for (const name of STEP_MEMBERS) {
      expect(required).not.toContain(name);
      expect(properties[name]).toMatchObject({ type: [expect.any(String), 'null'] });
    }
    expect(required).toContain('selector_path');
  });

  it('of one check is that of the service, with what only the client knows', async () => {
    const call = restClient(service.url);
    const body = {
      agent_name: AGENT,
      stage: 'pre',
      step: { type: 'tool', name: 'merge', input: { text: 'bad' } },
    };
    const { matches } = (await call('POST', '/api/v1/evaluation', body)).body;
    const id = matches[0].control_execution_id;
    await routes.send(
      event({
        control_execution_id: id,
        step_name: 'of the client',
        session_id: 'merged',
        evaluator_name: 'own',
      }),
    );
    const found = await routes.query({
      control_execution_id: id,
      include_buffered: true,
      include_step: true,
    });
    expect(found.body.events).toMatchObject([
      { step_type: 'tool', step_name: 'merge', session_id: 'merged', evaluator_name: 'own' },
    ]);
  });

  it('has no name that is too long, and no text that the database cannot hold', async () => {
    const call = restClient(service.url);
    const evaluate = (type: string, name: string, session: string) =>
      call('POST', '/api/v1/evaluation', {
        agent_name: AGENT,
        stage: 'pre',
        session_id: session,
        step: { type, name, input: 'bad' },
      });
    await evaluate('x'.repeat(256), 'n'.repeat(1_025), 'long');
    await evaluate('llm', 'nul \0', 'nul');
    const query = async (session: string) =>
      (await routes.query({ session_id: session, include_buffered: true, include_step: true })).body.events;
    expect(await query('long')).toMatchObject([{ step_type: null, step_name: null, session_id: 'long' }]);
    expect(await query('nul')).toMatchObject([{ step_type: 'llm', step_name: null }]);
  });
});
