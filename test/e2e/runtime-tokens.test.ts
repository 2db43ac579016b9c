import { hash } from 'node:crypto';
import { Code, ConnectError, createClient, type Transport } from '@connectrpc/connect';
import {
  createConnectTransport,
  createGrpcTransport,
  createGrpcWebTransport,
} from '@connectrpc/connect-node';
import { afterAll, describe, expect, it } from 'vitest';
import { AgentService } from '../../gen/proto/enforcement/v1/agent_service_pb.js';
import { AuthService } from '../../gen/proto/enforcement/v1/auth_service_pb.js';
import { EvaluationService } from '../../gen/proto/enforcement/v1/evaluation_service_pb.js';
import { ErrorInfoSchema } from '../../gen/proto/google/rpc/error_details_pb.js';
import type { TokenClaims } from '../../src/serve/runtime-tokens/token-claims.js';
import { createTokenCodec } from '../../src/serve/runtime-tokens/token-codec.js';
import { describeAboveStores } from '../support/databases.js';
import { restClient } from '../support/http.js';
import { createKeysFile } from '../support/keys-file.js';
import { denyWord } from '../support/seed.js';
import { type SuiteService, suiteService } from '../support/service-suite.js';
import { until } from '../support/until.js';

const ADMIN = 'admin-key-of-tokens';
const READER = 'reader-key-of-tokens';
const SECRET = 'a-secret-of-at-least-32-bytes-000';
const OLD_SECRET = 'an-old-secret-of-at-least-32-byte';
const AGENT = 'token-agent-1';
const TARGET = { target_type: 'log_stream', target_id: 'checkout' };
const INVALID = 'Bearer error="invalid_token"';
const KEYS = {
  SERVICE_AUTH_MODE: 'api_key',
  SERVICE_API_KEYS: READER,
  SERVICE_ADMIN_API_KEYS: ADMIN,
};
const STEP = { type: 'llm', name: 'answer', input: 'a bad word' };
const LIMITED = { name: 'limited', key: 'limited-key-of-tokens', role: 'agent', agents: ['token-agent-*'] };
const SHORT = {
  name: 'short',
  key: 'short-key-of-tokens',
  role: 'agent',
  expires_at: '2999-01-01T00:00:00Z',
};
const VIEWER = { name: 'viewer', key: 'viewer-key-of-tokens', role: 'viewer' };

type Headers = Record<string, string>;
const bearer = (token: string): Headers => ({ authorization: `Bearer ${token}` });
const withKey = (key: string): Headers => ({ 'x-api-key': key });
const evaluation = (more: object = TARGET) => ({ agent_name: AGENT, stage: 'pre', step: STEP, ...more });
const now = () => Math.floor(Date.now() / 1000);

function claimsOf(token: string): Record<string, unknown> {
  return JSON.parse(Buffer.from(token.split('.')[1] ?? '', 'base64url').toString());
}

/** A token of a key, as the service makes it, with other claims. */
function forged(claims: Partial<TokenClaims> = {}, secret = SECRET): string {
  return createTokenCodec([secret]).sign({
    namespace: 'default',
    actor: 'reader',
    origin: 'key',
    fingerprint: hash('sha256', READER).slice(0, 12),
    agents: null,
    targetType: TARGET.target_type,
    targetId: TARGET.target_id,
    issuedAt: now(),
    expiresAt: now() + 300,
    id: 'forged',
    ...claims,
  });
}

/** How an evaluation ends: its verdict, or its error with what the reply says about credentials. */
interface End {
  readonly code: string;
  readonly status: number | string;
  readonly challenge: string | null;
}

type Caller = (url: string, headers: Headers, request?: object) => Promise<End>;

async function overRest(url: string, headers: Headers, request: object = evaluation()): Promise<End> {
  const reply = await restClient(url)('POST', '/api/v1/evaluation', request, headers);
  const code = reply.body.error_code ?? (reply.body.is_safe === false ? 'denied' : 'allowed');
  return { code, status: reply.status, challenge: reply.headers.get('www-authenticate') };
}

