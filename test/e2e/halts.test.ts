import { afterEach, describe, expect, it } from 'vitest';
import { describeAboveStores } from '../support/databases.js';
import { restClient } from '../support/http.js';
import { methodNamed, PROTOCOL_NAMES, PROTOCOLS, STREAMING_PROTOCOLS } from '../support/protocol-clients.js';
import { denyWord, seeder } from '../support/seed.js';
import { describeServiceOnSqlite, testService } from '../support/service-suite.js';
import { until } from '../support/until.js';

const AGENT = 'halted-bot-01';
const step = { type: 'tool', name: 'send_mail', input: { text: 'hello' } };
const request = { agent_name: AGENT, stage: 'pre', session_id: 'session-1', step, accepts: ['steer'] };
const HALTS = '/api/v1/halts';
const SCOPES = [
  { scope: 'step_name', step_name: 'send_mail' },
  { scope: 'step_name', step_name: 'send_mail', agent_name: AGENT },
  { scope: 'session', agent_name: AGENT, session_id: 'session-1' },
  { scope: 'agent', agent_name: AGENT },
  { scope: 'namespace' },
  { scope: 'installation' },
];

describeServiceOnSqlite('halts', ({ call, seed, service }) => {
  const lift = async (id: number) => {
    expect((await call('POST', `${HALTS}/${id}/lift`, { reason: 'over' })).status).toBe(200);
  };
  const verdict = async (more: object = {}) =>
    (await call('POST', '/api/v1/evaluation', { ...request, ...more })).body;
  // A failed case leaves no halt in force.
  afterEach(async () => {
    const { halts } = (await call('GET', `${HALTS}?state=active`)).body;
    for (const { id } of halts) await lift(id);
  });

  it('have an agent to deny', async () => {
    await seed.linked(AGENT, 'no-bad', denyWord('bad'));
    expect(await verdict()).toMatchObject({ is_safe: true, outcome: 'allow' });
  });

  it.each(PROTOCOL_NAMES)('deny at once, and end at once, over %s', async (protocol) => {
    const client = PROTOCOLS[protocol](service.url);
    const evaluated = () => client.call(methodNamed('EvaluationService.Evaluate'), request);
    for (const of of SCOPES) {
      const made = await client.call(methodNamed('HaltService.CreateHalt'), { ...of, reason: 'stop it' });
      const { id } = (made as unknown as { reply: { halt: { id: number } } }).reply.halt;
      expect(await evaluated()).toMatchObject({
        ok: true,
        reply: {
          is_safe: false,
          confidence: 1,
          outcome: 'deny',
          reason: expect.stringMatching(new RegExp(`^halt ${id} of .*: stop it$`)),
          halt: { halt_id: id, reason: 'stop it' },
          matches: [],
          selected_controls: 0,
        },
      });
      await client.call(methodNamed('HaltService.LiftHalt'), { halt_id: id });
      expect(await evaluated()).toMatchObject({ ok: true, reply: { is_safe: true, outcome: 'allow' } });
    }
    client.close();
  });

  it.each(STREAMING_PROTOCOLS)('deny the evaluations of batches and streams over %s', async (protocol) => {
    const client = PROTOCOLS[protocol](service.url);
    const { body } = await call('POST', HALTS, { scope: 'agent', agent_name: AGENT, reason: 'stop' });
    const evaluations = [request, { ...request, stage: 'post' }];
    const denied = { verdict: { is_safe: false, halt: { halt_id: body.halt.id } } };
    const batch = await client.call(methodNamed('EvaluationService.EvaluateBatch'), { evaluations });
    expect(batch).toMatchObject({ ok: true, reply: { results: [denied, denied] } });
    const messages = [{ id: 'one', evaluations }];
    const replies = await client.stream(methodNamed('EvaluationService.EvaluateStream'), messages);
    expect(replies).toMatchObject([{ results: [denied, denied] }]);
    await lift(body.halt.id);
    client.close();
  });

  it('deny large steps, and agents that are not registered', async () => {
    const { body } = await call('POST', HALTS, { scope: 'namespace', reason: 'stop' });
    const large = { ...step, input: { text: 'x'.repeat(1_000_000) } };
    const halted = { is_safe: false, halt: { halt_id: body.halt.id } };
    expect(await verdict({ step: large })).toMatchObject(halted);
    expect(await verdict({ agent_name: 'never-seen-01' })).toMatchObject(halted);
    await lift(body.halt.id);
    expect(await verdict({ step: large })).toMatchObject({ is_safe: true });
  });

  it('are in the audit log, with what they denied and why', async () => {
    const { body } = await call('POST', HALTS, { scope: 'agent', agent_name: AGENT, reason: 'leaks' });
    await lift(body.halt.id);
    const entries = (await call('GET', '/api/v1/audit?resource=halt&limit=2')).body.entries;
    expect(entries).toMatchObject([
      { action: 'halt.lift', resource_id: String(body.halt.id), resource_name: `agent "${AGENT}"` },
      { action: 'halt.create', resource_id: String(body.halt.id) },
    ]);
    expect(entries[0].after).toContain('over');
    expect(entries[1].after).toContain('leaks');
  });

  it('count and are found as denied steps', async () => {
    const { body } = await call('POST', HALTS, { scope: 'agent', agent_name: AGENT, reason: 'leaks' });
    const { decision_id } = await verdict();
    await call('POST', '/api/v1/observability/flush');
    const found = await call('POST', '/api/v1/observability/events/query', { agent_name: AGENT, limit: 1 });
    expect(found.body.events).toMatchObject([
      {
        control_execution_id: decision_id,
        control_id: 0,
        control_name: `halt ${body.halt.id}`,
        action: 'deny',
        matched: true,
        evaluator_name: 'halt',
        metadata: { halt: { id: body.halt.id, reason: 'leaks' } },
      },
    ]);
    const problems = (await call('GET', '/api/v1/problems')).body.problems;
    expect(problems.find(({ kind }: { kind: string }) => kind === 'halted')).toMatchObject({
      severity: 'notice',
      count: 1,
      subjects: [{ type: 'halt', id: String(body.halt.id), detail: 'leaks' }],
    });
    await lift(body.halt.id);
  });

  it('are in explanations, beside what the controls say', async () => {
    const { body } = await call('POST', HALTS, { scope: 'agent', agent_name: AGENT, reason: 'leaks' });
    const bad = { ...step, input: { text: 'bad' } };
    const asked = { agent_name: AGENT, stage: 'pre', step: bad };
    expect((await call('POST', '/api/v1/evaluation/explain', asked)).body).toMatchObject({
      verdict: {
        is_safe: false,
        outcome: 'deny',
        reason: expect.stringMatching(/^halt \d+ of agent "halted-bot-01": leaks; deny control "no-bad"/),
        halt: { halt_id: body.halt.id, reason: 'leaks' },
      },
      controls: [{ control_name: 'no-bad' }],
    });
    await lift(body.halt.id);
  });

  it('end by themselves', async () => {
    const expires_at = new Date(Date.now() + 1_500).toISOString();
    const { body } = await call('POST', HALTS, { scope: 'namespace', reason: 'a moment', expires_at });
    expect(body.halt).toMatchObject({ state: 'active', expires_at });
    await until(verdict, ({ is_safe }) => is_safe === true);
    expect(Date.now()).toBeGreaterThanOrEqual(Date.parse(expires_at));
    const { halt } = (await call('GET', `${HALTS}/${body.halt.id}`)).body;
    expect(halt.state).toBe('expired');
    const again = await call('POST', `${HALTS}/${body.halt.id}/lift`, {});
    expect(again.body.halt).toMatchObject({ state: 'expired', lifted_at: null });
  });
});

