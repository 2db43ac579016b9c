import http from 'node:http';
import http2 from 'node:http2';
import { create, type DescMethod, getOption } from '@bufbuild/protobuf';
import { Code, ConnectError } from '@connectrpc/connect';
import { type Client, Metadata } from '@grpc/grpc-js';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { ObservabilityService } from '../../../gen/proto/enforcement/v1/observability_service_pb.js';
import { http as httpRule } from '../../../gen/proto/google/api/annotations_pb.js';
import { ERROR_CODE_HEADER } from '../../../src/serve/wire/reply-headers.js';
import { grpcJsClient, rawGrpcCallOver, rawGrpcClient } from '../../support/grpc-js-client.js';
import { type RestReply, restClient } from '../../support/http.js';
import { SERVICES } from '../../support/protocol-clients.js';
import { problem } from '../../support/refusals.js';
import { decisionOf, type RpcDecision } from '../../support/rpc-decisions.js';
import { RPC_PROTOCOLS, type RpcProtocol } from '../../support/rpc-transports.js';
import type { TestService } from '../../support/service.js';
import { suiteService } from '../../support/service-suite.js';
import { suiteTransports } from '../../support/suite-transports.js';

const REGULAR = 'regular-key';
const ADMIN = 'admin-key';
const BOTH = 'key-in-both-lists';

/** With an empty message, streams of events wait for more of them: they are called by tests of their own. */
const isCalled = (method: DescMethod) =>
  method.methodKind === 'unary' || method.parent !== ObservabilityService;
const METHODS = SERVICES.flatMap((service) => service.methods)
  .filter(isCalled)
  .map((method): [string, DescMethod] => [method.name, method]);

/** What every caller is told: as reviewed, not as the service reads it. */
const reviewed = ({ parent, name }: DescMethod) => decisionOf(`${parent.name}.${name}`);

/** Keys as callers send them; undefined sends no header. */
const KEYS = {
  'no key': undefined,
  'an unknown key': 'unknown',
  'a regular key': REGULAR,
  'an admin key': ADMIN,
};
/** How a key is compared with those of the service does not depend on the RPC. */
const ALL_KEYS = {
  ...KEYS,
  'an empty key': '',
  'a known key with a blank in it': 'regular -key',
  'a known key in quotes': '"regular-key"',
  'a known key in another case': 'REGULAR-KEY',
  'the beginning of a known key': 'regular-ke',
  'both keys at once': `${REGULAR}, ${ADMIN}`,
  'a key in both lists': BOTH,
};

/** For each kind of RPC, the first one that each kind of caller may call: these are called with all keys. */
const CALLED_WITH_ALL_KEYS = new Map(
  METHODS.toReversed().map(([, method]) => {
    const { access, scopes } = reviewed(method);
    return [`${method.methodKind} ${access} ${scopes.startsWith('namespaces.')}`, method];
  }),
);
const keysFor = (method: DescMethod): [description: string, key: string | undefined][] =>
  Object.entries([...CALLED_WITH_ALL_KEYS.values()].includes(method) ? ALL_KEYS : KEYS);

type Answer = 'missing' | 'invalid' | 'forbidden' | 'allowed';

function expectedAnswer(key: string | undefined, { access: level, scopes }: RpcDecision): Answer {
  if (level === 'public') return 'allowed';
  if (key === undefined || key === '') return 'missing';
  if (key === ADMIN || key === BOTH) return scopes.startsWith('namespaces.') ? 'forbidden' : 'allowed';
  if (key !== REGULAR) return 'invalid';
  return level === 'admin' ? 'forbidden' : 'allowed';
}

const closed = suiteService({
  SERVICE_API_KEY_ENABLED: 'true',
  SERVICE_API_KEYS: `${REGULAR},${BOTH}`,
  SERVICE_ADMIN_API_KEYS: `${ADMIN},${BOTH}`,
});
const open = suiteService();
const transportTo = suiteTransports();
let [toClosed, toOpen]: Client[] = [];
beforeAll(() => {
  toClosed = rawGrpcClient(closed);
  toOpen = rawGrpcClient(open);
});
afterAll(() => {
  toClosed?.close();
  toOpen?.close();
});

