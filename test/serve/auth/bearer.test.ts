import { Code, ConnectError, createClient, type Interceptor } from '@connectrpc/connect';
import {
  createConnectTransport,
  createGrpcTransport,
  createGrpcWebTransport,
} from '@connectrpc/connect-node';
import { Metadata } from '@grpc/grpc-js';
import { beforeAll, describe, expect, it } from 'vitest';
import { AgentService } from '../../../gen/proto/enforcement/v1/agent_service_pb.js';
import { EvaluationService } from '../../../gen/proto/enforcement/v1/evaluation_service_pb.js';
import { ErrorInfoSchema } from '../../../gen/proto/google/rpc/error_details_pb.js';
import { rawGrpcCall } from '../../support/grpc-js-client.js';
import { exchange, restClient } from '../../support/http.js';
import { seeder } from '../../support/seed.js';
import { suiteService, testService } from '../../support/service-suite.js';

const KEY = 'regular-key';
const OTHER = 'other-key';
const ADMIN = 'admin-key';

const STARTED = {
  SERVICE_API_KEY_ENABLED: 'true',
  SERVICE_API_KEYS: `${KEY},${OTHER}`,
  SERVICE_ADMIN_API_KEYS: ADMIN,
};

const service = suiteService(STARTED);
beforeAll(async () => {
  await seeder(restClient(service.url, { 'x-api-key': ADMIN })).agent('bearer-agent-1');
});

type Ended = 'ok' | 'AUTH_MISSING_KEY' | 'AUTH_INVALID_KEY' | 'AUTH_INSUFFICIENT_PRIVILEGES';

/** Headers of a call, and how it ends. */
const CASES: [string, Record<string, string>, Ended][] = [
  ['a bearer key', { authorization: `Bearer ${KEY}` }, 'ok'],
  ['a scheme in lower case', { authorization: `bearer ${KEY}` }, 'ok'],
  ['a scheme in upper case and several blanks', { authorization: `BEARER   ${KEY}` }, 'ok'],
  ['the same key in both headers', { authorization: `Bearer ${KEY}`, 'x-api-key': KEY }, 'ok'],
  ['a bearer key and an empty x-api-key', { authorization: `Bearer ${KEY}`, 'x-api-key': '' }, 'ok'],
  ['another scheme beside x-api-key', { authorization: 'Basic dTpw', 'x-api-key': KEY }, 'ok'],
  ['an unknown bearer key', { authorization: 'Bearer unknown' }, 'AUTH_INVALID_KEY'],
  ['a bearer key in another case', { authorization: `Bearer ${KEY.toUpperCase()}` }, 'AUTH_INVALID_KEY'],
  ['another scheme alone', { authorization: `Basic ${KEY}` }, 'AUTH_MISSING_KEY'],
  ['a key without a scheme', { authorization: KEY }, 'AUTH_MISSING_KEY'],
  ['a scheme without a key', { authorization: 'Bearer' }, 'AUTH_MISSING_KEY'],
  ['a scheme attached to the key', { authorization: `Bearer${KEY}` }, 'AUTH_MISSING_KEY'],
  [
    'x-api-key and the bearer token of a proxy',
    { authorization: 'Bearer of.a.proxy', 'x-api-key': KEY },
    'ok',
  ],
  [
    'a right bearer key beside a wrong x-api-key',
    { authorization: `Bearer ${KEY}`, 'x-api-key': 'wrong' },
    'AUTH_INVALID_KEY',
  ],
];

const STEP = { type: 'tool', name: 'send', input: {} };

const REST = {
  'the route of evaluations': (headers: Record<string, string>) =>
    restClient(service.url)(
      'POST',
      '/api/v1/evaluation',
      { agent_name: 'bearer-agent-1', stage: 'pre', step: STEP },
      headers,
    ),
  'a route with GET': (headers: Record<string, string>) =>
    restClient(service.url)('GET', '/api/v1/agents', undefined, headers),
};

describe.each(Object.entries(REST))('over REST, %s', (_, call) => {
  it.each(CASES)('with %s', async (_name, headers, ended) => {
    const { status, headers: replied, body } = await call(headers);
    expect({ status, reason: body.error_code ?? 'ok' }).toEqual({
      status: ended === 'ok' ? 200 : 401,
      reason: ended,
    });
    expect(replied.get('www-authenticate')).toBe(status === 401 ? 'ApiKey' : null);
  });
});