const rpcRequest = (request: object) => {
  const { target_type, target_id, agent_name } = request as Record<string, string>;
  return {
    agentName: agent_name ?? '',
    stage: 1,
    stepForm: { case: 'stepJson' as const, value: Buffer.from(JSON.stringify(STEP)) },
    ...(target_type === undefined ? {} : { targetType: target_type }),
    ...(target_id === undefined ? {} : { targetId: target_id }),
  };
};

function failed(error: unknown): End {
  const told = ConnectError.from(error);
  const code = told.findDetails(ErrorInfoSchema)[0]?.reason ?? told.message;
  return { code, status: Code[told.code], challenge: told.metadata.get('www-authenticate') };
}

const unary =
  (transport: (url: string) => Transport): Caller =>
  async (url, headers, request = evaluation()) => {
    try {
      const { isSafe } = await createClient(EvaluationService, transport(url)).evaluate(rpcRequest(request), {
        headers,
      });
      return { code: isSafe ? 'allowed' : 'denied', status: 'ok', challenge: null };
    } catch (error) {
      return failed(error);
    }
  };

/** One message of a stream; an error of its evaluation counts as that of the call. */
async function overStream(url: string, headers: Headers, request: object = evaluation()): Promise<End> {
  const client = createClient(EvaluationService, createGrpcTransport({ baseUrl: url }));
  const messages = (async function* () {
    yield { id: '1', evaluations: [rpcRequest(request)] };
  })();
  try {
    for await (const { results } of client.evaluateStream(messages, { headers })) {
      const { outcome } = results[0] ?? {};
      if (outcome?.case === 'verdict')
        return { code: outcome.value.isSafe ? 'allowed' : 'denied', status: 'ok', challenge: null };
      const [info] = outcome?.value?.details ?? [];
      const isInfo = info?.typeUrl.endsWith('google.rpc.ErrorInfo');
      const reason = Buffer.from(info?.value ?? []).toString('latin1');
      return {
        code: isInfo ? (/[A-Z_]{8,}/.exec(reason)?.[0] ?? '') : '',
        status: Code[outcome?.value?.code ?? 0] ?? '',
        challenge: null,
      };
    }
    throw new Error('the stream had no answer');
  } catch (error) {
    return failed(error);
  }
}

const overConnect = unary((baseUrl) => createConnectTransport({ baseUrl, httpVersion: '2' }));

const CALLERS: Record<string, Caller> = {
  REST: overRest,
  gRPC: unary((baseUrl) => createGrpcTransport({ baseUrl })),
  'gRPC-Web': unary((baseUrl) => createGrpcWebTransport({ baseUrl, httpVersion: '1.1' })),
  // Calls with cookies are not those of the lanes.
  'Connect beside the lanes': (url, headers, request) =>
    overConnect(url, { ...headers, cookie: 'a=b' }, request),
  'a stream of gRPC': overStream,
};

/** Exchanges a key for a token. */
async function tokenOf(url: string, headers: Headers, target: object = TARGET): Promise<string> {
  const reply = await restClient(url)('POST', '/api/v1/auth/runtime-token-exchange', target, headers);
  expect(reply.status, JSON.stringify(reply.body)).toBe(200);
  return reply.body.token;
}

async function prepare({ url }: SuiteService): Promise<void> {
  const call = restClient(url, withKey(ADMIN));
  const made = await call('PUT', '/api/v1/controls', { name: 'tokens', data: denyWord('bad') });
  await call('POST', '/api/v1/agents/initAgent', { agent: { agent_name: AGENT } });
  const linked = await call('POST', `/api/v1/agents/${AGENT}/controls/${made.body.control_id}`);
  expect(linked.status).toBe(200);
}

