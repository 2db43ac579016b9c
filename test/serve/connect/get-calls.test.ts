import { create, toBinary, toJsonString } from '@bufbuild/protobuf';
import { base64Encode } from '@bufbuild/protobuf/wire';
import { MethodOptions_IdempotencyLevel } from '@bufbuild/protobuf/wkt';
import { Code, ConnectError, createClient, type Interceptor } from '@connectrpc/connect';
import { createConnectTransport as createNodeTransport } from '@connectrpc/connect-node';
import { createConnectTransport as createWebTransport } from '@connectrpc/connect-web';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { AgentService } from '../../../gen/proto/enforcement/v1/agent_service_pb.js';
import {
  ControlService,
  ListControlsRequestSchema,
} from '../../../gen/proto/enforcement/v1/control_service_pb.js';
import { EvaluationService } from '../../../gen/proto/enforcement/v1/evaluation_service_pb.js';
import { ErrorInfoSchema } from '../../../gen/proto/google/rpc/error_details_pb.js';
import { exchange, restClient } from '../../support/http.js';
import { SERVICES } from '../../support/protocol-clients.js';
import { denyWord, seeder } from '../../support/seed.js';
import { startService, type TestService } from '../../support/service.js';

const KEY = 'regular-key';
const ADMIN = 'admin-key';
const LIST = '/enforcement.v1.ControlService/ListControls';

let service: TestService;
beforeAll(async () => {
  service = await startService({
    SERVICE_API_KEY_ENABLED: 'true',
    SERVICE_API_KEYS: KEY,
    SERVICE_ADMIN_API_KEYS: ADMIN,
  });
  await seeder(restClient(service.url, { 'x-api-key': ADMIN })).control('no-bad-words', denyWord('bad'));
});
afterAll(() => service.stop());

const CLIENTS = {
  'connect-web': (interceptors: Interceptor[], useBinaryFormat: boolean) =>
    createWebTransport({ baseUrl: service.url, useHttpGet: true, interceptors, useBinaryFormat }),
  'connect-node over HTTP/1.1': (interceptors: Interceptor[], useBinaryFormat: boolean) =>
    createNodeTransport({
      baseUrl: service.url,
      httpVersion: '1.1',
      useHttpGet: true,
      interceptors,
      useBinaryFormat,
    }),
  'connect-node over HTTP/2': (interceptors: Interceptor[], useBinaryFormat: boolean) =>
    createNodeTransport({
      baseUrl: service.url,
      httpVersion: '2',
      useHttpGet: true,
      interceptors,
      useBinaryFormat,
    }),
};

/** Sends a key, and notes the cache directive of each reply: only those to GET have one. */
function watching(key: string | undefined) {
  const seen: string[] = [];
  const interceptor: Interceptor = (next) => async (request) => {
    if (key !== undefined) request.header.set('x-api-key', key);
    const reply = await next(request);
    seen.push(reply.header.get('cache-control') ?? 'none');
    return reply;
  };
  return { seen, interceptor };
}

const failureOf = (call: Promise<unknown>): Promise<ConnectError> =>
  call.then(
    () => expect.fail('the call succeeded'),
    (error: unknown) => ConnectError.from(error),
  );

const get = (query: string, key = KEY, path = LIST) =>
  exchange(service.url, { path: `${path}?${query}`, headers: { 'x-api-key': key } });

describe.each(Object.entries(CLIENTS))(
  'an RPC without side effects, called with GET by %s',
  (_, transport) => {
    it.each([
      ['binary', true],
      ['JSON', false],
    ] as const)('replies as to POST, with %s messages', async (_name, binary) => {
      const { seen, interceptor } = watching(KEY);
      const controls = createClient(ControlService, transport([interceptor], binary));
      const { controls: listed } = await controls.listControls({ name: 'bad' });
      expect(listed.map(({ name }) => name)).toEqual(['no-bad-words']);
      expect(seen).toEqual(['private, no-store']);
    });

    it('checks the key', async () => {
      for (const [key, reason] of [
        [undefined, 'AUTH_MISSING_KEY'],
        ['wrong', 'AUTH_INVALID_KEY'],
      ] as const) {
        const client = createClient(ControlService, transport([watching(key).interceptor], true));
        const error = await failureOf(client.listControls({}));
        expect(error.code).toBe(Code.Unauthenticated);
        expect(error.findDetails(ErrorInfoSchema)[0]?.reason).toBe(reason);
      }
    });

    it('reports errors of the handler', async () => {
      const client = createClient(AgentService, transport([watching(KEY).interceptor], true));
      const error = await failureOf(client.getAgent({ agentName: 'nobody-at-all' }));
      expect(error.code).toBe(Code.NotFound);
      expect(error.findDetails(ErrorInfoSchema)[0]?.reason).toBe('AGENT_NOT_FOUND');
    });

    it('sends RPCs with side effects with POST', async () => {
      const { seen, interceptor } = watching(KEY);
      const client = createClient(AgentService, transport([interceptor], true));
      await client.initAgent({ agent: { agentName: 'get-agent-1' }, steps: [] });
      expect(seen).toEqual(['none']);
    });
  },
);

