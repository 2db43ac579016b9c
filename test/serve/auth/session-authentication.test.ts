import { create } from '@bufbuild/protobuf';
import { Code, ConnectError, createClient } from '@connectrpc/connect';
import { Metadata } from '@grpc/grpc-js';
import { decodeJwt, type JWTPayload, SignJWT } from 'jose';
import { afterEach, beforeAll, describe, expect, it, vi } from 'vitest';
import { AgentService } from '../../../gen/proto/enforcement/v1/agent_service_pb.js';
import { Stage } from '../../../gen/proto/enforcement/v1/control_pb.js';
import {
  EvaluateStreamRequestSchema,
  EvaluationService,
} from '../../../gen/proto/enforcement/v1/evaluation_service_pb.js';
import { PolicyService } from '../../../gen/proto/enforcement/v1/policy_service_pb.js';
import { createAuthenticator } from '../../../src/serve/auth/authenticator.js';
import { rpcMethods } from '../../../src/serve/descriptors/rpc-methods.js';
import { logIn, sendJson, tokenOf } from '../../support/browser.js';
import { describeAboveStores } from '../../support/databases.js';
import { endedHere } from '../../support/ended-sessions.js';
import { fewestQueries } from '../../support/fewest-queries.js';
import { rawGrpcCall } from '../../support/grpc-js-client.js';
import { RPC_PROTOCOLS, type RpcProtocol, rpcTransport } from '../../support/rpc-transports.js';
import { startService, type TestService } from '../../support/service.js';
import { suiteService } from '../../support/service-suite.js';

const REGULAR = 'regular-key';
const ADMIN = 'admin-key';
const SECRET = 'a secret of the tests, long enough to sign with';
const CLOSED = {
  SERVICE_API_KEY_ENABLED: 'true',
  SERVICE_API_KEYS: REGULAR,
  SERVICE_ADMIN_API_KEYS: ADMIN,
  SERVICE_SESSION_SECRET: SECRET,
};
type Headers = Record<string, string>;

/** How a call ended: `ok`, or the code and the text of its refusal. */
interface Outcome {
  readonly code: string;
  readonly detail?: string;
}

/** The same two calls over every way browsers have: one for every key, one for admins. */
interface Caller {
  list(service: TestService, headers: Headers): Promise<Outcome>;
  change(service: TestService, headers: Headers): Promise<Outcome>;
}

let names = 0;
const newName = (): string => {
  names += 1;
  return `policy-${names}`;
};

function restOutcome({ status, json }: Awaited<ReturnType<typeof sendJson>>): Outcome {
  return status === 200 ? { code: 'ok' } : { code: json.error_code, detail: json.detail };
}

const REST: Caller = {
  list: async (service, headers) =>
    restOutcome(await sendJson(service.url, 'GET', '/api/v1/agents', undefined, headers)),
  change: async (service, headers) =>
    restOutcome(await sendJson(service.url, 'PUT', '/api/v1/policies', { name: newName() }, headers)),
};

function rpcCaller(protocol: RpcProtocol): Caller {
  const outcome = async (call: () => Promise<unknown>): Promise<Outcome> => {
    try {
      await call();
      return { code: 'ok' };
    } catch (error) {
      const { rawMessage, code } = ConnectError.from(error);
      const word = code === Code.PermissionDenied ? 'AUTH_INSUFFICIENT_PRIVILEGES' : '';
      if (word !== '') return { code: word, detail: rawMessage };
      if (code !== Code.Unauthenticated) throw error;
      return {
        code: rawMessage.includes('not known') ? 'AUTH_INVALID_KEY' : 'AUTH_MISSING_KEY',
        detail: rawMessage,
      };
    }
  };
  return {
    list: (service, headers) =>
      outcome(() =>
        createClient(AgentService, rpcTransport(protocol, service.url)).listAgents({}, { headers }),
      ),
    change: (service, headers) =>
      outcome(() =>
        createClient(PolicyService, rpcTransport(protocol, service.url)).createPolicy(
          { name: newName() },
          { headers },
        ),
      ),
  };
}

const BROWSER_CALLERS: [string, Caller][] = [
  ['REST', REST],
  ...RPC_PROTOCOLS.filter((protocol) => protocol !== 'gRPC').map((protocol): [string, Caller] => [
    protocol,
    rpcCaller(protocol),
  ]),
];

const OK = { code: 'ok' };
const MISSING = { code: 'AUTH_MISSING_KEY', detail: 'Missing credentials: this call needs an API key.' };
const INVALID = {
  code: 'AUTH_INVALID_KEY',
  detail: 'Invalid API key: it is not known to this service.',
};
const KEY_LACKS = {
  code: 'AUTH_INSUFFICIENT_PRIVILEGES',
  detail: 'This call needs an admin key, or the scope policies.write.',
};
const SESSION_LACKS = {
  code: 'AUTH_INSUFFICIENT_PRIVILEGES',
  detail: 'This call needs a session that was started with an admin key, or the scope policies.write.',
};

