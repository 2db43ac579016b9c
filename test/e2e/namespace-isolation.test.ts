import { type CallOptions, ConnectError, createClient } from '@connectrpc/connect';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { ObservabilityService } from '../../gen/proto/enforcement/v1/observability_service_pb.js';
import { type RpcMethod, rpcMethods } from '../../src/serve/descriptors/rpc-methods.js';
import { type DatabaseKind, describeAboveStores } from '../support/databases.js';
import { restClient } from '../support/http.js';
import { createKeysFile } from '../support/keys-file.js';
import { repliesOver, repliesOverRest } from '../support/named-requests.js';
import { PROTOCOLS, type ProtocolClient, type ProtocolName, SERVICES } from '../support/protocol-clients.js';
import { rpcTransport } from '../support/rpc-transports.js';
import { denyWord, seeder } from '../support/seed.js';
import { suiteService } from '../support/service-suite.js';
import { suiteTransports } from '../support/suite-transports.js';
import { until } from '../support/until.js';
import { event } from './events.support.js';

/** What every name, id and text of the other namespace contains that callers of this one must never see. */
const MARK = 'foreign';
/** Names of the same length, so that replies do not differ in theirs. */
const FOREIGN = 'foreign-bot-1';
const MISSING = 'missing-bot-1';
/** Registered in both namespaces. */
const SHARED = 'shared-bot-01';
const FOREIGN_TRACE = 'f'.repeat(32);
const MISSING_TRACE = 'e'.repeat(32);
const KEYS = {
  own: 'the-admin-key-of-ours',
  foreign: 'the-admin-key-of-theirs',
  viewer: 'the-viewer-key-of-ours',
};

const keys = createKeysFile([
  { name: 'ours', key: KEYS.own, role: 'admin', namespace: 'team-a' },
  { name: 'our-viewer', key: KEYS.viewer, role: 'viewer', namespace: 'team-a' },
  { name: `${MARK}-admin`, key: KEYS.foreign, role: 'admin', namespace: 'team-b' },
  { name: 'root', key: 'the-operator-key', role: 'operator' },
]);

afterAll(() => keys.remove());

const COUNTED = 'counted_step';
/** Counts one step of its own, so that no other test changes what it keeps. */
const RATE = {
  execution: 'server',
  scope: { stages: ['pre'], step_names: [COUNTED] },
  condition: {
    selector: { path: '*' },
    evaluator: { name: 'rate', config: { limit: 2, period: '24h', key: ['agent'] } },
  },
  action: { decision: 'deny' },
};

interface Ids {
  readonly control: number;
  readonly policy: number;
  readonly binding: number;
  readonly key: number;
  readonly halt: number;
  readonly destination: number;
  readonly delivery: number;
  /** A control that counts the steps of the agent that both have. */
  readonly rate: number;
}

/**
 * Each form that replies have on the wire: what they tell does not depend on the version of HTTP. They are made of what
 * the stores find, whichever these are.
 */
const FORMS_ON: Record<DatabaseKind, readonly ProtocolName[]> = {
  sqlite: [
    'REST over h2',
    'gRPC (grpc-js)',
    'gRPC-Web over h1',
    'Connect over h2',
    'Connect with JSON over h1',
  ],
  postgresql: [],
};

/** A text that no two calls share, and what the caller wrote itself, replaced. */
function masked(text: string, ids: readonly number[]): string {
  return text
    .replaceAll(new RegExp(`${FOREIGN}|${MISSING}|${MARK}-name|missing-name`, 'g'), 'NAME')
    .replaceAll(/\bteam-[bc]\b/g, 'NAMESPACE')
    .replaceAll(new RegExp(`${FOREIGN_TRACE}|${MISSING_TRACE}`, 'g'), 'TRACE')
    .replaceAll(new RegExp(`\\b(?:${ids.join('|')})\\b`, 'g'), 'ID')
    .replaceAll(/\d{4}-\d\d-\d\dT[\d:.]+(?:Z|\+00:00)?/g, 'TIME')
    .replaceAll(/"(?:\w*execution_id|decision_id|step_sha256|\w+_(?:ms|us|seconds))":"?[^,"}]*"?/g, '');
}

