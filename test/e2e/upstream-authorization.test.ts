import { once } from 'node:events';
import http from 'node:http';
import type { AddressInfo } from 'node:net';
import { Code, ConnectError, createClient } from '@connectrpc/connect';
import { createGrpcTransport } from '@connectrpc/connect-node';
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { EvaluationService } from '../../gen/proto/enforcement/v1/evaluation_service_pb.js';
import { ErrorInfoSchema } from '../../gen/proto/google/rpc/error_details_pb.js';
import { restClient } from '../support/http.js';
import { denyWord } from '../support/seed.js';
import { suiteService } from '../support/service-suite.js';
import { until } from '../support/until.js';

interface Question {
  readonly operation: string;
  readonly context?: { readonly target_type: string; readonly target_id: string };
  readonly headers: http.IncomingHttpHeaders;
}

/** The answer to a question; undefined for none at all. */
type Answer =
  | { readonly status?: number; readonly body?: unknown; readonly headers?: http.OutgoingHttpHeaders }
  | undefined;

const questions: Question[] = [];
let answer: (question: Question) => Answer | Promise<Answer>;
const GRANT = { namespace_key: 'default', is_admin: false, caller_id: 'erin' };
const TARGET = { target_type: 'log_stream', target_id: 'checkout' };
const AGENT = 'upstream-agent-1';

const upstream = http.createServer(async (request, response) => {
  const chunks: Buffer[] = [];
  for await (const chunk of request) chunks.push(chunk as Buffer);
  const question = { ...JSON.parse(Buffer.concat(chunks).toString()), headers: request.headers };
  questions.push(question);
  const given = await answer(question);
  if (given === undefined) return;
  const { status = 200, body = GRANT, headers = {} } = given;
  response.writeHead(status, { 'content-type': 'application/json', ...headers });
  response.end(typeof body === 'string' ? body : JSON.stringify(body));
});