describe('a browser session', () => {
  let regular: string;
  let admin: string;
  const service = suiteService(CLOSED);
  beforeAll(async () => {
    regular = await logIn(service.url, REGULAR);
    admin = await logIn(service.url, ADMIN);
  });

  describe.each(BROWSER_CALLERS)('over %s', (_protocol, { list, change }) => {
    it('may do what its key may do', async () => {
      expect(await list(service, { cookie: regular })).toEqual(OK);
      expect(await list(service, { cookie: admin })).toEqual(OK);
      expect(await change(service, { cookie: admin })).toEqual(OK);
      expect(await change(service, { cookie: regular })).toEqual(SESSION_LACKS);
    });
    it('does not count beside a key', async () => {
      expect(await list(service, { cookie: admin, 'x-api-key': 'unknown' })).toEqual(INVALID);
      expect(await change(service, { cookie: admin, 'x-api-key': REGULAR })).toEqual(KEY_LACKS);
      expect(await change(service, { cookie: regular, 'x-api-key': ADMIN })).toEqual(OK);
    });
    it('counts beside an empty key', async () => {
      expect(await list(service, { cookie: regular, 'x-api-key': '' })).toEqual(OK);
    });
    it('is as good as absent when it is not valid', async () => {
      expect(await list(service, { cookie: 'service_session=nonsense' })).toEqual(MISSING);
      expect(await change(service, { cookie: `${admin}x` })).toEqual(MISSING);
    });
    it('does not need to be there: generated clients send an empty cookie', async () => {
      expect(await list(service, { cookie: '', 'x-api-key': REGULAR })).toEqual(OK);
      expect(await list(service, { cookie: '' })).toEqual(MISSING);
    });
    it('is found among other cookies', async () => {
      expect(await list(service, { cookie: `theme=dark; ${regular}; service_session_x=1` })).toEqual(OK);
      expect(await list(service, { cookie: `service_session=; ${regular}` })).toEqual(OK);
    });
  });

  it('states in a hint how to get further', async () => {
    const put = await sendJson(service.url, 'PUT', '/api/v1/policies', { name: 'x' }, { cookie: regular });
    expect(put).toMatchObject({ status: 403, json: { hint: expect.stringContaining('log in again') } });
    expect(put.headers['www-authenticate']).toBeUndefined();
    const byKey = { 'x-api-key': REGULAR };
    const key = await sendJson(service.url, 'PUT', '/api/v1/policies', { name: 'x' }, byKey);
    expect(key.json.hint).not.toBe(put.json.hint);
    const none = await sendJson(service.url, 'GET', '/api/v1/agents', undefined, {
      cookie: 'service_session=x',
    });
    expect(none).toMatchObject({ status: 401, headers: { 'www-authenticate': 'ApiKey' } });
  });
  it('evaluates steps over streams', async () => {
    const seed = { agent: { agent_name: 'session-agent' } };
    await sendJson(service.url, 'POST', '/api/v1/agents/initAgent', seed, { cookie: regular });
    const messages = (async function* () {
      yield create(EvaluateStreamRequestSchema, {
        id: 'one',
        evaluations: [
          {
            agentName: 'session-agent',
            stage: Stage.PRE,
            stepForm: { case: 'stepJson', value: Buffer.from('{"type":"llm","name":"n","input":"x"}') },
          },
        ],
      });
    })();
    const client = createClient(EvaluationService, rpcTransport('Connect over HTTP/2', service.url));
    const replies = [];
    for await (const reply of client.evaluateStream(messages, { headers: { cookie: regular } })) {
      replies.push([reply.id, reply.results.map(({ outcome }) => outcome.case)]);
    }
    expect(replies).toEqual([['one', ['verdict']]]);
  });
  it('does not exist over plain gRPC', async () => {
    expect(await rpcCaller('gRPC').list(service, { cookie: admin })).toEqual(MISSING);
    expect(await rpcCaller('gRPC').list(service, { cookie: admin, 'x-api-key': REGULAR })).toEqual(OK);
    const metadata = new Metadata();
    metadata.set('cookie', admin);
    const { code } = await rawGrpcCall(
      service,
      'enforcement.v1.AgentService/ListAgents',
      Buffer.alloc(0),
      metadata,
    );
    expect(code).toBe(Code.Unauthenticated);
  });
  it('costs no database query to check', async () => {
    const check = () => sendJson(service.url, 'GET', '/api/config', undefined, { cookie: regular });
    expect(await fewestQueries(service, check)).toEqual([]);
  });
  it('stands for the key that started it', async () => {
    const auth = { enabled: true, keys: [REGULAR], adminKeys: [ADMIN], sessionSecret: SECRET };
    const authenticator = createAuthenticator({ ...auth, endedSessions: endedHere() });
    const [method] = rpcMethods(AgentService);
    if (method === undefined) throw new Error('there is no RPC');
    for (const [key, cookie] of [
      [REGULAR, regular],
      [ADMIN, admin],
    ] as const) {
      const session = { token: tokenOf(cookie), foreignOrigin: false };
      const { sessionId, ...rights } = await authenticator.authorize({ session }, method);
      expect(rights).toEqual(authenticator.authorize({ apiKey: key }, method));
      expect(sessionId).toMatch(/^[\w-]{43}$/);
    }
  });
});