const DENIED = { code: 'denied', challenge: null };
const REFUSED = { code: 'AUTH_INVALID_KEY', challenge: INVALID };
const FORBIDDEN = { code: 'AUTH_INSUFFICIENT_PRIVILEGES', challenge: null };
/** Statuses of the JSON routes, and of everything else. */
const statusOf = (protocol: string, http: number, grpc: string) => (protocol === 'REST' ? http : grpc);

describeAboveStores('runtime tokens', (freshDatabaseUrl) => {
  const keys = createKeysFile([LIMITED, SHORT, VIEWER]);
  afterAll(() => keys.remove());
  const service = suiteService(async () => ({
    ...KEYS,
    DATABASE_URL: await freshDatabaseUrl(),
    SERVICE_KEYS_FILE: keys.file,
    SERVICE_RUNTIME_TOKEN_SECRETS: `${SECRET},${OLD_SECRET}`,
    SERVICE_RUNTIME_TOKEN_TTL_SECONDS: '600',
  }));
  it('are exchanged by every protocol for a key, with the documented members', async () => {
    await prepare(service);
    const reply = await restClient(service.url)(
      'POST',
      '/api/v1/auth/runtime-token-exchange',
      TARGET,
      withKey(READER),
    );
    expect(reply.body).toEqual({
      token: expect.any(String),
      expires_at: expect.any(String),
      ...TARGET,
      scopes: ['runtime.use'],
    });
    const claims = claimsOf(reply.body.token);
    expect(claims).toMatchObject({
      domain: 'runtime',
      namespace_key: 'default',
      ...TARGET,
      scopes: ['runtime.use'],
    });
    expect(Number(claims.exp) - Number(claims.iat)).toBe(600);
    expect(reply.body.expires_at).toBe(new Date(Number(claims.exp) * 1000).toISOString().replace('.000', ''));
    expect(JSON.stringify(claims)).not.toContain(READER);
    for (const transport of [
      createGrpcTransport({ baseUrl: service.url }),
      createGrpcWebTransport({ baseUrl: service.url, httpVersion: '1.1' }),
      createConnectTransport({ baseUrl: service.url, httpVersion: '1.1' }),
    ]) {
      const { token, scopes, targetId } = await createClient(AuthService, transport).exchangeRuntimeToken(
        { targetType: TARGET.target_type, targetId: TARGET.target_id },
        { headers: bearer(READER) },
      );
      expect({ scopes, targetId }).toEqual({ scopes: ['runtime.use'], targetId: TARGET.target_id });
      expect((await overRest(service.url, bearer(token))).code).toBe('denied');
    }
  });

  it('are not exchanged without a target, with further members, or without a key', async () => {
    const exchange = async (body: unknown, headers: Headers = withKey(READER)) => {
      const { status, body: told } = await restClient(service.url)(
        'POST',
        '/api/v1/auth/runtime-token-exchange',
        body,
        headers,
      );
      const fields = (told.errors ?? []).map(
        ({ field, code }: { field: string; code: string }) => `${field} ${code}`,
      );
      return [status, told.error_code, ...fields];
    };
    const invalid = (...fields: string[]) => [422, 'VALIDATION_ERROR', ...fields];
    expect(await exchange({})).toEqual(invalid('target_type missing', 'target_id missing'));
    expect(await exchange({ target_type: '', target_id: 1 })).toEqual(
      invalid('target_type string_too_short', 'target_id string_type'),
    );
    expect(await exchange({ ...TARGET, target_id: 'x'.repeat(256) })).toEqual(
      invalid('target_id string_too_long'),
    );
    expect(await exchange({ ...TARGET, ttl: 5 })).toEqual(invalid('ttl extra_forbidden'));
    expect(await exchange({ target_id: 'a', namespace: 'b' })).toEqual(
      invalid('target_type missing', 'namespace extra_forbidden'),
    );
    expect(await exchange(TARGET, {})).toEqual([401, 'AUTH_MISSING_KEY']);
    expect(await exchange(TARGET, withKey('wrong'))).toEqual([401, 'AUTH_INVALID_KEY']);
    expect(await exchange(TARGET, withKey(VIEWER.key))).toEqual([403, 'AUTH_INSUFFICIENT_PRIVILEGES']);
    // A token is no key: it cannot be renewed with itself.
    expect(await exchange(TARGET, bearer(forged()))).toEqual([401, 'AUTH_INVALID_KEY']);
  });

  it('end no later than their key', async () => {
    const soon = now() + 60;
    keys.set([LIMITED, { ...SHORT, expires_at: new Date(soon * 1000).toISOString() }, VIEWER]);
    const token = await until(
      () => tokenOf(service.url, withKey(SHORT.key)),
      (made) => claimsOf(made).exp === soon,
    );
    expect((await overRest(service.url, bearer(token))).code).toBe('denied');
  });

  describe.each(Object.entries(CALLERS))('over %s', (protocol, evaluate) => {
    const unauthenticated = statusOf(protocol, 401, 'Unauthenticated');
    const forbidden = statusOf(protocol, 403, 'PermissionDenied');

    it('evaluate for their target, and for no other one', async () => {
      const token = await tokenOf(service.url, withKey(READER));
      expect(await evaluate(service.url, bearer(token))).toMatchObject(DENIED);
      for (const target of [
        { target_type: 'log_stream', target_id: 'other' },
        { ...TARGET, target_type: 'x' },
        {},
      ])
        expect(await evaluate(service.url, bearer(token), evaluation(target))).toEqual({
          ...FORBIDDEN,
          status: forbidden,
        });
    });
    it('are the only thing that evaluations take, once there is a secret', async () => {
      const missing = {
        code: 'AUTH_MISSING_KEY',
        status: unauthenticated,
        challenge: protocol === 'REST' ? 'ApiKey' : null,
      };
      expect(await evaluate(service.url, {})).toEqual(missing);
      expect(await evaluate(service.url, withKey(ADMIN))).toEqual(missing);
      expect(await evaluate(service.url, { authorization: 'Basic abc' })).toEqual(missing);
      expect(await evaluate(service.url, bearer(ADMIN))).toEqual({ ...REFUSED, status: unauthenticated });
    });
    it('are refused when they are forged, expired or of another clock, with the challenge that renews them', async () => {
      const bad = [
        forged({}, 'another-secret-of-at-least-32-byte'),
        `${forged()}x`,
        forged({ issuedAt: now() - 600, expiresAt: now() - 1 }),
        forged({ issuedAt: now() + 600, expiresAt: now() + 900 }),
        forged({ fingerprint: '000000000000' }),
        forged({ namespace: 'another' }),
      ];
      for (const token of bad)
        expect(await evaluate(service.url, bearer(token))).toEqual({ ...REFUSED, status: unauthenticated });
      // The limit of wrong keys does not hold for them: clients that are late would shut out their address.
      for (let index = 0; index < 60; index += 1)
        await evaluate(service.url, bearer(forged({ id: `${index}` }, `${SECRET}x`)));
      expect(await evaluate(service.url, bearer(forged({}, OLD_SECRET)))).toMatchObject(DENIED);
    });
    it('of a key with agents evaluate for these', async () => {
      const token = await tokenOf(service.url, withKey(LIMITED.key));
      expect(await evaluate(service.url, bearer(token))).toMatchObject(DENIED);
      const other = { ...evaluation(), agent_name: 'another-agent-1' };
      expect(await evaluate(service.url, bearer(token), other)).toEqual({ ...FORBIDDEN, status: forbidden });
    });
  });

  it('tell clocks that differ', async () => {
    const call = (token: string) =>
      restClient(service.url)('POST', '/api/v1/evaluation', evaluation(), bearer(token));
    const early = await call(forged({ issuedAt: now() + 600, expiresAt: now() + 900 }));
    expect(early.body.detail).toMatch(/issued (599|600) seconds in the future \(iat\): the clocks/);
    const late = await call(forged({ issuedAt: now() - 900, expiresAt: now() - 600 }));
    expect(late.body.detail).toMatch(/has expired 60[01] seconds ago \(exp\)/);
    expect(late.body.hint).toContain('clocks');
  });

  it('do nothing but evaluate', async () => {
    const token = await tokenOf(service.url, withKey(ADMIN));
    const call = restClient(service.url, bearer(token));
    for (const [method, path, body] of [
      ['GET', '/api/v1/agents'],
      ['GET', `/api/v1/agents/${AGENT}/controls`],
      ['PUT', '/api/v1/controls', { name: 'x', data: denyWord('x') }],
      ['POST', '/api/v1/observability/events', { events: [] }],
    ] as const) {
      const reply = await call(method, path, body);
      expect([path, reply.status, reply.body.error_code]).toEqual([path, 401, 'AUTH_INVALID_KEY']);
      expect(reply.headers.get('www-authenticate')).toBe('ApiKey');
    }
    const agents = createClient(AgentService, createGrpcTransport({ baseUrl: service.url }));
    await expect(agents.listAgents({}, { headers: bearer(token) })).rejects.toMatchObject({
      code: Code.Unauthenticated,
    });
  });

  it('end with their key, and so do their streams', async () => {
    const token = await tokenOf(service.url, withKey(LIMITED.key));
    const headers = bearer(token);
    const client = createClient(EvaluationService, createGrpcTransport({ baseUrl: service.url }));
    let isOpen = true;
    const messages = (async function* () {
      yield { id: '1', evaluations: [rpcRequest(evaluation())] };
      await until(
        () => isOpen,
        (open) => !open,
      );
    })();
    const replies = client.evaluateStream(messages, { headers })[Symbol.asyncIterator]();
    expect((await replies.next()).value).toMatchObject({ id: '1' });
    const ended = replies.next();
    keys.set([SHORT, VIEWER]);
    await expect(ended).rejects.toMatchObject({ code: Code.Unauthenticated });
    isOpen = false;
    for (const [protocol, evaluate] of Object.entries(CALLERS))
      expect(await evaluate(service.url, headers)).toEqual({
        ...REFUSED,
        status: statusOf(protocol, 401, 'Unauthenticated'),
      });
    // The same key with the right to do something else only.
    keys.set([SHORT, VIEWER, { ...LIMITED, role: 'viewer' }]);
    await until(
      () => restClient(service.url)('GET', '/api/v1/agents', undefined, withKey(LIMITED.key)),
      ({ status }) => status === 403,
    );
    expect(await overRest(service.url, headers)).toMatchObject(REFUSED);
    keys.set([SHORT, VIEWER, LIMITED]);
    await until(
      () => overRest(service.url, headers),
      ({ code }) => code === 'denied',
    );
  });

  it('never appear in the log', async () => {
    const token = await tokenOf(service.url, withKey(READER));
    await overRest(service.url, bearer(token));
    await overRest(service.url, bearer(`${token}x`));
    const text = service.logLines.join('');
    expect(text).not.toContain(token.slice(-30));
    expect(text).not.toContain(SECRET);
  });
});