describeAboveStores('a halt of one process', (freshDatabaseUrl) => {
  it('denies in another one at once if its revision is demanded, and soon in any case', async () => {
    const DATABASE_URL = await freshDatabaseUrl();
    const [first, second] = [await testService({ DATABASE_URL }), await testService({ DATABASE_URL })];
    const [one, two] = [restClient(first.url), restClient(second.url)];
    await seeder(one).linked(AGENT, 'no-bad', denyWord('bad'));
    const verdictAt = (call: typeof one, min_revision = 0) =>
      call('POST', '/api/v1/evaluation', { ...request, min_revision });
    await until(
      () => verdictAt(two),
      ({ body }) => body.is_safe === true,
    );
    for (let round = 0; round < 5; round += 1) {
      const made = await one('POST', HALTS, { scope: 'agent', agent_name: AGENT, reason: 'stop' });
      expect((await verdictAt(one)).body.is_safe).toBe(false);
      const revision = Number(made.headers.get('x-service-revision'));
      expect((await verdictAt(two, revision)).body).toMatchObject({ halt: { reason: 'stop' } });
      await one('POST', `${HALTS}/${made.body.halt.id}/lift`, {});
      expect((await verdictAt(one)).body.is_safe).toBe(true);
      await until(
        () => verdictAt(two),
        ({ body }) => body.is_safe === true,
      );
    }
    await two('POST', HALTS, { scope: 'namespace', reason: 'the other way' });
    await until(
      () => verdictAt(one),
      ({ body }) => body.halt?.reason === 'the other way',
    );
  });
});

describe('the events of halts', () => {
  it('have the evaluator of no control', async () => {
    const service = await testService({});
    const { status, body } = await restClient(service.url)('GET', '/api/v1/evaluators');
    expect(status).toBe(200);
    expect(Object.keys(body)).toContain('regex');
    expect(Object.keys(body)).not.toContain('halt');
  });
});