describe('the token of a session', () => {
  const service = suiteService(CLOSED);

  const key = Buffer.from(SECRET);
  const encoded = (value: object): string => Buffer.from(JSON.stringify(value)).toString('base64url');
  const signed = (claims: JWTPayload, secret: Uint8Array = key, alg = 'HS256'): Promise<string> =>
    new SignJWT(claims).setProtectedHeader({ alg }).sign(secret);
  const without = (claims: JWTPayload, name: string): JWTPayload =>
    Object.fromEntries(Object.entries(claims).filter(([claim]) => claim !== name));
  const parts = (token: string): [string, string, string] => token.split('.') as [string, string, string];
  const nowSeconds = (): number => Math.floor(Date.now() / 1000);

  const FORGERIES: Record<string, (token: string, claims: JWTPayload) => string | Promise<string>> = {
    'with other claims under the same signature': (token, claims) => {
      const [header, , signature] = parts(token);
      return `${header}.${encoded({ ...claims, is_admin: true })}.${signature}`;
    },
    'with another header under the same signature': (token) => {
      const [, payload, signature] = parts(token);
      return `${encoded({ alg: 'HS256' })}.${payload}.${signature}`;
    },
    'with another signature': (token) => `${token.slice(0, -4)}AAAA`,
    'without a signature': (token) => token.slice(0, token.lastIndexOf('.') + 1),
    'with algorithm none': (token) => `${encoded({ alg: 'none' })}.${parts(token)[1]}.`,
    'with algorithm none and a signature': (token) => {
      const [, payload, signature] = parts(token);
      return `${encoded({ alg: 'none' })}.${payload}.${signature}`;
    },
    'signed with HS384': (_token, claims) => signed(claims, key, 'HS384'),
    'signed with HS512': (_token, claims) => signed(claims, Buffer.concat([key, key]), 'HS512'),
    'signed with another secret': (_token, claims) => signed(claims, Buffer.from(`${SECRET}!`)),
    'from the future': (_token, claims) => signed({ ...claims, iat: nowSeconds() + 300 }),
    expired: (_token, claims) => signed({ ...claims, iat: nowSeconds() - 60, exp: nowSeconds() - 1 }),
    'issued more than 30 days ago': (_token, claims) => signed({ ...claims, iat: nowSeconds() - 2_592_001 }),
    'of another subject': (_token, claims) => signed({ ...claims, sub: 'else' }),
    'of an unknown key': (_token, claims) => signed({ ...claims, key_id: 'AAAAAAAAAAAAAAAAAAAAAA' }),
    'with a level that is no boolean': (_token, claims) => signed({ ...claims, is_admin: 'true' }),
    'with a key id that is no text': (_token, claims) => signed({ ...claims, key_id: 5 }),
    'with times that are texts': (_token, claims) =>
      signed({ ...claims, iat: String(claims.iat), exp: String(claims.exp) } as never),
    ...Object.fromEntries(
      ['sub', 'is_admin', 'key_id', 'iat', 'exp'].map((name) => [
        `without ${name}`,
        (_token: string, claims: JWTPayload) => signed(without(claims, name)),
      ]),
    ),
    'of great length': (_token, claims) => signed({ ...claims, more: 'x'.repeat(4_000) }),
    'that is no token': () => '....',
    'that is text': () => 'true',
  };

  it('is valid when all claims are in order', async () => {
    const cookie = await logIn(service.url, REGULAR);
    const again = await signed(decodeJwt(tokenOf(cookie)));
    expect(again).not.toBe(tokenOf(cookie));
    expect(await REST.list(service, { cookie: `service_session=${again}` })).toEqual(OK);
  });
  it.each(Object.entries(FORGERIES))('is not valid %s', async (_name, forge) => {
    const token = tokenOf(await logIn(service.url, REGULAR));
    const cookie = `service_session=${await forge(token, decodeJwt(token))}`;
    for (const [, { list }] of BROWSER_CALLERS) expect(await list(service, { cookie })).toEqual(MISSING);
    const config = await sendJson(service.url, 'GET', '/api/config', undefined, { cookie });
    expect(config).toMatchObject({ status: 200, json: { has_active_session: false } });
  });
  it('gives no more than its key has, whatever level it contains', async () => {
    const claims = decodeJwt(tokenOf(await logIn(service.url, REGULAR)));
    const cookie = `service_session=${await signed({ ...claims, is_admin: true })}`;
    expect(await REST.change(service, { cookie })).toEqual(SESSION_LACKS);
  });
  it('stays valid however many others are in use', async () => {
    const cookie = await logIn(service.url, REGULAR);
    const claims = decodeJwt(tokenOf(cookie));
    expect(await REST.list(service, { cookie })).toEqual(OK);
    for (let count = 0; count < 1_005; count += 1) {
      const other = `service_session=${await signed({ ...claims, jti: String(count) })}`;
      const { json } = await sendJson(service.url, 'GET', '/api/config', undefined, { cookie: other });
      expect(json.has_active_session).toBe(true);
    }
    expect(await REST.list(service, { cookie })).toEqual(OK);
  });
});