describe('a GET call', () => {
  it('takes its message as JSON, as base64 and as bytes', async () => {
    const message = create(ListControlsRequestSchema, { name: 'bad' });
    const json = encodeURIComponent(toJsonString(ListControlsRequestSchema, message));
    const binary = base64Encode(toBinary(ListControlsRequestSchema, message), 'url');
    const jsonReply = await get(`connect=v1&encoding=json&message=${json}`);
    expect(jsonReply.json.controls).toMatchObject([{ name: 'no-bad-words' }]);
    expect(jsonReply.headers['cache-control']).toBe('private, no-store');
    const binaryReply = await get(`encoding=proto&base64=1&message=${binary}`);
    expect(binaryReply.status).toBe(200);
    expect(binaryReply.text).toContain('no-bad-words');
  });

  it.each([
    ['connect=v2&encoding=json&message=', 'connect'],
    ['message=%7B%7D', 'encoding'],
    ['encoding=xml&message=', 'encoding'],
    ['encoding=json', 'message'],
    ['encoding=proto&base64=yes&message=', 'base64'],
    ['encoding=proto&base64=1&message=!!!', 'message'],
  ])('with the query %s is refused, naming the parameter %s', async (query, parameter) => {
    const reply = await get(query);
    expect(reply).toMatchObject({ status: 400, json: { code: 'invalid_argument' } });
    expect(reply.json.message).toContain(`The query parameter ${parameter} `);
    expect(reply.headers['cache-control']).toBe('private, no-store');
  });

  it.each([
    ['encoding=json&message=%7Bbroken', 'invalid_argument', 400],
    ['encoding=proto&base64=1&message=_____w', 'invalid_argument', 400],
    ['encoding=json&compression=gzip&message=%7B%7D', 'unimplemented', 501],
    ['encoding=json&message=%7B%22limit%22%3A%22x%22%7D', 'invalid_argument', 400],
  ])('with the query %s ends with %s', async (query, code, status) => {
    expect(await get(query)).toMatchObject({ status, json: { code } });
  });

  it('checks the key before it reads the query', async () => {
    const broken = await exchange(service.url, { path: `${LIST}?encoding=json&message=%7Bbroken` });
    expect(broken).toMatchObject({ status: 401, json: { code: 'unauthenticated' } });
    const keyless = await exchange(service.url, { path: `${LIST}?encoding=json&message=%7B%7D` });
    expect(keyless).toMatchObject({ status: 401, json: { code: 'unauthenticated' } });
    expect(keyless.text).not.toContain('no-bad-words');
  });

  it('is warned about unknown members of its message', async () => {
    const reply = await get(`encoding=json&message=${encodeURIComponent('{"nmae":"bad"}')}`);
    expect(reply.status).toBe(200);
    expect(reply.headers['trailer-x-service-warning']).toContain('nmae');
  });

  it('of an RPC with side effects or of a stream is answered with 405', async () => {
    for (const method of SERVICES.flatMap(({ methods }) => methods)) {
      if (
        method.methodKind === 'unary' &&
        method.idempotency === MethodOptions_IdempotencyLevel.NO_SIDE_EFFECTS
      ) {
        continue;
      }
      const path = `/${method.parent.typeName}/${method.name}`;
      const reply = await get('encoding=json&message=%7B%7D', ADMIN, path);
      expect({ path, status: reply.status }).toEqual({
        path,
        status: method.methodKind === 'bidi_streaming' ? 505 : 405,
      });
    }
  });

  it('longer than the limit for headers is refused', async () => {
    const reply = await get(`encoding=json&message=${'x'.repeat(64 * 1024)}`);
    expect(reply.status).toBe(431);
  });

  it('does not write its message to the log', async () => {
    await get(`encoding=json&message=${encodeURIComponent('{"name":"secret-word"}')}`);
    expect(service.logLines.join('')).not.toContain('secret-word');
  });
});

describe('the idempotency of RPCs', () => {
  const idempotencyOf = (name: string) =>
    SERVICES.flatMap(({ methods }) => methods).find((method) => method.name === name)?.idempotency;

  it('is declared for evaluations of no kind: they record events, and steps do not belong into a URL', () => {
    for (const { idempotency } of EvaluationService.methods)
      expect(idempotency).toBe(MethodOptions_IdempotencyLevel.IDEMPOTENCY_UNKNOWN);
  });

  it('is declared for everything that is read with GET over REST', () => {
    for (const name of ['ListAgents', 'GetControl', 'GetStats', 'ListEvaluators'])
      expect(idempotencyOf(name)).toBe(MethodOptions_IdempotencyLevel.NO_SIDE_EFFECTS);
  });
});