describeAboveStores('a namespace', (freshDatabaseUrl, kind) => {
  const service = suiteService(async () => ({
    ...keys.environment,
    DATABASE_URL: await freshDatabaseUrl(),
    SERVICE_OBSERVABILITY_RECORD: 'all',
    // A slow machine is no matter of these tests.
    SERVICE_MEMORY_TIMEOUT_SECONDS: '60',
  }));
  const transportTo = suiteTransports();
  const of = (key: string) => restClient(service.url, { 'x-api-key': key });
  let own: Ids;
  let foreign: Ids;
  /** One digit, as all ids here: lengths in error details are equal. */
  const MISSING_ID = 9;
  const numbers = () => [...Object.values(foreign), MISSING_ID];

  async function fill(key: string, word: string): Promise<Ids> {
    const call = of(key);
    const seed = seeder(call);
    const bot = word === MARK ? FOREIGN : 'own-bot-0001';
    for (const name of [bot, SHARED]) {
      await seed.agent(name, {
        agent: { agent_name: name, agent_metadata: { team: `${word}-team` }, agent_description: word },
        steps: [{ type: 'tool', name: `${word}_step` }],
        evaluators: [{ name: `${word}-judge`, config_schema: { type: 'object' } }],
      });
    }
    const control = await seed.control(`${word}-control`, denyWord(word, { tags: [word] }));
    await seed.link(SHARED, control);
    const rate = await seed.control(`${word}-rate`, RATE);
    await seed.link(SHARED, rate);
    const counted = { type: 'tool', name: COUNTED, input: {} };
    await call('POST', '/api/v1/evaluation', { agent_name: SHARED, stage: 'pre', step: counted });
    const { policy_id: policy } = (await call('PUT', '/api/v1/policies', { name: `${word}-policy` })).body;
    await call('POST', `/api/v1/policies/${policy}/controls/${control}`);
    await call('POST', `/api/v1/agents/${bot}/policies/${policy}`);
    const target = { target_type: 'project', target_id: `${word}-target`, control_id: control };
    const { binding_id: binding } = (await call('PUT', '/api/v1/control-bindings', target)).body;
    const created = await call('POST', '/api/v1/keys', { name: `${word}-key`, role: 'viewer' });
    await call('POST', '/api/v1/observability/events', {
      events: [
        event({
          agent_name: bot,
          control_id: control,
          control_name: `${word}-control`,
          control_execution_id: `${word}-execution`,
          trace_id: word === MARK ? FOREIGN_TRACE : 'a'.repeat(32),
        }),
      ],
    });
    for (const agent_name of [bot, SHARED]) {
      const step = { type: 'tool', name: `${word}_step`, input: { text: word } };
      await call('POST', '/api/v1/evaluation', { agent_name, stage: 'pre', step });
    }
    const destination = await call('POST', '/api/v1/notification-destinations', {
      name: word,
      type: 'webhook',
      url: `https://${word}.invalid/`,
      kinds: ['halt.set'],
    });
    const halt = { scope: 'step_name', step_name: `${word}-halted`, reason: word };
    const halted = await call('POST', '/api/v1/halts', halt);
    const { deliveries } = (await call('GET', '/api/v1/notification-deliveries')).body;
    return {
      control,
      policy,
      binding,
      key: created.body.key.id,
      halt: halted.body.halt.id,
      destination: destination.body.destination.id,
      delivery: deliveries[0].id,
      rate,
    };
  }

  let before: string[];
  beforeAll(async () => {
    const root = of('the-operator-key');
    for (const name of ['team-a', 'team-b']) {
      expect((await root('POST', '/api/v1/namespaces', { name })).status).toBe(200);
    }
    foreign = await fill(KEYS.foreign, MARK);
    own = await fill(KEYS.own, 'ownword');
    await of(KEYS.own)('POST', '/api/v1/observability/flush');
    before = await stateOf(KEYS.foreign);
  });

  /** All that lists and pages of a namespace show. */
  async function stateOf(key: string): Promise<string[]> {
    const paths = [
      'agents',
      'controls',
      'policies',
      'control-bindings',
      'keys',
      'halts',
      'notification-destinations',
      `agents/${SHARED}`,
    ];
    const single = [`agents/${SHARED}/controls`, `agents/${SHARED}/policies`];
    const replies = [];
    for (const path of [...paths, ...single]) {
      const reply = await of(key)('GET', `/api/v1/${path}`);
      expect([path, reply.status]).toEqual([path, 200]);
      replies.push(JSON.stringify(reply.body).replaceAll(/"last_\w+_at":"[^"]*"/g, ''));
    }
    return replies;
  }

  const step = { type: 'tool', name: 'send_mail', input: { text: 'x' } };
  /** A valid request about what is the caller's own, with every member by which something can be named. */
  function ownRequest({ desc, name }: RpcMethod): Record<string, unknown> {
    const known: Record<string, unknown> = {
      agent_name: SHARED,
      agent_names: [SHARED],
      agent: { agent_name: SHARED },
      control_id: own.control,
      control_ids: [own.control],
      policy_id: own.policy,
      binding_id: own.binding,
      key_id: own.key,
      halt_id: own.halt,
      destination_id: own.destination,
      delivery_id: own.delivery,
      key: { control_id: own.rate, agent_name: SHARED },
      reason: name.endsWith('LiftHalt') ? 'x' : undefined,
      events: [event({ agent_name: SHARED, control_id: own.control })],
      version_num: 1,
      evaluator_name: 'ownword-judge',
      stage: 'pre',
      step,
      time_range: '5m',
      namespace: 'team-a',
      target_type: 'project',
      target_id: 'ownword-target',
      target_binding: { target_type: 'project', target_id: 'ownword-target' },
      display_name: 'shown',
      role: name.endsWith('CreateKey') ? 'viewer' : undefined,
      name: /(?:UpdatePolicy|CreatePolicy|CreateControl|CreateNamespace|CreateKey)$/.test(name)
        ? 'x-name'
        : undefined,
      enabled: /(?:UpdateControl|UpdateControlBinding|UpdateControlBindingByKey)$/.test(name)
        ? true
        : undefined,
      data: /(?:SetControlData|CreateControl|ValidateControl)$/.test(name) ? denyWord('other') : undefined,
      template: name.endsWith('RenderTemplate') ? { definition_template: denyWord('x') } : undefined,
      template_values: name.endsWith('RenderTemplate') ? {} : undefined,
      evaluations: [{ agent_name: SHARED, stage: 'pre', step }],
    };
    const members = desc.input.fields.flatMap(({ name: member }) =>
      known[member] === undefined ? [] : [[member, known[member]] as const],
    );
    return Object.fromEntries(members);
  }

  type Pair = readonly [foreign: Record<string, unknown>, missing: Record<string, unknown>];
  /** The members by which a request names something, each with the pair of values it is replaced by. */
  const namings = (): Record<string, readonly [foreign: unknown, missing: unknown]> => ({
    agent_name: [FOREIGN, MISSING],
    agent_names: [
      [SHARED, FOREIGN],
      [SHARED, MISSING],
    ],
    control_id: [foreign.control, MISSING_ID],
    control_ids: [[foreign.control], [MISSING_ID]],
    policy_id: [foreign.policy, MISSING_ID],
    binding_id: [foreign.binding, MISSING_ID],
    key_id: [foreign.key, MISSING_ID],
    halt_id: [foreign.halt, MISSING_ID],
    destination_id: [foreign.destination, MISSING_ID],
    delivery_id: [foreign.delivery, MISSING_ID],
    key: [
      { control_id: foreign.rate, agent_name: SHARED },
      { control_id: MISSING_ID, agent_name: SHARED },
    ],
    namespace: ['team-b', 'team-c'],
    target_id: [`${MARK}-name`, 'missing-name'],
    trace_id: [FOREIGN_TRACE, MISSING_TRACE],
    control_execution_id: [`${MARK}-name`, 'missing-name'],
    evaluations: [
      [{ agent_name: FOREIGN, stage: 'pre', step }],
      [{ agent_name: MISSING, stage: 'pre', step }],
    ],
  });

  /** Calls that would change what is the caller's own have pairs only by what they name. */
  function pairsOf(method: RpcMethod): [member: string, pair: Pair][] {
    const request = ownRequest(method);
    const fields = new Set(method.desc.input.fields.map(({ name }) => name));
    // A binding to a target that is not there yet is made: its id is the next one.
    const makes = /(?:CreateControlBinding|UpsertControlBinding|CloneAndBindControl)$/.test(method.name);
    const named = Object.entries(namings()).filter(
      ([member]) => fields.has(member) && !(makes && member === 'target_id'),
    );
    // Cursors that are numbers only count: a missing one below another id is answered as that one is.
    if (/List(?:Agents|ControlAgents|PolicyAgents|Namespaces)$/.test(method.name))
      named.push(['cursor', [FOREIGN, MISSING]]);
    // Creating with a foreign id in it is tried in tests of its own; a watch without an end is, too.
    if (/WatchEvents$/.test(method.name)) return [];
    if (/(?:InitAgent|CreateHalt|CreateSamplingRule)$/.test(method.name)) return [];
    return named.map(([member, [theirs, missing]]) => [
      member,
      [
        { ...request, [member]: theirs },
        { ...request, [member]: missing },
      ],
    ]);
  }

  async function overRest(
    method: RpcMethod,
    request: Record<string, unknown>,
    key: string,
  ): Promise<string[]> {
    const replies: string[] = [];
    for (const reply of await repliesOverRest(service.url, method, request, key)) {
      const headers = Object.entries(reply.headers).filter(
        ([name]) => !['date', 'x-request-id', 'content-length', 'x-service-revision', 'etag'].includes(name),
      );
      replies.push(`${reply.status} ${reply.text} ${JSON.stringify(headers)}`);
    }
    return replies;
  }

  async function overGrpc(
    { desc }: RpcMethod,
    request: Record<string, unknown>,
    key: string,
  ): Promise<string[]> {
    const told: string[] = [];
    const options: CallOptions = { headers: { 'x-api-key': key }, signal: AbortSignal.timeout(300_000) };
    const replies = repliesOver(transportTo('gRPC', service.url), desc, request, options);
    try {
      for await (const reply of replies) {
        told.push(JSON.stringify(reply));
        // The first news of a watch tell all that is there.
        if (desc.name.startsWith('Watch')) break;
      }
      return ['0', ...told];
    } catch (error) {
      const { code, message, metadata } = ConnectError.from(error);
      const details = Buffer.from(metadata.get('grpc-status-details-bin') ?? '', 'base64').toString('latin1');
      return [`${code} ${message} ${details}`, ...told];
    }
  }

  const METHODS = SERVICES.flatMap(rpcMethods).map((method) => [method.desc.name, method] as const);

  it.each(METHODS)('is answered by %s about others as about what does not exist', async (_name, method) => {
    const mask = (texts: readonly string[]) => texts.map((text) => masked(text, numbers()));
    for (const [member, [theirs, missing]] of pairsOf(method)) {
      for (const key of [KEYS.own, KEYS.viewer]) {
        const rest = mask(await overRest(method, theirs, key));
        expect(rest, `${member} over REST`).toEqual(mask(await overRest(method, missing, key)));
        const grpc = mask(await overGrpc(method, theirs, key));
        expect(grpc, `${member} over gRPC`).toEqual(mask(await overGrpc(method, missing, key)));
        for (const text of [...rest, ...grpc]) expect(text, member).not.toContain(MARK);
      }
    }
  });

  const READS = METHODS.filter(([name]) => /^(?:Get|List|Query|Export|Verify|Explain|Evaluate)/.test(name));

  it.each(READS)('is told nothing of others by %s', async (_name, method) => {
    if (method.desc.methodKind === 'bidi_streaming') return;
    const request = ownRequest(method);
    const less = Object.fromEntries(
      Object.entries(request).filter(
        ([member]) => !['control_ids', 'target_id', 'target_type'].includes(member),
      ),
    );
    const texts = [...(await overRest(method, less, KEYS.own)), ...(await overGrpc(method, less, KEYS.own))];
    const isOperators = /Namespace/.test(method.desc.name);
    if (isOperators) expect(texts.join('')).toContain('AUTH_INSUFFICIENT_PRIVILEGES');
    for (const text of texts) {
      expect(text).not.toContain(MARK);
      expect(text).not.toContain('team-b');
    }
  });

  describe.each(FORMS_ON[kind])('over %s', (protocol) => {
    let client: ProtocolClient;
    beforeAll(() => {
      client = PROTOCOLS[protocol](service.url);
    });
    afterAll(() => client.close());

    it.each(METHODS.filter(([, { desc }]) => desc.methodKind === 'unary'))(
      '%s answers about others as about what does not exist',
      async (_name, method) => {
        for (const [member, pair] of pairsOf(method)) {
          const [theirs, missing] = await Promise.all(
            pair.map(async (one) =>
              masked(JSON.stringify(await client.call(method.desc, one, KEYS.own)), numbers()),
            ),
          );
          expect(theirs, member).toEqual(missing);
        }
      },
    );
  });

  it('watches its own events only', async () => {
    const client = createClient(ObservabilityService, rpcTransport('gRPC', service.url));
    const aborter = new AbortController();
    const headers = { 'x-api-key': KEYS.own };
    const seen: string[] = [];
    const watch = client.watchEvents({}, { headers, signal: aborter.signal });
    const named = async () => {
      for await (const { news } of watch) {
        if (news.case === 'events') seen.push(...news.value.events.map((one) => one.event?.agentName ?? ''));
        if (seen.length > 0) aborter.abort();
        if (seen.length === 0) await report();
      }
    };
    /** An event of theirs, and then one of ours: the first that is seen tells. */
    const report = async () => {
      const events = (agent_name: string) => ({ events: [event({ agent_name, control_id: 1 })] });
      await of(KEYS.foreign)('POST', '/api/v1/observability/events', events(FOREIGN));
      await of(KEYS.own)('POST', '/api/v1/observability/events', events(SHARED));
    };
    await named().catch((error: unknown) => {
      if (!aborter.signal.aborted) throw error;
    });
    expect(seen[0]).toBe(SHARED);
  });

  it('keeps its own memory of an agent that both have, and reads and resets no other', async () => {
    const limitsOf = async (key: string) =>
      (await of(key)('GET', '/api/v1/memory/limits?min_used=0.4')).body.limits;
    const used = (limits: { status: { control_name: string; remaining: number } }[]) =>
      limits.map(({ status }) => [status.control_name, status.remaining]);
    const evaluated = (agent_name: string) =>
      of(KEYS.own)('POST', '/api/v1/evaluation', {
        ...{ agent_name, stage: 'pre' },
        step: { type: 'tool', name: COUNTED, input: {} },
      });
    const [theirs] = await limitsOf(KEYS.foreign);
    expect(used([theirs])).toEqual([[`${MARK}-rate`, 1]]);
    const about = (key: object, path = '') => of(KEYS.own)('POST', `/api/v1/memory/key${path}`, { key });
    for (const key_id of [theirs.key_id, 'missing']) {
      expect((await about({ control_id: own.rate, key_id })).status).toBe(404);
      expect((await about({ control_id: own.rate, key_id }, '/reset')).body).toEqual({ was_kept: false });
    }
    await evaluated(SHARED);
    expect((await about({ control_id: own.rate, agent_name: SHARED }, '/reset')).body.was_kept).toBe(true);
    expect(await limitsOf(KEYS.own)).toEqual([]);
    expect(used(await limitsOf(KEYS.foreign))).toEqual([[`${MARK}-rate`, 1]]);
    const status = await of(KEYS.own)('GET', '/api/v1/memory/status');
    expect(status.body).toMatchObject({ is_used: true, is_available: true });
  });

  it('has names of its own', async () => {
    const call = of(KEYS.own);
    const agent = await call('POST', '/api/v1/agents/initAgent', { agent: { agent_name: FOREIGN } });
    expect([agent.status, agent.body.created, agent.body.controls]).toEqual([200, true, []]);
    const control = await call('PUT', '/api/v1/controls', { name: `${MARK}-control`, data: denyWord('x') });
    const policy = await call('PUT', '/api/v1/policies', { name: `${MARK}-policy` });
    expect([control.status, policy.status]).toEqual([200, 200]);
  });

  it('halts its own agents only', async () => {
    const halt = { scope: 'agent', agent_name: FOREIGN, reason: 'ours' };
    expect((await of(KEYS.own)('POST', '/api/v1/halts', halt)).status).toBe(200);
    const asked = { agent_name: FOREIGN, stage: 'pre', step, accepts: ['steer'] };
    const verdictOf = async (key: string) => (await of(key)('POST', '/api/v1/evaluation', asked)).body;
    expect(await verdictOf(KEYS.own)).toMatchObject({ is_safe: false, halt: { reason: 'ours' } });
    expect(await verdictOf(KEYS.foreign)).toMatchObject({ is_safe: true });
    expect(await verdictOf(KEYS.foreign)).not.toHaveProperty('halt');
  });

  it('keeps samples of its own agents only', async () => {
    const ofControl = { control_id: foreign.control, share: 1 };
    expect((await of(KEYS.own)('POST', '/api/v1/sampling-rules', ofControl)).status).toBe(404);
    const ofAgent = { agent_name: FOREIGN, share: 1 };
    expect((await of(KEYS.own)('POST', '/api/v1/sampling-rules', ofAgent)).status).toBe(200);
    const asked = { agent_name: FOREIGN, stage: 'pre', step, accepts: ['steer'] };
    const samplesOf = async (key: string) => (await of(key)('GET', '/api/v1/samples')).body.samples.length;
    // What is stored of the others would be stored before.
    for (const key of [KEYS.foreign, KEYS.own]) await of(key)('POST', '/api/v1/evaluation', asked);
    await until(
      () => samplesOf(KEYS.own),
      (count) => count === 1,
    );
    expect(await samplesOf(KEYS.foreign)).toBe(0);
  });

  it('leaves the others as they were', async () => {
    expect(await stateOf(KEYS.foreign)).toEqual(before);
  });

  it('shows those of the other namespace that it has them', async () => {
    for (const text of before.slice(0, -1)) expect(text).toContain(MARK);
  });
});