describe('evaluations that take both', () => {
  const service = suiteService({
    ...KEYS,
    SERVICE_RUNTIME_TOKEN_SECRETS: SECRET,
    SERVICE_RUNTIME_AUTH_MODE: 'both',
    SERVICE_API_KEY_HEADERS: 'X-SF-Token, Vendor-API-Key',
  });
  it.each(Object.entries(CALLERS))('over %s', async (protocol, evaluate) => {
    if (protocol === 'REST') await prepare(service);
    const { url } = service;
    const token = bearer(await tokenOf(url, withKey(READER)));
    for (const headers of [
      token,
      withKey(READER),
      bearer(READER),
      { 'x-sf-token': READER },
      { 'vendor-api-key': READER },
    ])
      expect(await evaluate(url, headers)).toMatchObject(DENIED);
    // A token beside a key counts: the key may belong to a proxy.
    expect(await evaluate(url, { ...token, ...withKey(READER) }, evaluation({}))).toMatchObject(FORBIDDEN);
    expect(await evaluate(url, withKey(READER), evaluation({}))).toMatchObject(DENIED);
    expect(await evaluate(url, { 'x-sf-token': 'wrong' })).toMatchObject({ code: 'AUTH_INVALID_KEY' });
    expect(await evaluate(url, bearer(forged({ fingerprint: '0'.repeat(12) })))).toMatchObject(REFUSED);
  });
});