const adding =
  (headers: Record<string, string>): Interceptor =>
  (next) =>
  (request) => {
    for (const [name, value] of Object.entries(headers)) request.header.set(name, value);
    return next(request);
  };

const TRANSPORTS = {
  gRPC: (interceptors: Interceptor[]) => createGrpcTransport({ baseUrl: service.url, interceptors }),
  'gRPC-Web': (interceptors: Interceptor[]) =>
    createGrpcWebTransport({ baseUrl: service.url, httpVersion: '1.1', interceptors }),
  Connect: (interceptors: Interceptor[]) =>
    createConnectTransport({ baseUrl: service.url, httpVersion: '2', interceptors }),
  'Connect with GET': (interceptors: Interceptor[]) =>
    createConnectTransport({ baseUrl: service.url, httpVersion: '1.1', useHttpGet: true, interceptors }),
};

const endOf = (call: Promise<unknown>): Promise<string> =>
  call.then(
    () => 'ok',
    (error: unknown) => ConnectError.from(error).findDetails(ErrorInfoSchema)[0]?.reason ?? String(error),
  );

describe.each(Object.entries(TRANSPORTS))('over %s', (_, transport) => {
  it.each(CASES)('an evaluation and a list with %s', async (_name, headers, ended) => {
    const made = transport([adding(headers)]);
    const evaluation = { agentName: 'bearer-agent-1', stage: 1 };
    const stepForm = { case: 'stepJson' as const, value: Buffer.from(JSON.stringify(STEP)) };
    expect(await endOf(createClient(EvaluationService, made).evaluate({ ...evaluation, stepForm }))).toBe(
      ended,
    );
    expect(await endOf(createClient(AgentService, made).listAgents({}))).toBe(ended);
  });

  it('a regular bearer key has no rights of an admin', async () => {
    const call = (key: string) =>
      createClient(AgentService, transport([adding({ authorization: `Bearer ${key}` })])).updateAgent({
        agentName: 'bearer-agent-1',
        removeSteps: [{ type: 'tool', name: 'absent' }],
      });
    expect(await endOf(call(KEY))).toBe('AUTH_INSUFFICIENT_PRIVILEGES');
    expect(await endOf(call(ADMIN))).toBe('ok');
  });
});

it('a gRPC client that shares no code with the service sends bearer metadata', async () => {
  const metadata = new Metadata();
  metadata.set('authorization', `Bearer ${KEY}`);
  const { code } = await rawGrpcCall(
    service,
    'enforcement.v1.AgentService/ListAgents',
    Buffer.alloc(0),
    metadata,
  );
  expect(code).toBe(0);
});

it('guesses of bearer keys are limited like those of x-api-key', async () => {
  const guessed = await testService(STARTED);
  const call = restClient(guessed.url);
  const statuses = new Set<number>();
  for (let index = 0; index < 200 && !statuses.has(429); index += 1) {
    const headers = { authorization: `Bearer guess-${index}` };
    statuses.add((await call('GET', '/api/v1/agents', undefined, headers)).status);
  }
  expect([...statuses]).toEqual([401, 429]);
});

describe('a preflight', () => {
  const preflight = (url: string) =>
    exchange(url, {
      method: 'OPTIONS',
      path: '/api/v1/agents',
      headers: {
        origin: 'https://console.example',
        'access-control-request-method': 'GET',
        'access-control-request-headers': 'authorization',
      },
    });

  it('allows the header authorization by default', async () => {
    expect((await preflight(service.url)).headers['access-control-allow-headers']).toMatch(/authorization/i);
  });

  it.each([
    ['Content-Type, Authorization', true],
    ['Content-Type, X-API-Key', false],
  ])('with the listed headers %s allows authorization: %s', async (listed, allowed) => {
    const limited = await testService({ ...STARTED, SERVICE_ALLOW_HEADERS: listed });
    const names = (await preflight(limited.url)).headers['access-control-allow-headers'] ?? '';
    expect(/authorization/i.test(String(names))).toBe(allowed);
  });
});

it('the log contains no bearer key', () => {
  expect(service.logLines.join('')).not.toMatch(/regular-key|other-key|admin-key/);
});

it('a refused bearer key ends with UNAUTHENTICATED', async () => {
  const made = createGrpcTransport({
    baseUrl: service.url,
    interceptors: [adding({ authorization: 'Bearer no' })],
  });
  await expect(createClient(AgentService, made).listAgents({})).rejects.toMatchObject({
    code: Code.Unauthenticated,
  });
});
