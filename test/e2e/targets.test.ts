import { createClient } from '@connectrpc/connect';
import { createGrpcTransport } from '@connectrpc/connect-node';
import { beforeAll, expect, it } from 'vitest';
import { AgentService } from '../../gen/proto/enforcement/v1/agent_service_pb.js';
import { methodNamed, PROTOCOL_NAMES, PROTOCOLS, STREAMING_PROTOCOLS } from '../support/protocol-clients.js';
import { denyWord } from '../support/seed.js';
import { describeService } from '../support/service-suite.js';
import { errorOfReply, errorOfRpc } from '../support/told-errors.js';

const AGENT = 'targeted-agent-01';
const INIT = '/api/v1/agents/initAgent';
const EVALUATION = '/api/v1/evaluation';
const BINDINGS = '/api/v1/control-bindings';
const PAIR = { target_type: 'env', target_id: 'prod' };
const OTHER = { target_type: 'env', target_id: 'test' };
const LARGE_STEP_CHARACTERS = 100_000;

const asking = (input: string, target: object = {}) => ({
  agent_name: AGENT,
  stage: 'pre',
  step: { type: 'llm', name: 'answer', input },
  ...target,
});

/** A target that lacks something, and what is missing. */
const HALVES: [object, string][] = [
  [{ target_type: 'env' }, 'target_id'],
  [{ target_id: 'prod' }, 'target_type'],
  [{ target_type: 'env', target_id: null }, 'target_id'],
];
const ODD: [object, string, string][] = [
  [{ ...PAIR, target_id: '' }, 'target_id', 'string_too_short'],
  [{ ...PAIR, target_type: 'x'.repeat(256) }, 'target_type', 'string_too_long'],
  [{ ...PAIR, target_id: 7 }, 'target_id', 'string_type'],
];