describe('a header for tokens', () => {
  const service = suiteService({
    ...KEYS,
    SERVICE_RUNTIME_TOKEN_SECRETS: SECRET,
    SERVICE_RUNTIME_TOKEN_HEADER: 'X-SERVICE-Runtime-Token',
    SERVICE_VERSION_HEADERS: 'X-Other-Server-Version',
  });
  it.each(Object.entries(CALLERS))('is the only one that is read, over %s', async (protocol, evaluate) => {
    if (protocol === 'REST') await prepare(service);
    const { url } = service;
    const token = await tokenOf(url, withKey(READER));
    expect(await evaluate(url, { 'x-service-runtime-token': token })).toMatchObject(DENIED);
    expect(await evaluate(url, { 'x-service-runtime-token': `Bearer ${token}` })).toMatchObject(DENIED);
    expect(await evaluate(url, bearer(token))).toMatchObject({ code: 'AUTH_MISSING_KEY' });
    expect(await evaluate(url, { ...bearer(token), 'x-service-runtime-token': READER })).toMatchObject(
      REFUSED,
    );
  });
  it('stands beside the further names of the version', async () => {
    const call = restClient(service.url);
    const replies = [
      await call('POST', '/api/v1/evaluation', evaluation()),
      await call('GET', '/api/v1/agents'),
      await call('GET', '/nowhere'),
    ];
    for (const { headers } of replies)
      expect(headers.get('x-other-server-version')).toBe(headers.get('x-service-server-version'));
  });
});