function headersWith(key: string | undefined): Record<string, string> {
  return key === undefined ? {} : { 'x-api-key': key };
}

/** Calls the JSON route of an RPC with as little input as possible. */
async function callRest(service: TestService, method: DescMethod, key: string | undefined) {
  const { pattern, body } = getOption(method, httpRule);
  const template = pattern.value as string;
  const path = template.replace('{agent_name}', 'nobody-at-all').replace('{control_id}', '999');
  const call = restClient(service.url);
  return call((pattern.case ?? '').toUpperCase(), path, body === '' ? undefined : {}, headersWith(key));
}

/** Calls an RPC with an empty message; the code it ends with, or 'ok'. */
async function callRpc(
  service: TestService,
  protocol: RpcProtocol,
  method: DescMethod,
  key: string | undefined,
) {
  const transport = transportTo(protocol, service.url);
  const header = headersWith(key);
  const message = create(method.input);
  try {
    if (method.methodKind === 'unary') {
      await transport.unary(method as never, undefined, undefined, header, message);
    } else {
      const messages = (async function* () {
        yield message;
      })();
      const { message: replies } = await transport.stream(
        method as never,
        undefined,
        undefined,
        header,
        messages,
      );
      // What is let through may never end.
      for await (const _ of replies) break;
    }
    return { code: 'ok' as const };
  } catch (error) {
    const { code, rawMessage } = ConnectError.from(error);
    return { code, rawMessage };
  }
}

/** What the service says about keys, which does not depend on the language it is asked in. */
const RPC_ANSWERS = {
  missing: { code: Code.Unauthenticated, rawMessage: 'Missing credentials: this call needs an API key.' },
  invalid: {
    code: Code.Unauthenticated,
    rawMessage: 'Invalid API key: it is not known to this service.',
  },
  forbidden: { code: Code.PermissionDenied },
} as const;
const REST_ANSWERS = {
  missing: problem(401, 'AUTH_MISSING_KEY', { title: 'Authentication Required' }),
  invalid: problem(401, 'AUTH_INVALID_KEY', { title: 'Invalid API Key' }),
  forbidden: problem(403, 'AUTH_INSUFFICIENT_PRIVILEGES', { reason: 'Forbidden' }),
} as const;

/** The code of an error; undefined without one. */
function codeOf({ headers, body }: RestReply): string | undefined {
  return headers.get(ERROR_CODE_HEADER) ?? body?.error_code;
}

/** What a key without the scopes of an RPC is told. */
function refusalOf({ scopes }: RpcDecision): string {
  const names = scopes.replaceAll(',', ' or ');
  return scopes.startsWith('namespaces.')
    ? `This call needs the scope ${names}, which its key does not have.`
    : `This call needs an admin key, or the scope ${names}.`;
}