describeService('a target', ({ call, seed, service }) => {
  const ids = { direct: 0, ofPolicy: 0, bound: 0, disabled: 0, other: 0 };
  const bind = async (target: object, controlId: number, more: object = {}) =>
    (await call('PUT', `${BINDINGS}/by-key`, { ...target, control_id: controlId, ...more })).body;
  const controlsOf = (query: Record<string, string>) =>
    call('GET', `/api/v1/agents/${AGENT}/controls?${new URLSearchParams(query)}`);
  const idsOf = (controls: { id: number }[]) => controls.map(({ id }) => id);
  /** Ids of the controls of an agent that works on PAIR, newest first. */
  const withPair = () => [ids.bound, ids.ofPolicy, ids.direct];

  beforeAll(async () => {
    ids.direct = await seed.linked(AGENT, 'direct', denyWord('direct'));
    ids.ofPolicy = await seed.control('of-policy', denyWord('policy'));
    ids.bound = await seed.control('bound', denyWord('bound'));
    ids.disabled = await seed.control('disabled', denyWord('disabled'));
    ids.other = await seed.control('other', denyWord('other'));
    const policy = (await call('PUT', '/api/v1/policies', { name: 'some' })).body.policy_id;
    await call('POST', `/api/v1/policies/${policy}/controls/${ids.ofPolicy}`);
    await call('POST', `/api/v1/agents/${AGENT}/policies/${policy}`);
    // The agent has the first two already: each control is there once.
    for (const id of [ids.direct, ids.ofPolicy, ids.bound]) await bind(PAIR, id);
    await bind(PAIR, ids.disabled, { enabled: false });
    await bind(OTHER, ids.other);
  });

  it('adds its enabled bindings to the controls of initAgent and of lists, each once', async () => {
    const agent = { agent_name: AGENT };
    const init = async (target: object) => (await call('POST', INIT, { agent, ...target })).body;
    expect(idsOf((await init(PAIR)).controls)).toEqual(withPair());
    expect(await init(PAIR)).not.toHaveProperty('warnings');
    expect(idsOf((await init({})).controls)).toEqual([ids.ofPolicy, ids.direct]);
    expect(idsOf((await init(OTHER)).controls)).toEqual([ids.other, ids.ofPolicy, ids.direct]);
    for (const [query, expected] of [
      [PAIR, withPair()],
      [{}, [ids.ofPolicy, ids.direct]],
      [{ ...PAIR, target_type: 'other' }, [ids.ofPolicy, ids.direct]],
    ] as const) {
      const reply = await controlsOf({ ...query });
      expect(idsOf(reply.body.controls)).toEqual(expected);
      expect(reply.headers.get('x-service-warning')).toBeNull();
    }
  });

  it.each(PROTOCOL_NAMES)('adds its enabled bindings to evaluations over %s', async (protocol) => {
    const client = PROTOCOLS[protocol](service.url);
    const evaluate = methodNamed('EvaluationService.Evaluate');
    const isSafe = async (input: string, target: object) => {
      const outcome = await client.call(evaluate, asking(input, target));
      if (!outcome.ok) throw new Error(JSON.stringify(outcome));
      return outcome.reply.is_safe;
    };
    expect(await isSafe('bound', PAIR)).toBe(false);
    expect(await isSafe('policy', PAIR)).toBe(false);
    expect(await isSafe('disabled', PAIR)).toBe(true);
    expect(await isSafe('other', PAIR)).toBe(true);
    expect(await isSafe('other', OTHER)).toBe(false);
    expect(await isSafe('bound', {})).toBe(true);
    // A large message is evaluated in a thread.
    expect(await isSafe(`${'x'.repeat(LARGE_STEP_CHARACTERS)} bound`, PAIR)).toBe(false);
    expect(await isSafe(`${'x'.repeat(LARGE_STEP_CHARACTERS)} bound`, OTHER)).toBe(true);
    const batch = methodNamed('EvaluationService.EvaluateBatch');
    const targets = [PAIR, {}, OTHER];
    const outcome = await client.call(batch, { evaluations: targets.map((one) => asking('bound', one)) });
    expect(outcome).toMatchObject({
      ok: true,
      reply: { results: [{ verdict: { is_safe: false } }, { verdict: { is_safe: true } }, {}] },
    });
    client.close();
  });

  it.each(STREAMING_PROTOCOLS)(
    'adds its enabled bindings to the messages of a stream over %s',
    async (protocol) => {
      const client = PROTOCOLS[protocol](service.url);
      const messages = [PAIR, OTHER].map((one, at) => ({
        id: String(at),
        evaluations: [asking('bound', one)],
      }));
      const replies = await client.stream(methodNamed('EvaluationService.EvaluateStream'), messages);
      expect(replies).toMatchObject([
        { results: [{ verdict: { is_safe: false } }] },
        { results: [{ verdict: { is_safe: true } }] },
      ]);
      client.close();
    },
  );

  it('adds its enabled bindings to explanations', async () => {
    const explained = async (target: object) => {
      const reply = await call('POST', '/api/v1/evaluation/explain', asking('bound', target));
      expect(reply.status).toBe(200);
      const { verdict, controls } = reply.body;
      return [verdict.is_safe, controls.map((one: { control_id: number }) => one.control_id)];
    };
    expect(await explained(PAIR)).toEqual([false, withPair()]);
    expect(await explained(OTHER)).toEqual([true, [ids.other, ids.ofPolicy, ids.direct]]);
    const data = denyWord('bound');
    const refused = await call('POST', '/api/v1/evaluation/explain', { ...asking('x', PAIR), data });
    expect(errorOfReply(refused)).toMatchObject({ status: 422, items: [{ field: 'target_type' }] });
  });

  it('is followed by watched controls: a binding that is made, disabled, enabled and removed', async () => {
    const client = createClient(AgentService, createGrpcTransport({ baseUrl: service.url }));
    const target = { targetType: 'watched', targetId: 'one' };
    const wire = { target_type: 'watched', target_id: 'one' };
    const end = new AbortController();
    const stream = client.watchControls({ agentName: AGENT, ...target }, { signal: end.signal });
    const messages = stream[Symbol.asyncIterator]();
    /** The next message about controls. */
    const next = async () => {
      for (;;) {
        const { value, done } = await messages.next();
        if (done === true) throw new Error('the stream ended');
        if (value.news.case === 'full') return { full: value.news.value.controls.map(({ id }) => id) };
        if (value.news.case === 'changed') {
          const { upserted, removed } = value.news.value;
          return { upserted: upserted.map(({ id }) => id), removed };
        }
      }
    };
    expect(await next()).toEqual({ full: [ids.ofPolicy, ids.direct] });
    await bind(wire, ids.other);
    expect(await next()).toEqual({ upserted: [ids.other], removed: [] });
    await bind(wire, ids.other, { enabled: false });
    expect(await next()).toEqual({ upserted: [], removed: [ids.other] });
    await bind(wire, ids.other);
    expect(await next()).toEqual({ upserted: [ids.other], removed: [] });
    await call('POST', `${BINDINGS}/by-key:delete`, { ...wire, control_id: ids.other });
    expect(await next()).toEqual({ upserted: [], removed: [ids.other] });
    end.abort();
    await messages.next().catch(() => {});
  });

  it('has its bindings at the next evaluation, whatever is changed of them', async () => {
    const target = { target_type: 'fresh', target_id: 'target' };
    const denies = async () => !(await call('POST', EVALUATION, asking('other', target))).body.is_safe;
    expect(await denies()).toBe(false);
    const { binding_id: id } = await bind(target, ids.other);
    expect(await denies()).toBe(true);
    await call('PATCH', `${BINDINGS}/${id}`, { enabled: false });
    expect(await denies()).toBe(false);
    await call('PATCH', `${BINDINGS}/${id}`, { enabled: true });
    expect(await denies()).toBe(true);
    await call('DELETE', `${BINDINGS}/${id}`);
    expect(await denies()).toBe(false);
    const temporary = await seed.control('temporary', denyWord('other'));
    await bind(target, temporary);
    expect(await denies()).toBe(true);
    await call('PUT', `/api/v1/controls/${temporary}/data`, { data: denyWord('nothing') });
    expect(await denies()).toBe(false);
    await call('PUT', `/api/v1/controls/${temporary}/data`, { data: denyWord('other') });
    expect(await denies()).toBe(true);
    await call('DELETE', `/api/v1/controls/${temporary}?force=true`);
    expect(await denies()).toBe(false);
  });

  it('may be any text, also one that cannot be stored', async () => {
    for (const target_id of ['\0', '\ud800', '"],[', 'ü/ß 😀', 'x'.repeat(255)]) {
      const reply = await call('POST', EVALUATION, asking('direct', { ...PAIR, target_id }));
      expect(reply).toMatchObject({ status: 200, body: { is_safe: false } });
    }
    expect(await controlsOf({ ...PAIR, target_id: 'ü/ß 😀' })).toMatchObject({ status: 200 });
  });

  it('of an agent that does not exist is as good as none', async () => {
    const agent_name = 'no-such-agent-01';
    const [with_, without] = await Promise.all(
      [PAIR, {}].map((target) => call('POST', EVALUATION, { ...asking('x', target), agent_name })),
    );
    const { metadata: _one, ...told } = with_?.body ?? {};
    const { metadata: _other, ...expected } = without?.body ?? {};
    expect(with_?.status).toBe(404);
    expect(told).toEqual(expected);
  });

  it.each(HALVES)(
    'is refused when it is half a pair, without a field in bodies: %j',
    async (half, missing) => {
      const item = {
        field: '',
        code: 'value_error',
        message: expect.stringContaining(`${missing} is missing`),
      };
      const refused = { status: 422, reason: 'VALIDATION_ERROR', items: [item] };
      const agent = { agent_name: AGENT };
      const asked = asking('x', half);
      expect(errorOfReply(await call('POST', INIT, { agent, ...half }))).toMatchObject(refused);
      expect(errorOfReply(await call('POST', EVALUATION, asked))).toMatchObject(refused);
      const explained = await call('POST', '/api/v1/evaluation/explain', asked);
      expect(errorOfReply(explained)).toMatchObject(refused);
      const batch = await call('POST', `${EVALUATION}/batch`, { evaluations: [asked, asking('x')] });
      const [first, second] = batch.body.results;
      expect(errorOfReply({ ...batch, status: first.error.status, body: first.error })).toMatchObject(
        refused,
      );
      expect(second.error?.status).not.toBe(422);
      const invalid = { ...refused, status: 'InvalidArgument' };
      const { url } = service;
      expect(await errorOfRpc(url, 'AgentService.InitAgent', { agent, ...half })).toMatchObject(invalid);
      expect(await errorOfRpc(url, 'EvaluationService.Evaluate', asked)).toMatchObject(invalid);
    },
  );

  it.each(HALVES)('is refused with 400 at the missing half in the query: %j', async (half, missing) => {
    const given = Object.fromEntries(Object.entries(half).filter(([, value]) => value !== null));
    const item = { field: missing, code: 'missing_target_pair' };
    const refused = { status: 400, reason: 'VALIDATION_ERROR', items: [item] };
    expect(errorOfReply(await controlsOf(given))).toMatchObject(refused);
    const input = { agent_name: AGENT, ...given };
    expect(await errorOfRpc(service.url, 'AgentService.ListAgentControls', input)).toMatchObject({
      ...refused,
      status: 'InvalidArgument',
    });
  });

  it.each(ODD)(
    'is refused when a half is no text of 1 to 255 characters: %j',
    async (target, field, code) => {
      const refused = { status: 422, items: [{ field, code }] };
      expect(errorOfReply(await call('POST', EVALUATION, asking('x', target)))).toMatchObject(refused);
      expect(
        errorOfReply(await call('POST', INIT, { agent: { agent_name: AGENT }, ...target })),
      ).toMatchObject(refused);
    },
  );
});
