import { once } from 'node:events';
import { mkdirSync, renameSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import http from 'node:http';
import path from 'node:path';
import { create } from '@bufbuild/protobuf';
import { Code, ConnectError, createClient } from '@connectrpc/connect';
import { createWritableIterable } from '@connectrpc/connect/protocol';
import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest';
import { AgentService } from '../../gen/proto/enforcement/v1/agent_service_pb.js';
import { Stage } from '../../gen/proto/enforcement/v1/control_pb.js';
import {
  EvaluateRequestSchema,
  type EvaluateStreamRequest,
  EvaluateStreamRequestSchema,
  EvaluationService,
} from '../../gen/proto/enforcement/v1/evaluation_service_pb.js';
import { ObservabilityService } from '../../gen/proto/enforcement/v1/observability_service_pb.js';
import { createApp } from '../../src/app/wiring/app.js';
import { readConfig } from '../../src/contract/config/config.js';
import { logIn, sendJson } from '../support/browser.js';
import { createKeysFile, type KeyEntry, type TestKeysFile } from '../support/keys-file.js';
import { lanes } from '../support/lanes.js';
import { metric, parseMetrics } from '../support/prometheus.js';
import { BIDI_PROTOCOLS, RPC_PROTOCOLS, type RpcProtocol, rpcTransport } from '../support/rpc-transports.js';
import { denyWord } from '../support/seed.js';
import { startService, type TestService } from '../support/service.js';
import { until } from '../support/until.js';

const ROOT: KeyEntry = { name: 'root', key: 'root-key', role: 'admin' };
const CLIENT: KeyEntry = { name: 'client', key: 'client-key', role: 'regular' };
const OWN = 'support-bot-1';
const OTHER = 'billing-bot-1';
const LIMITED: KeyEntry = { name: 'limited', key: 'limited-key', role: 'admin', agents: ['support-*'] };
const LANES = ['true', 'false'] as const;

const evaluation = (agentName: string) =>
  create(EvaluateRequestSchema, {
    agentName,
    stage: Stage.PRE,
    stepForm: { case: 'stepJson', value: Buffer.from('{"type":"llm","name":"answer","input":"word"}') },
  });
const STEP = { type: 'llm', name: 'answer', input: 'word' };
const headersOf = ({ key = '' }: KeyEntry) => ({ 'x-api-key': key });

let keys: TestKeysFile;
let service: TestService;

async function start(entries: readonly KeyEntry[], environment: Record<string, string> = {}): Promise<void> {
  keys = createKeysFile(entries);
  service = await startService({ ...keys.environment, ...environment });
  for (const agent of [OWN, OTHER]) {
    const body = { agent: { agent_name: agent } };
    expect((await rest('POST', '/agents/initAgent', body, ROOT)).status).toBe(200);
  }
}
async function stop(): Promise<void> {
  await service.stop();
  keys.remove();
}

const rest = (method: string, route: string, body: unknown, key: KeyEntry, more: object = {}) =>
  sendJson(service.url, method, `/api/v1${route}`, body, { ...headersOf(key), ...more });
const evaluateOverRest = (agent: string, key: KeyEntry, more: object = {}) =>
  rest('POST', '/evaluation', { agent_name: agent, stage: 'pre', step: STEP }, key, more);

/** `ok`, or how a call failed. */
async function outcome(call: Promise<unknown>): Promise<string> {
  try {
    await call;
    return 'ok';
  } catch (error) {
    return Code[ConnectError.from(error).code];
  }
}
const evaluateOver = (protocol: RpcProtocol, agent: string, key: KeyEntry) =>
  outcome(
    createClient(EvaluationService, rpcTransport(protocol, service.url)).evaluate(evaluation(agent), {
      headers: headersOf(key),
    }),
  );
async function endOf(messages: AsyncIterable<unknown>): Promise<string> {
  try {
    for await (const _message of messages);
    return 'ended';
  } catch (error) {
    return Code[ConnectError.from(error).code];
  }
}

describe.each(LANES)('with the lanes %s, a key of the keys file', (lane) => {
  beforeAll(() => start([ROOT], lanes(lane)));
  afterAll(stop);
  const knows = (key: KeyEntry) =>
    until(
      async () => (await evaluateOverRest(OWN, key)).status,
      (s) => s === 200,
    );

  it('is taken once it is there, and refused once it is withdrawn, over every protocol', async () => {
    expect((await evaluateOverRest(OWN, CLIENT)).status).toBe(401);
    keys.set([ROOT, CLIENT]);
    await knows(CLIENT);
    for (const protocol of RPC_PROTOCOLS) expect(await evaluateOver(protocol, OWN, CLIENT)).toBe('ok');
    expect((await rest('GET', '/agents', undefined, CLIENT)).status).toBe(200);
    expect((await rest('DELETE', `/agents/${OWN}`, undefined, CLIENT)).status).toBe(403);
    keys.set([ROOT]);
    await until(
      async () => (await evaluateOverRest(OWN, CLIENT)).status,
      (status) => status === 401,
    );
    for (const protocol of RPC_PROTOCOLS) {
      expect(await evaluateOver(protocol, OWN, CLIENT)).toBe('Unauthenticated');
      expect(await evaluateOver(protocol, OWN, ROOT)).toBe('ok');
    }
  });

  it('ends its streams when it is withdrawn, and those of others go on', async () => {
    keys.set([ROOT, CLIENT]);
    await knows(CLIENT);
    const ends: Promise<string>[] = [];
    const alive: AsyncIterator<unknown>[] = [];
    for (const protocol of BIDI_PROTOCOLS) {
      const client = createClient(EvaluationService, rpcTransport(protocol, service.url));
      for (const key of [CLIENT, ROOT]) {
        const requests = createWritableIterable<EvaluateStreamRequest>();
        void requests.write(create(EvaluateStreamRequestSchema, { id: '1', evaluations: [evaluation(OWN)] }));
        const replies = client.evaluateStream(requests, { headers: headersOf(key) })[Symbol.asyncIterator]();
        expect((await replies.next()).value).toMatchObject({ id: '1' });
        if (key === CLIENT) ends.push(endOf({ [Symbol.asyncIterator]: () => replies }));
        else {
          void requests.write(
            create(EvaluateStreamRequestSchema, { id: '2', evaluations: [evaluation(OWN)] }),
          );
          alive.push(replies);
        }
      }
    }
    const headers = headersOf(CLIENT);
    for (const protocol of RPC_PROTOCOLS) {
      const transport = rpcTransport(protocol, service.url);
      const controls = createClient(AgentService, transport).watchControls({ agentName: OWN }, { headers });
      const replies = controls[Symbol.asyncIterator]();
      await replies.next();
      ends.push(endOf({ [Symbol.asyncIterator]: () => replies }));
      ends.push(endOf(createClient(ObservabilityService, transport).watchEvents({}, { headers })));
    }
    for (const protocol of BIDI_PROTOCOLS) {
      const client = createClient(ObservabilityService, rpcTransport(protocol, service.url));
      ends.push(endOf(client.publishEvents(createWritableIterable(), { headers })));
      ends.push(outcome(client.ingestEvents(createWritableIterable(), { headers })));
    }
    const streams = async () => {
      const samples = parseMetrics(await (await fetch(`${service.url}/metrics`)).text());
      return metric(samples, 'control_enforcement_server_streams_open');
    };
    await until(streams, (open) => open === ends.length + alive.length);
    keys.set([ROOT]);
    for (const end of await Promise.all(ends)) expect(end).toBe('Unauthenticated');
    for (const replies of alive) {
      expect((await replies.next()).value).toMatchObject({ id: '2' });
      await replies.return?.();
    }
  });

  it('ends its streams so that they can be opened again when its rights change', async () => {
    keys.set([ROOT, CLIENT]);
    await knows(CLIENT);
    const transport = rpcTransport('gRPC', service.url);
    const watch = () =>
      createClient(AgentService, transport).watchControls(
        { agentName: OTHER },
        { headers: headersOf(CLIENT) },
      );
    const replies = watch()[Symbol.asyncIterator]();
    await replies.next();
    keys.set([ROOT, { ...CLIENT, agents: [OWN] }]);
    expect(await endOf({ [Symbol.asyncIterator]: () => replies })).toBe('Unavailable');
    expect(await endOf(watch())).toBe('PermissionDenied');
  });
});

describe('the keys file', () => {
  afterEach(stop);
  const reloads = async (result: string) => {
    const samples = parseMetrics(await (await fetch(`${service.url}/metrics`)).text());
    return metric(samples, 'control_enforcement_server_file_reloads_total', { file: 'keys', result });
  };
  const statusOf = async (key: KeyEntry) => (await evaluateOverRest(OWN, key)).status;

  it('leaves the keys as they are when it cannot be used, and says so once', async () => {
    await start([ROOT, CLIENT]);
    keys.write('{"keys": [{"name": "x", "key": "planted-s3cret", "role": "king"}]}');
    await until(
      () => reloads('refused'),
      (count) => count === 1,
    );
    expect([await statusOf(ROOT), await statusOf(CLIENT)]).toEqual([200, 200]);
    rmSync(keys.file);
    await until(
      () => reloads('refused'),
      (count) => count === 2,
    );
    expect([await statusOf(ROOT), await statusOf(CLIENT)]).toEqual([200, 200]);
    keys.set([ROOT]);
    await until(
      () => statusOf(CLIENT),
      (status) => status === 401,
    );
    expect([await reloads('refused'), await reloads('used')]).toEqual([2, 1]);
    const told = service.logLines.filter((line) => line.includes('keys file'));
    expect(told.join()).toContain(
      'keys[0].role: must be one of agent, viewer, approver, regular, editor, admin, operator',
    );
    expect(service.logLines.join()).not.toContain('planted-s3cret');
  });

  it('may be a link that is replaced, as mounted secrets are', async () => {
    await start([ROOT]);
    const version = (name: string, entries: readonly KeyEntry[]) => {
      mkdirSync(path.join(keys.folder, name));
      writeFileSync(path.join(keys.folder, name, 'keys.json'), JSON.stringify({ keys: entries }));
      symlinkSync(name, path.join(keys.folder, '..next'));
      renameSync(path.join(keys.folder, '..next'), path.join(keys.folder, '..data'));
    };
    version('..1', [ROOT, CLIENT]);
    symlinkSync('..data/keys.json', `${keys.file}.link`);
    renameSync(`${keys.file}.link`, keys.file);
    await until(
      () => statusOf(CLIENT),
      (status) => status === 200,
    );
    version('..2', [ROOT]);
    await until(
      () => statusOf(CLIENT),
      (status) => status === 401,
    );
  });

  it('breaks off the exports of a key that it withdraws', async () => {
    await start([ROOT, CLIENT]);
    const event = {
      trace_id: 't',
      span_id: 's',
      agent_name: OWN,
      control_id: 1,
      control_name: 'c',
      check_stage: 'pre',
      applies_to: 'tool_call',
      action: 'deny',
      matched: true,
      confidence: 1,
      metadata: { text: 'x'.repeat(60_000) },
    };
    for (let count = 0; count < 4; count += 1) {
      const events = Array.from({ length: 100 }, () => event);
      expect((await rest('POST', '/observability/events', { events }, ROOT)).status).toBeLessThan(300);
    }
    // More than the buffers of a connection hold, and the client does not read.
    const request = http.request(`${service.url}/api/v1/observability/events/export`, {
      method: 'POST',
      headers: { 'content-type': 'application/json', ...headersOf(CLIENT) },
    });
    request.end(JSON.stringify({ agent_name: OWN }));
    const [response] = (await once(request, 'response')) as [http.IncomingMessage];
    expect(response.statusCode).toBe(200);
    keys.set([ROOT]);
    await until(
      async () => (await evaluateOverRest(OWN, CLIENT)).status,
      (status) => status === 401,
    );
    const error = once(response, 'error').then(([found]) => (found as NodeJS.ErrnoException).code);
    response.resume();
    expect(await error).toBe('ECONNRESET');
  });

  it('may withdraw any number of keys whose clients still call, which does not count as guessing', async () => {
    const many = Array.from({ length: 60 }, (_, index) => ({ ...CLIENT, key: `client-key-${index}` }));
    await start([ROOT, ...many]);
    keys.set([ROOT]);
    await until(
      () => statusOf(many[0] ?? CLIENT),
      (status) => status === 401,
    );
    for (const key of many) expect(await statusOf(key)).toBe(401);
    keys.set([ROOT, CLIENT]);
    await until(
      () => statusOf({ ...CLIENT, key: 'client-key' }),
      (status) => status !== 401,
    );
    expect(await statusOf(CLIENT)).toBe(200);
  });

  it('ends the sessions of a key that it withdraws', async () => {
    await start([ROOT, CLIENT]);
    const cookies = [await logIn(service.url, 'root-key'), await logIn(service.url, 'client-key')];
    const statuses = () =>
      Promise.all(
        cookies.map(
          async (cookie) =>
            (await sendJson(service.url, 'GET', '/api/v1/agents', undefined, { cookie })).status,
        ),
      );
    expect(await statuses()).toEqual([200, 200]);
    keys.set([ROOT]);
    await until(statuses, ([, client]) => client === 401);
    expect(await statuses()).toEqual([200, 401]);
  });

  it('gives keys an end, which also ends their streams', async () => {
    const expires_at = new Date(Date.now() + 3_000).toISOString();
    await start([ROOT, { ...CLIENT, expires_at }]);
    const client = createClient(ObservabilityService, rpcTransport('gRPC', service.url));
    expect(await endOf(client.watchEvents({}, { headers: headersOf(CLIENT) }))).toBe('Unauthenticated');
    expect(Date.now()).toBeGreaterThanOrEqual(Date.parse(expires_at));
    expect([await statusOf(ROOT), await statusOf(CLIENT)]).toEqual([200, 401]);
  });

  it('is where logs have the names of keys from', async () => {
    await start([ROOT, CLIENT]);
    await statusOf(CLIENT);
    const lines = service.logLines.map((line) => JSON.parse(line));
    await until(
      () => service.logLines.length,
      (count) => count > 0,
    );
    expect(lines.filter(({ path: at, key }) => at === '/api/v1/evaluation' && key === 'client')).toHaveLength(
      1,
    );
    expect(service.logLines.join()).not.toContain('client-key');
  });
});

it('a keys file that cannot be used at the start stops it, with the reason', async () => {
  const broken = createKeysFile([{ ...ROOT, role: 'king' as 'admin' }]);
  const config = readConfig({ ...broken.environment, DATABASE_URL: `file:${broken.folder}/service.db` });
  const log = { level: 'silent' } as never;
  await expect(
    createApp({ config, log: Object.assign((await import('pino')).pino(log)) }),
  ).rejects.toMatchObject({
    message: expect.stringContaining('SERVICE_KEYS_FILE='),
    cause: expect.objectContaining({
      message: 'keys[0].role: must be one of agent, viewer, approver, regular, editor, admin, operator',
    }),
  });
  broken.remove();
});

describe.each(LANES)('with the lanes %s, a key that is limited to agents', (lane) => {
  beforeAll(() => start([ROOT, LIMITED], lanes(lane)));
  afterAll(stop);
  const evaluations = [evaluation(OWN), evaluation(OTHER)];

  it.each(RPC_PROTOCOLS)('evaluates the steps of its agents only, over %s', async (protocol) => {
    expect(await evaluateOver(protocol, OWN.toUpperCase(), LIMITED)).toBe('ok');
    expect(await evaluateOver(protocol, OTHER, LIMITED)).toBe('PermissionDenied');
    expect(await evaluateOver(protocol, 'unknown-bot-1', LIMITED)).toBe('PermissionDenied');
    const client = createClient(EvaluationService, rpcTransport(protocol, service.url));
    const { results } = await client.evaluateBatch({ evaluations }, { headers: headersOf(LIMITED) });
    expect(results.map(({ outcome: made }) => made.case)).toEqual(['verdict', 'error']);
    expect(results[1]?.outcome.value).toMatchObject({ code: Code.PermissionDenied });
  });

  it.each(BIDI_PROTOCOLS)('evaluates a stream of steps of its agents only, over %s', async (protocol) => {
    const client = createClient(EvaluationService, rpcTransport(protocol, service.url));
    async function* messages() {
      yield create(EvaluateStreamRequestSchema, { id: '1', evaluations });
    }
    const found: unknown[] = [];
    for await (const { results } of client.evaluateStream(messages(), { headers: headersOf(LIMITED) }))
      found.push(...results.map(({ outcome: made }) => made.case));
    expect(found).toEqual(['verdict', 'error']);
  });

  it.each([{}, { origin: 'http://127.0.0.1' }])('does the same over REST, with headers %j', async (more) => {
    expect((await evaluateOverRest(OWN, LIMITED, more)).status).toBe(200);
    const refused = await evaluateOverRest(OTHER, LIMITED, more);
    expect([refused.status, refused.json.error_code]).toEqual([403, 'AUTH_INSUFFICIENT_PRIVILEGES']);
    const items = [OWN, OTHER].map((agent_name) => ({ agent_name, stage: 'pre', step: STEP }));
    const batch = await rest('POST', '/evaluation/batch', { evaluations: items }, LIMITED, more);
    expect(batch.json.results).toMatchObject([{ verdict: {} }, { error: { status: 403 } }]);
  });

  it('reads, registers and changes its agents only, and nothing that concerns all', async () => {
    const statuses = async (agent: string) => [
      (await rest('GET', `/agents/${agent}`, undefined, LIMITED)).status,
      (await rest('GET', `/agents/${agent}/controls`, undefined, LIMITED)).status,
      (await rest('POST', '/agents/initAgent', { agent: { agent_name: agent } }, LIMITED)).status,
      (await rest('POST', '/observability/events/query', { agent_name: agent }, LIMITED)).status,
      (await rest('GET', `/observability/stats?agent_name=${agent}`, undefined, LIMITED)).status,
    ];
    expect(await statuses(OWN)).toEqual([200, 200, 200, 200, 200]);
    expect(await statuses(OTHER)).toEqual([403, 403, 403, 403, 403]);
    expect(await statuses('unknown-bot-1')).toEqual([403, 403, 403, 403, 403]);
    for (const route of ['/agents', '/controls', '/policies', '/observability/stats/overview'])
      expect([route, (await rest('GET', route, undefined, LIMITED)).status]).toEqual([route, 403]);
    expect((await rest('POST', '/observability/events/query', {}, LIMITED)).status).toBe(403);
    expect((await rest('PUT', '/controls', { name: 'c', data: denyWord('x') }, LIMITED)).status).toBe(403);
  });

  it('links only controls and policies that its agents already have, whether others exist or not', async () => {
    const second = 'support-bot-2';
    const asRoot = async (method: string, path: string, body?: object) =>
      (await rest(method, path, body, ROOT)).json;
    await asRoot('POST', '/agents/initAgent', { agent: { agent_name: second } });
    const made = async (name: string) => {
      const control = (
        await asRoot('PUT', '/controls', { name: `${name}-control-${lane}`, data: denyWord(name) })
      ).control_id;
      const policy = (await asRoot('PUT', '/policies', { name: `${name}-policy-${lane}` })).policy_id;
      await asRoot('POST', `/policies/${policy}/controls/${control}`);
      return { control, policy };
    };
    const foreign = await made('foreign');
    await asRoot('POST', `/agents/${OTHER}/controls/${foreign.control}`);
    await asRoot('POST', `/agents/${OTHER}/policies/${foreign.policy}`);
    const own = await made('own');
    await asRoot('POST', `/agents/${OWN}/policies/${own.policy}`);
    const links = async ({ control, policy }: { control: number; policy: number }) => {
      const replies = [
        await rest('POST', `/agents/${second}/controls/${control}`, undefined, LIMITED),
        await rest('POST', `/agents/${second}/policies/${policy}`, undefined, LIMITED),
        await rest('POST', `/agents/${second}/policy/${policy}`, undefined, LIMITED),
        await rest('POST', `/policies/${policy}/agents`, { agent_names: [second] }, LIMITED),
      ];
      return replies.map(({ status, json }) => [status, json.error_code, json.detail]);
    };
    const refused = await links(foreign);
    expect(refused.map(([status, code]) => `${status} ${code}`)).toEqual(
      Array(4).fill('403 AUTH_INSUFFICIENT_PRIVILEGES'),
    );
    expect(await links({ control: 999_999, policy: 999_999 })).toEqual(refused);
    const { controls } = (await rest('GET', `/agents/${second}/controls`, undefined, LIMITED)).json;
    expect(controls).toEqual([]);
    expect((await links(own)).map(([status]) => status)).toEqual([200, 200, 200, 200]);
  });

  // Large messages are read in another thread.
  it.each([1, 100])('sends events of its agents only, %d in a request', async (count) => {
    const send = async (...agents: string[]) => {
      const events = Array.from({ length: count }, (_, index) => ({
        trace_id: 't',
        span_id: 's',
        agent_name: agents[index % agents.length],
        control_id: 1,
        control_name: 'c',
        check_stage: 'pre',
        applies_to: 'tool_call',
        action: 'deny',
        matched: true,
        confidence: 1,
      }));
      return (await rest('POST', '/observability/events', { events }, LIMITED)).status;
    };
    expect([await send(OWN), await send(OTHER)]).toEqual([202, 403]);
    if (count > 1) expect(await send(OWN, OTHER)).toBe(403);
    const stored = await rest('POST', '/observability/events/query', { agent_name: OTHER }, ROOT);
    expect(stored.json.total).toBe(0);
  });
});