describe('evaluations without credentials', () => {
  const service = suiteService({ ...KEYS, SERVICE_RUNTIME_AUTH_MODE: 'none' });
  it('are those of the namespace default, and nothing else is open', async () => {
    await prepare(service);
    for (const evaluate of Object.values(CALLERS)) {
      expect(await evaluate(service.url, {})).toMatchObject(DENIED);
      expect(await evaluate(service.url, withKey('wrong'))).toMatchObject(DENIED);
    }
    expect((await restClient(service.url)('GET', '/api/v1/agents')).status).toBe(401);
    const page = { origin: 'https://elsewhere.example', 'x-api-key': READER };
    expect(await overRest(service.url, page)).toMatchObject({
      code: 'AUTH_INSUFFICIENT_PRIVILEGES',
      status: 403,
    });
    expect(await overRest(service.url, { origin: 'http://localhost:3000' })).toMatchObject(DENIED);
  });
});

describe('without a secret', () => {
  const service = suiteService(KEYS);
  it('no tokens are made or taken', async () => {
    await prepare(service);
    const reply = await restClient(service.url)(
      'POST',
      '/api/v1/auth/runtime-token-exchange',
      TARGET,
      withKey(READER),
    );
    expect([reply.status, reply.body.error_code, reply.body.errors]).toEqual([
      503,
      'AUTH_MISCONFIGURED',
      undefined,
    ]);
    expect(await overRest(service.url, bearer(forged()))).toMatchObject({
      code: 'AUTH_INVALID_KEY',
      challenge: 'ApiKey',
    });
    expect(await overRest(service.url, withKey(READER))).toMatchObject(DENIED);
  });
});