async function listen(server: http.Server): Promise<string> {
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  return `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
}

afterAll(() => {
  upstream.closeAllConnections();
  upstream.close();
});
beforeEach(() => {
  questions.length = 0;
  answer = () => ({});
});

const listening = listen(upstream);
const asksUpstream = async () => ({
  SERVICE_AUTH_MODE: 'http_upstream',
  SERVICE_AUTH_UPSTREAM_URL: `${await listening}/authorize`,
});

const service = suiteService(async () => ({
  ...(await asksUpstream()),
  SERVICE_AUTH_UPSTREAM_TOKEN: 'token-of-the-service',
  SERVICE_AUTH_UPSTREAM_HEADERS: 'X-Tenant',
  SERVICE_AUTH_UPSTREAM_CACHE_SECONDS: '60',
  SERVICE_AUTH_UPSTREAM_TIMEOUT_SECONDS: '30',
  SERVICE_API_KEY_HEADERS: 'X-SF-Token',
  SERVICE_RUNTIME_TOKEN_SECRETS: 'a-secret-of-at-least-32-bytes-000',
  SERVICE_RUNTIME_AUTH_MODE: 'both',
  SERVICE_CORS_ORIGINS: 'https://listed.example',
}));

beforeAll(async () => {
  answer = () => ({ body: { ...GRANT, is_admin: true } });
  const call = restClient(service.url, { 'x-api-key': 'of-the-preparation' });
  const { body } = await call('PUT', '/api/v1/controls', { name: 'upstream', data: denyWord('bad') });
  await call('POST', '/api/v1/agents/initAgent', { agent: { agent_name: AGENT } });
  const linked = await call('POST', `/api/v1/agents/${AGENT}/controls/${body.control_id}`);
  expect(linked.status).toBe(200);
});

let made = 0;
/** Credentials that nothing is known about. */
function fresh(): string {
  made += 1;
  return `key-${made}`;
}

type Told = readonly [status: number, code: string | undefined, detail: string | undefined];

async function list(
  headers: Record<string, string> = { 'x-api-key': fresh() },
  url = service.url,
): Promise<Told> {
  const { status, body } = await restClient(url)('GET', '/api/v1/controls', undefined, headers);
  return [status, body.error_code, body.detail];
}

const STEP = { type: 'llm', name: 'answer', input: 'a bad word' };

async function evaluate(headers: Record<string, string>, target: object = {}) {
  const request = { agent_name: AGENT, stage: 'pre', step: STEP, ...target };
  const { status, body } = await restClient(service.url)('POST', '/api/v1/evaluation', request, headers);
  return [status, body.error_code ?? body.is_safe];
}

/** How an evaluation over gRPC ends: `ok`, or its status and the code of its error. */
async function evaluateOverGrpc(key: string): Promise<unknown> {
  const client = createClient(EvaluationService, createGrpcTransport({ baseUrl: service.url }));
  const stepForm = { case: 'stepJson' as const, value: Buffer.from(JSON.stringify(STEP)) };
  try {
    await client.evaluate({ agentName: AGENT, stage: 1, stepForm }, { headers: { 'x-api-key': key } });
    return 'ok';
  } catch (error) {
    const told = ConnectError.from(error);
    return [Code[told.code], told.findDetails(ErrorInfoSchema)[0]?.reason];
  }
}

describe('a service that decides about calls', () => {
  it('is told the operation and the credentials, and nothing else', async () => {
    const headers = {
      'x-api-key': fresh(),
      authorization: 'Basic abc',
      cookie: 'a=b; c=d',
      'x-tenant': 't',
      'x-other': 'o',
      'x-sf-token': 's',
    };
    expect(await list(headers)).toEqual([200, undefined, undefined]);
    const [question] = questions;
    const { 'x-other': _other, ...forwarded } = headers;
    expect(question).toEqual({ operation: 'controls.read', headers: expect.objectContaining(forwarded) });
    expect(question?.headers).toMatchObject({ 'x-service-service-token': 'token-of-the-service' });
    expect(question?.headers).not.toHaveProperty('x-other');
    await restClient(service.url)(
      'PUT',
      '/api/v1/policies',
      { name: 'x' },
      { authorization: `Bearer ${fresh()}` },
    );
    expect(questions.map(({ operation }) => operation)).toEqual(['controls.read', 'policies.create']);
  });
  it('is not asked without credentials, or about what is public', async () => {
    expect((await list({}))[0]).toBe(401);
    expect((await restClient(service.url)('GET', '/api/v1/controls/schema')).status).toBe(200);
    expect(questions).toEqual([]);
  });
  it.each([
    [401, [401, 'AUTH_INVALID_KEY'], ['Unauthenticated', 'AUTH_INVALID_KEY']],
    [403, [403, 'AUTH_INSUFFICIENT_PRIVILEGES'], ['PermissionDenied', 'AUTH_INSUFFICIENT_PRIVILEGES']],
    [404, [404, 'AUTH_INVALID_KEY'], ['Unauthenticated', 'AUTH_INVALID_KEY']],
    [429, [503, 'AUTH_MISCONFIGURED'], ['Unavailable', 'AUTH_MISCONFIGURED']],
    [400, [502, 'AUTH_UPSTREAM_REJECTED'], ['Unavailable', 'AUTH_UPSTREAM_REJECTED']],
    [422, [502, 'AUTH_UPSTREAM_REJECTED'], ['Unavailable', 'AUTH_UPSTREAM_REJECTED']],
    [500, [503, 'AUTH_MISCONFIGURED'], ['Unavailable', 'AUTH_MISCONFIGURED']],
    [503, [503, 'AUTH_MISCONFIGURED'], ['Unavailable', 'AUTH_MISCONFIGURED']],
    [204, [502, 'AUTH_MISCONFIGURED'], ['Unavailable', 'AUTH_MISCONFIGURED']],
    [302, [502, 'AUTH_MISCONFIGURED'], ['Unavailable', 'AUTH_MISCONFIGURED']],
  ])('refuses with %s', async (status, rest, grpc) => {
    const location = service.url;
    answer = () => ({ status, body: status === 204 ? '' : {}, headers: { location } });
    expect((await list()).slice(0, 2)).toEqual(rest);
    expect(await evaluateOverGrpc(fresh())).toEqual(grpc);
  });
  it.each([
    ['no JSON', '{'],
    ['no object', []],
    ['no namespace', { is_admin: true }],
    ['an unknown member', { ...GRANT, only_on: 'Sundays' }],
    ['a member twice', '{"namespace_key":"a","namespace_key":"default"}'],
    ['a text as is_admin', { ...GRANT, is_admin: 'yes' }],
    ['half a target', { ...GRANT, target_type: 'a' }],
    ['scopes that are no list', { ...GRANT, scopes: 'controls.read' }],
    ['a time without a zone', { ...GRANT, expires_at: '2999-01-01T00:00:00' }],
    ['a time that has passed', { ...GRANT, expires_at: '2020-01-01T00:00:00Z' }],
    ['too many bytes', { ...GRANT, caller_id: 'x'.repeat(100_000) }],
  ])('permits nothing with %s', async (_what, body) => {
    answer = () => ({ body });
    expect((await list()).slice(0, 2)).toEqual([502, 'AUTH_MISCONFIGURED']);
    expect(await evaluateOverGrpc(fresh())).toEqual(['Unavailable', 'AUTH_MISCONFIGURED']);
  });
  it('is asked once about calls that come together, and not again while its answer holds', async () => {
    const key = { 'x-api-key': fresh() };
    let release = (): void => {};
    const held = new Promise<void>((resolve) => {
      release = resolve;
    });
    answer = () => {
      release();
      return held.then(() => ({}));
    };
    const replies = await Promise.all(Array.from({ length: 5 }, () => list(key)));
    expect(replies.map(([status]) => status)).toEqual([200, 200, 200, 200, 200]);
    expect((await list(key))[0]).toBe(200);
    expect(questions).toHaveLength(1);
    // Another operation is another question.
    expect(await evaluate(key)).toEqual([200, false]);
    expect(await evaluate(key)).toEqual([200, false]);
    expect(await evaluateOverGrpc(key['x-api-key'])).toBe('ok');
    expect(questions.map(({ operation }) => operation)).toEqual(['controls.read', 'runtime.use']);
  });
});

describe('what it permits', () => {
  it('is in a namespace that exists', async () => {
    for (const name of ['elsewhere', 'Not A Name']) {
      answer = () => ({ body: { ...GRANT, namespace_key: name } });
      const [status, code, detail] = await list();
      expect([status, code]).toEqual([403, 'AUTH_INSUFFICIENT_PRIVILEGES']);
      expect(detail).toContain(`"${name}"`);
    }
  });
  it('is no more than its scopes', async () => {
    answer = () => ({ body: { ...GRANT, is_admin: true, scopes: ['controls.read'] } });
    const key = { 'x-api-key': fresh() };
    expect((await list(key))[0]).toBe(200);
    expect(await evaluate(key)).toEqual([403, 'AUTH_INSUFFICIENT_PRIVILEGES']);
    answer = () => ({ body: { ...GRANT, scopes: ['runtime.use'] } });
    expect(await evaluate({ 'x-api-key': fresh() })).toEqual([200, false]);
  });
  it('is what it was asked about, also for callers that are no administrators', async () => {
    const create = (name: string) =>
      restClient(service.url)(
        'PUT',
        '/api/v1/controls',
        { name, data: denyWord('x') },
        { 'x-api-key': fresh() },
      );
    expect((await create('of-erin')).status).toBe(200);
    answer = () => ({ status: 403 });
    expect((await create('of-erin-2')).status).toBe(403);
  });
  it('names the caller in the audit log', async () => {
    answer = () => ({ body: { ...GRANT, is_admin: true, caller_id: 'frank' } });
    const call = restClient(service.url, { 'x-api-key': fresh() });
    await call('PUT', '/api/v1/policies', { name: 'of-frank' });
    const { body } = await call('GET', '/api/v1/audit?limit=1');
    expect(body.entries[0]).toMatchObject({ resource_name: 'of-frank', actor: { name: 'frank' } });
  });
  it('is for one target, if it names one', async () => {
    answer = () => ({ body: { ...GRANT, ...TARGET } });
    const key = { 'x-api-key': fresh() };
    expect(await evaluate(key, TARGET)).toEqual([200, false]);
    expect(await evaluate(key)).toEqual([403, 'AUTH_INSUFFICIENT_PRIVILEGES']);
    expect(await evaluate(key, { ...TARGET, target_id: 'other' })).toEqual([
      403,
      'AUTH_INSUFFICIENT_PRIVILEGES',
    ]);
  });
  it('is asked for each target of an evaluation', async () => {
    answer = ({ context }) => (context?.target_id === 'secret' ? { status: 403 } : {});
    const key = { 'x-api-key': fresh() };
    for (let round = 0; round < 2; round += 1) {
      expect(await evaluate(key, TARGET)).toEqual([200, false]);
      expect(await evaluate(key, { ...TARGET, target_id: 'secret' })).toEqual([
        403,
        'AUTH_INSUFFICIENT_PRIVILEGES',
      ]);
    }
    expect(questions.slice(0, 3).map(({ operation, context }) => [operation, context?.target_id])).toEqual([
      ['runtime.use', undefined],
      ['runtime.use', 'checkout'],
      ['runtime.use', 'secret'],
    ]);
  });
  it('is not for pages of other origins, whose cookies a browser adds', async () => {
    const cookie = `session=${fresh()}`;
    const act = (origin: string, more = {}) =>
      restClient(service.url)('PUT', '/api/v1/policies', { name: fresh() }, { cookie, origin, ...more });
    expect((await act('https://elsewhere.example')).status).toBe(401);
    expect(questions).toEqual([]);
    expect((await act('https://listed.example')).status).toBe(200);
    expect((await act('https://elsewhere.example', { 'x-api-key': fresh() })).status).toBe(200);
    expect(questions.map(({ headers }) => headers.cookie)).toEqual([cookie, undefined]);
  });
});

describe('an exchange for a token', () => {
  const exchange = async (key: string, target: object = TARGET) => {
    const { status, body } = await restClient(service.url)(
      'POST',
      '/api/v1/auth/runtime-token-exchange',
      target,
      { 'x-api-key': key },
    );
    return { status, code: body.error_code, token: body.token as string };
  };
  it('is decided for its target, once that is known to be one', async () => {
    expect(await exchange(fresh(), { target_type: '' })).toMatchObject({ status: 422 });
    expect(questions).toEqual([]);
    const { token } = await exchange(fresh());
    expect(questions).toMatchObject([{ operation: 'runtime.token_exchange', context: TARGET }]);
    expect(await evaluate({ authorization: `Bearer ${token}` }, TARGET)).toEqual([200, false]);
    expect(questions).toHaveLength(1);
  });
  it.each([
    [{ status: 401 }, 401, 'AUTH_INVALID_KEY'],
    [{ status: 403 }, 403, 'AUTH_INSUFFICIENT_PRIVILEGES'],
    [{ body: { ...GRANT, ...TARGET, target_id: 'other' } }, 400, 'AUTH_INSUFFICIENT_PRIVILEGES'],
    [{ body: { ...GRANT, scopes: ['controls.read'] } }, 400, 'AUTH_INSUFFICIENT_PRIVILEGES'],
    [{ body: { ...GRANT, expires_at: '2020-01-01T00:00:00+02:00' } }, 502, 'AUTH_MISCONFIGURED'],
    [{ body: { ...GRANT, namespace_key: 'elsewhere' } }, 403, 'AUTH_INSUFFICIENT_PRIVILEGES'],
  ])('fails with %j', async (given, status, code) => {
    answer = () => given;
    expect(await exchange(fresh())).toMatchObject({ status, code });
  });
  it('lasts no longer than its permission', async () => {
    const soon = Math.floor(Date.now() / 1000) + 100;
    answer = () => ({
      body: { ...GRANT, scopes: ['runtime.use'], expires_at: new Date(soon * 1000).toISOString() },
    });
    const { token } = await exchange(fresh());
    const claims = JSON.parse(Buffer.from(token.split('.')[1] ?? '', 'base64url').toString());
    expect(claims).toMatchObject({ exp: soon, actor_id: 'erin', ...TARGET });
  });
});

describe('a service that does not answer', () => {
  const impatient = suiteService(async () => ({
    ...(await asksUpstream()),
    SERVICE_AUTH_UPSTREAM_TIMEOUT_SECONDS: '0.5',
  }));
  it('permits nothing, and is asked again by the next call', async () => {
    let calls = 0;
    const key = { 'x-api-key': fresh() };
    const told = async () => {
      calls += 1;
      return (await list(key, impatient.url)).slice(0, 2);
    };
    answer = () => undefined;
    expect(await told()).toEqual([503, 'AUTH_MISCONFIGURED']);
    answer = () => ({ status: 500 });
    expect(await told()).toEqual([503, 'AUTH_MISCONFIGURED']);
    answer = () => ({});
    // On a busy machine an answer may come after its time.
    await until(told, ([status]) => status === 200);
    expect(questions).toHaveLength(calls);
  });
});

describe('a service that cannot be reached', () => {
  const alone = suiteService(async () => {
    const closed = http.createServer();
    const url = await listen(closed);
    closed.close();
    return { SERVICE_AUTH_MODE: 'http_upstream', SERVICE_AUTH_UPSTREAM_URL: url };
  });
  it('permits nothing, and the log tells why', async () => {
    const { status, body } = await restClient(alone.url)('GET', '/api/v1/controls', undefined, {
      'x-api-key': 'a-secret-key',
    });
    expect([status, body.error_code]).toEqual([503, 'AUTH_MISCONFIGURED']);
    const text = alone.logLines.join('');
    expect(text).toContain('the service that decides about calls did not decide');
    expect(text).not.toContain('a-secret-key');
  });
});