describe.each(METHODS)('%s', (_name, method) => {
  const decision = reviewed(method);

  if (getOption(method, httpRule).pattern.case !== undefined)
    it('checks keys over REST', async () => {
      const unguarded = await callRest(open, method, undefined);
      for (const [description, key] of keysFor(method)) {
        const answer = expectedAnswer(key, decision);
        const reply = await callRest(closed, method, key);
        if (answer === 'allowed') {
          expect({ description, status: reply.status, code: codeOf(reply) }).toEqual({
            description,
            status: unguarded.status,
            code: codeOf(unguarded),
          });
        } else if (reply.headers.has(ERROR_CODE_HEADER)) {
          // In the form of the protocol of an adapter.
          const { status, body } = REST_ANSWERS[answer];
          expect({ description, status: reply.status, code: codeOf(reply) }).toEqual({
            description,
            status,
            code: body.error_code,
          });
        } else {
          expect({ description, ...reply }).toMatchObject({ description, ...REST_ANSWERS[answer] });
        }
        expect(reply.headers.get('www-authenticate')).toBe(reply.status === 401 ? 'ApiKey' : null);
      }
    });

  it.each(RPC_PROTOCOLS.filter((protocol) => method.methodKind === 'unary' || !protocol.includes('1.1')))(
    'checks keys over %s',
    async (protocol) => {
      const unguarded = await callRpc(open, protocol, method, undefined);
      for (const [description, key] of keysFor(method)) {
        const answer = expectedAnswer(key, decision);
        const expected = answer === 'allowed' ? unguarded : RPC_ANSWERS[answer];
        const reply = await callRpc(closed, protocol, method, key);
        if (answer === 'forbidden')
          expect({ description, ...reply }).toEqual({
            description,
            ...expected,
            rawMessage: refusalOf(decision),
          });
        else expect({ description, ...reply }).toEqual({ description, ...expected });
      }
    },
  );

  if (method.methodKind === 'unary')
    it('checks keys of a client that shares no code with it', async () => {
      const rpc = `${method.parent.typeName}/${method.name}`;
      const unguarded = await rawGrpcCallOver(toOpen as Client, rpc, Buffer.alloc(0), new Metadata());
      for (const [description, key] of keysFor(method)) {
        const metadata = new Metadata();
        if (key !== undefined) metadata.set('x-api-key', key);
        const answer = expectedAnswer(key, decision);
        const expected = answer === 'allowed' ? unguarded.code : RPC_ANSWERS[answer].code;
        const { code } = await rawGrpcCallOver(toClosed as Client, rpc, Buffer.alloc(0), metadata);
        expect({ description, code }).toEqual({ description, code: expected });
      }
    });

  if (method.methodKind === 'unary' && decision.access !== 'public')
    it('refuses bytes that are no message before it reads them', async () => {
      const rpc = `${method.parent.typeName}/${method.name}`;
      const garbage = Buffer.from('ffffffffffff', 'hex');
      expect((await rawGrpcCallOver(toClosed as Client, rpc, garbage, new Metadata())).code).toBe(
        Code.Unauthenticated,
      );
      const web = await fetch(`${closed.url}/${rpc}`, {
        method: 'POST',
        headers: { 'content-type': 'application/grpc-web+proto' },
        body: garbage,
      });
      expect(Buffer.from(await web.arrayBuffer()).toString()).toMatch(/grpc-status: ?16\r\n/i);
      const connect = await restClient(closed.url)('POST', `/${rpc}`, '{broken');
      expect(connect).toMatchObject({ status: 401, body: { code: 'unauthenticated' } });
    });
});

