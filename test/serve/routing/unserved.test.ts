import http2 from 'node:http2';
import { Code, ConnectError, createClient, type Transport } from '@connectrpc/connect';
import { describe, expect, it } from 'vitest';
import { EvaluationService } from '../../../gen/proto/enforcement/v1/evaluation_service_pb.js';
import { exchange } from '../../support/http.js';
import { RPC_PROTOCOLS, rpcTransport } from '../../support/rpc-transports.js';
import { suiteService, testService } from '../../support/service-suite.js';

const SERVICE = 'enforcement.v1.EvaluationService';
const ROUTES = 'JSON routes begin with /api/v1; see /docs.';

const service = suiteService({ SERVICE_OPERATIONS_PORT: '0', SERVICE_OPERATIONS_HOST: '127.0.0.1' });

/** One HTTP/2 request without a body. */
function overHttp2(
  path: string,
  method: string,
): Promise<{ readonly status: number; readonly text: string }> {
  const session = http2.connect(service.url);
  return new Promise((resolve, reject) => {
    const stream = session.request({ ':method': method, ':path': path });
    let status = 0;
    let text = '';
    session.once('error', reject);
    stream.once('error', reject);
    stream.once('response', (headers) => {
      status = Number(headers[':status']);
    });
    stream.on('data', (chunk: Buffer) => {
      text += chunk.toString();
    });
    stream.once('end', () => resolve({ status, text }));
    stream.end();
  }).finally(() => session.close()) as Promise<{ readonly status: number; readonly text: string }>;
}

describe('a path that is not served', () => {
  it.each([
    ['POST', '/v1/evaluation', ' Did you mean /api/v1/evaluation?'],
    ['POST', '/evaluation', ' Did you mean /api/v1/evaluation?'],
    ['POST', '/api/evaluation', ' Did you mean /api/v1/evaluation?'],
    ['GET', '/controls/7?full=1', ' Did you mean /api/v1/controls/7?'],
    ['POST', '/login', ' Did you mean /api/login?'],
    ['GET', '/nothing', ''],
    ['GET', '/api/v1/nothing', ''],
    ['GET', '/api/v1/agents/%zz', ''],
  ])('states for %s %s where the routes are', async (method, path, question) => {
    const reply = await exchange(service.url, { method, path });
    expect(reply.status).toBe(404);
    expect(reply.json).toMatchObject({
      error_code: 'RESOURCE_NOT_FOUND',
      detail: `The path was not found: ${ROUTES}${question}`,
    });
    expect(reply.json).not.toHaveProperty('hint');
  });

  it('states the same over HTTP/2', async () => {
    const { status, text } = await overHttp2('/v1/evaluation', 'POST');
    expect(status).toBe(404);
    expect(JSON.parse(text).detail).toBe(
      `The path was not found: ${ROUTES} Did you mean /api/v1/evaluation?`,
    );
  });

  it('names documentation that is served', async () => {
    expect((await exchange(service.url, { path: '/docs' })).status).toBe(200);
  });

  it('is explained with the configured prefix', async () => {
    const other = await testService({ SERVICE_API_PREFIX: '/guard', SERVICE_API_VERSION: 'v2' });
    const reply = await exchange(other.url, { method: 'POST', path: '/v2/evaluation' });
    expect(reply.json.detail).toBe(
      'The path was not found: JSON routes begin with /guard/v2; see /docs. Did you mean /guard/v2/evaluation?',
    );
  });

  it('is explained on the operations port with what that serves', async () => {
    const reply = await exchange(service.operationsUrl ?? '', { path: '/api/v1/agents' });
    expect(reply.status).toBe(404);
    expect(reply.json.detail).toBe('The path was not found: this port serves /health, /ready and /metrics.');
  });

  it('is answered 405 with every method that the path has, when only the method is wrong', async () => {
    const reply = await exchange(service.url, { method: 'DELETE', path: '/api/v1/controls' });
    expect(reply.status).toBe(405);
    expect(reply.headers.allow).toBe('PUT');
    expect(reply.json).toMatchObject({
      error_code: 'METHOD_NOT_ALLOWED',
      detail: 'DELETE is not allowed here.',
      hint: 'Use PUT or GET.',
    });
  });
});

/** The error of a call whose method has another name or another address. */
async function failureOf(
  transport: Transport,
  rename: { service?: string; method?: string },
): Promise<unknown> {
  const { evaluate } = EvaluationService.method;
  const parent = { ...EvaluationService, typeName: rename.service ?? EvaluationService.typeName };
  const renamed = { ...evaluate, name: rename.method ?? evaluate.name, parent };
  const call = transport.unary(renamed as typeof evaluate, undefined, undefined, undefined, {});
  return call.then(
    () => expect.fail('the call succeeded'),
    (error: unknown) => error,
  );
}

describe.each(RPC_PROTOCOLS)('an RPC that is not served, over %s', (protocol) => {
  const transport = (base = '') => rpcTransport(protocol, service.url + base);

  it.each([
    [{ method: 'Evalute' }, '', `No RPC ${SERVICE}/Evalute; did you mean Evaluate?`],
    [
      { method: 'Evalute' },
      '/api/v1',
      `No RPC ${SERVICE}/Evalute; did you mean Evaluate? baseUrl must have no path`,
    ],
    [{}, '/api/v1', `No RPC ${SERVICE}/Evaluate below /api/v1; baseUrl must have no path`],
    [{ method: 'Nothing' }, '', `No RPC ${SERVICE}/Nothing`],
    [{ method: 'Nothing' }, '/x', `No RPC ${SERVICE}/Nothing; baseUrl must have no path`],
    [
      { service: 'enforcement.v1.EvaluatonService' },
      '',
      'No RPC enforcement.v1.EvaluatonService/Evaluate; did you mean enforcement.v1.EvaluationService/Evaluate?',
    ],
    [{ service: 'other.v1.Thing', method: 'Do' }, '', 'No RPC other.v1.Thing/Do'],
  ])('%j at base path "%s" is UNIMPLEMENTED with the probable mistake', async (rename, base, message) => {
    const error = ConnectError.from(await failureOf(transport(base), rename));
    expect([error.code, error.rawMessage]).toEqual([Code.Unimplemented, message]);
  });
});

describe('an RPC stream that is not served', () => {
  it.each(['gRPC', 'Connect over HTTP/2'] as const)('is explained over %s', async (protocol) => {
    const rpc = createClient(EvaluationService, rpcTransport(protocol, `${service.url}/base`));
    const error = await (async () => {
      for await (const _reply of rpc.evaluateStream((async function* () {})())) expect.fail('a reply came');
      return undefined;
    })().catch((thrown: unknown) => ConnectError.from(thrown));
    expect([error?.code, error?.rawMessage]).toEqual([
      Code.Unimplemented,
      `No RPC ${SERVICE}/EvaluateStream below /base; baseUrl must have no path`,
    ]);
  });
});

it('a path of thousands of characters is shortened in the message', async () => {
  const path = `/${SERVICE}/${'p'.repeat(8_000)}`;
  const headers = { 'content-type': 'application/grpc' };
  const reply = await exchange(service.url, { method: 'POST', path, headers });
  expect(reply.headers['grpc-status']).toBe('12');
  expect(String(reply.headers['grpc-message']).length).toBeLessThan(600);
});