describe('the time of a session', () => {
  let service: TestService;
  afterEach(async () => {
    vi.useRealTimers();
    await service.stop();
  });

  it.each(['seen before', 'not seen before'])('ends after 30 days for a token %s', async (seen) => {
    service = await startService(CLOSED);
    const start = Date.parse('2030-01-01T00:00:00Z');
    const DAYS_30 = 30 * 24 * 60 * 60 * 1000;
    vi.useFakeTimers({ toFake: ['Date'], now: start });
    const cookie = await logIn(service.url, ADMIN);
    const other = await logIn(service.url, REGULAR);
    if (seen === 'seen before') expect(await REST.list(service, { cookie })).toEqual(OK);
    vi.setSystemTime(start + DAYS_30 - 1_000);
    expect(await REST.list(service, { cookie: seen === 'seen before' ? cookie : other })).toEqual(OK);
    vi.setSystemTime(start + DAYS_30);
    expect(await REST.list(service, { cookie })).toEqual(MISSING);
    vi.setSystemTime(start - 1_000);
    expect(await REST.list(service, { cookie })).toEqual(MISSING);
  });
});

describeAboveStores('sessions across a restart', (freshDatabaseUrl) => {
  let service: TestService | undefined;
  let databaseUrl: string;
  beforeAll(async () => {
    databaseUrl = await freshDatabaseUrl();
  });
  afterEach(async () => {
    await service?.stop();
    service = undefined;
  });
  const restart = async (environment: Record<string, string>): Promise<TestService> => {
    await service?.stop();
    service = await startService({ ...CLOSED, DATABASE_URL: databaseUrl, ...environment });
    return service;
  };

  it('end when their key is removed from the configuration, and no others', async () => {
    const first = await restart({ SERVICE_API_KEYS: 'first-key,second-key' });
    const firstCookie = await logIn(first.url, 'first-key');
    const secondCookie = await logIn(first.url, 'second-key');
    const adminCookie = await logIn(first.url, ADMIN);
    expect(await REST.change(first, { cookie: adminCookie })).toEqual(OK);
    const second = await restart({ SERVICE_API_KEYS: 'second-key', SERVICE_ADMIN_API_KEYS: 'other-admin' });
    for (const [, { list }] of BROWSER_CALLERS) {
      expect(await list(second, { cookie: firstCookie })).toEqual(MISSING);
      expect(await list(second, { cookie: adminCookie })).toEqual(MISSING);
      expect(await list(second, { cookie: secondCookie })).toEqual(OK);
    }
    const config = await sendJson(second.url, 'GET', '/api/config', undefined, { cookie: firstCookie });
    expect(config.json.has_active_session).toBe(false);
  });
  it('follow their key into another list', async () => {
    const before = await restart({});
    const regular = await logIn(before.url, REGULAR);
    const admin = await logIn(before.url, ADMIN);
    const after = await restart({ SERVICE_API_KEYS: ADMIN, SERVICE_ADMIN_API_KEYS: REGULAR });
    expect(await REST.change(after, { cookie: regular })).toEqual(OK);
    expect(await REST.change(after, { cookie: admin })).toEqual(SESSION_LACKS);
    expect(await REST.list(after, { cookie: admin })).toEqual(OK);
  });
  it.each([
    ['the secret changes', 'another secret, as long as the first one was'],
    ['there is no secret', ''],
  ])('end when %s', async (_name, secret) => {
    const cookie = await logIn((await restart({ SERVICE_SESSION_SECRET: secret })).url, ADMIN);
    const after = await restart({ SERVICE_SESSION_SECRET: secret === '' ? '' : SECRET });
    expect(await REST.list(after, { cookie })).toEqual(MISSING);
  });
});