describe('authentication', () => {
  it('comes before the body is looked at', async () => {
    const call = restClient(closed.url);
    const bodies = ['{broken', '', 'x'.repeat(100_000), '\ufeff[]'];
    for (const body of bodies) {
      expect(await call('POST', '/api/v1/evaluation', body)).toMatchObject(REST_ANSWERS.missing);
      expect(await call('PUT', '/api/v1/controls', body, { 'x-api-key': REGULAR })).toMatchObject(
        REST_ANSWERS.forbidden,
      );
    }
    const compressed = { 'content-encoding': 'gzip' };
    expect(await call('POST', '/api/v1/evaluation', 'x', compressed)).toMatchObject(REST_ANSWERS.missing);
  });
  it('answers before a body has arrived', async () => {
    const request = http.request({
      host: closed.host,
      port: closed.port,
      method: 'POST',
      path: '/api/v1/evaluation',
      headers: { 'content-type': 'application/json', 'content-length': 1_000_000 },
    });
    request.on('error', () => {});
    request.write('{');
    const response = await new Promise<http.IncomingMessage>((resolve) => request.once('response', resolve));
    expect(response.statusCode).toBe(401);
    request.destroy();
  });
  it('takes the first of repeated headers over HTTP/1.1', async () => {
    const status = (keys: string[]) =>
      new Promise((resolve, reject) => {
        const headers = ['Host', closed.host, ...keys.flatMap((key) => ['X-API-Key', key])];
        http
          .get({ host: closed.host, port: closed.port, path: '/api/v1/agents', headers }, (response) => {
            response.resume();
            resolve(response.statusCode);
          })
          .once('error', reject);
      });
    expect(await status([REGULAR, 'unknown'])).toBe(200);
    expect(await status(['unknown', REGULAR])).toBe(401);
    expect(await status(['', REGULAR])).toBe(401);
  });
  it('takes the first of repeated headers over HTTP/2', async () => {
    const session = http2.connect(closed.url);
    const status = (keys: string[]) =>
      new Promise((resolve, reject) => {
        const stream = session.request({ ':path': '/api/v1/agents', 'x-api-key': keys });
        stream.once('response', (headers) => resolve(headers[':status']));
        stream.once('error', reject);
        stream.resume();
      });
    expect(await status([REGULAR, 'unknown'])).toBe(200);
    expect(await status(['unknown', REGULAR])).toBe(401);
    session.close();
  });
  it('reads keys from nowhere else', async () => {
    const call = restClient(closed.url);
    const elsewhere = {
      authorization: `Basic ${ADMIN}`,
      cookie: `x-api-key=${ADMIN}`,
      'x-service-api-key': ADMIN,
    };
    expect(await call('GET', `/api/v1/agents?x-api-key=${ADMIN}`, undefined, elsewhere)).toMatchObject(
      REST_ANSWERS.missing,
    );
  });
  it('drops the blanks that HTTP allows around a value', async () => {
    const call = restClient(closed.url);
    expect((await call('GET', '/api/v1/agents', undefined, { 'x-api-key': `  ${REGULAR}\t` })).status).toBe(
      200,
    );
  });
  it('gives no key away in an error', async () => {
    const call = restClient(closed.url);
    const reply = await call('GET', '/api/v1/agents', undefined, { 'x-api-key': 'planted-wrong-key' });
    expect(JSON.stringify(reply.body)).not.toMatch(/planted-wrong-key|regular-key|admin-key/);
  });
  it('is not needed for health, readiness and metrics', async () => {
    for (const path of ['/health', '/ready', '/metrics']) {
      expect((await fetch(closed.url + path)).status).toBe(200);
      expect((await fetch(closed.url + path, { headers: { 'x-api-key': 'unknown' } })).status).toBe(200);
    }
  });
  it('is not needed for gRPC health', async () => {
    const client = grpcJsClient(closed, 'grpc/health/v1/health.proto', 'grpc.health.v1.Health');
    const reply = await new Promise((resolve, reject) => {
      client.Check?.({ service: '' }, (error: Error | null, value: unknown) =>
        error ? reject(error) : resolve(value),
      );
    });
    expect(reply).toEqual({ status: 'SERVING' });
    client.close();
  });
  it.each(['v1', 'v1alpha'])('is not needed for gRPC reflection %s', async (version) => {
    const client = grpcJsClient(
      closed,
      `grpc/reflection/${version}/reflection.proto`,
      `grpc.reflection.${version}.ServerReflection`,
    );
    const stream = client.ServerReflectionInfo?.() as NodeJS.ReadWriteStream;
    const reply = new Promise((resolve, reject) => stream.once('data', resolve).once('error', reject));
    stream.write({ list_services: '' } as never);
    expect(await reply).toMatchObject({ message_response: 'list_services_response' });
    stream.end();
    client.close();
  });
  it('hides nothing from callers without a key but what needs one', async () => {
    const call = restClient(closed.url);
    expect((await call('GET', '/api/v1/nothing')).status).toBe(404);
    expect((await call('GET', '/api/v1/agents/')).status).toBe(307);
    expect((await call('PATCH', '/api/v1/evaluation')).status).toBe(405);
  });
});
