import http2 from 'node:http2';
import net from 'node:net';
import { gzipSync } from 'node:zlib';
import { Code } from '@connectrpc/connect';
import { Metadata } from '@grpc/grpc-js';
import { beforeAll, describe, expect, it } from 'vitest';
import { VERSION } from '../../../src/contract/runtime/package-root.js';
import { rawGrpcCall } from '../../support/grpc-js-client.js';
import { exchange, type HttpExchange, restClient } from '../../support/http.js';
import { suiteService, testService } from '../../support/service-suite.js';

const RPC = '/enforcement.v1.EvaluationService/Evaluate';
const JSON_TYPE = { 'content-type': 'application/json' };
const AGENT = 'protocol-agent-1';
const STEP = { agent_name: AGENT, stage: 'pre', step: { type: 'llm', name: 'n', input: 'ü' } };
const MAX_BYTES = 65_536;

const service = suiteService({ SERVICE_MAX_BODY_BYTES: String(MAX_BYTES) });
const { call } = service;
beforeAll(async () => {
  const agent = await call('POST', '/api/v1/agents/initAgent', { agent: { agent_name: AGENT } });
  expect(agent.status).toBe(200);
});

const send = (request: HttpExchange) => exchange(service.url, request);
const evaluate = (body: Buffer | string, headers: Record<string, string> = JSON_TYPE) =>
  send({ method: 'POST', path: '/api/v1/evaluation', headers, body });

/** One request for each kind of answer. */
const ANSWERS: Record<string, HttpExchange & { readonly status: number }> = {
  success: { path: '/api/v1/agents', status: 200 },
  'validation error': { path: '/api/v1/agents/short', status: 422 },
  'missing resource': { path: '/api/v1/controls/1', status: 404 },
  'unknown path': { path: '/nothing', status: 404 },
  'wrong method': { method: 'DELETE', path: '/health', status: 405 },
  redirect: { path: '/health/', status: 307 },
  'path that cannot be decoded': { path: '/api/v1/agents/%zz', status: 404 },
  'body that cannot be decoded': {
    method: 'POST',
    path: '/api/v1/evaluation',
    headers: JSON_TYPE,
    body: Buffer.from([0x22, 0xff, 0xfe, 0x22]),
    status: 400,
  },
  'body that is too large': {
    method: 'POST',
    path: '/api/v1/evaluation',
    headers: JSON_TYPE,
    body: ' '.repeat(MAX_BYTES + 1),
    status: 413,
  },
  health: { path: '/health', status: 200 },
  readiness: { path: '/ready', status: 200 },
  metrics: { path: '/metrics', status: 200 },
  preflight: {
    method: 'OPTIONS',
    path: '/api/v1/agents',
    headers: { origin: 'https://a.example', 'access-control-request-method': 'GET' },
    status: 200,
  },
  'Connect error': { method: 'POST', path: RPC, headers: JSON_TYPE, body: '{}', status: 400 },
  'Connect content type': {
    method: 'POST',
    path: RPC,
    headers: { 'content-type': 'text/plain' },
    status: 415,
  },
  'gRPC-Web error': {
    method: 'POST',
    path: RPC,
    headers: { 'content-type': 'application/grpc-web' },
    status: 200,
  },
  'unknown RPC': {
    method: 'POST',
    path: '/enforcement.v1.NoService/Nothing',
    headers: { 'content-type': 'application/grpc' },
    status: 200,
  },
};

describe.each(Object.entries(ANSWERS))('the answer to a request: %s', (_name, request) => {
  it('contains the version of the server', async () => {
    const answer = await send(request);
    expect(answer.status).toBe(request.status);
    expect(answer.headers['x-service-server-version']).toBe(VERSION);
  });
  it.each(['abc', 'A-1.b_c:d', 'x'.repeat(128)])('carries the request id of the caller: %s', async (id) => {
    const answer = await send({ ...request, headers: { ...request.headers, 'x-request-id': id } });
    expect(answer.headers['x-request-id']).toBe(id);
    expect(service.logLines.filter((line) => JSON.parse(line).reqId === id)).not.toEqual([]);
  });
  it.each(['', 'a b', 'x'.repeat(129), 'a\tb', 'é', '{"level":60}', 'a,b'])(
    'carries an id of its own when that of the caller is none: %j',
    async (id) => {
      const answer = await send({ ...request, headers: { ...request.headers, 'x-request-id': id } });
      expect(answer.headers['x-request-id']).toMatch(/^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/);
    },
  );
});

describe('a path with a slash too much', () => {
  it('leads to the path without, query kept', async () => {
    const { host, port } = service;
    for (const [path, other] of [
      ['/health/', '/health'],
      ['/api/v1/agents/?limit=5&name=a%20b', '/api/v1/agents?limit=5&name=a%20b'],
      [`/api/v1/agents/${AGENT}/controls/`, `/api/v1/agents/${AGENT}/controls`],
    ] as const) {
      const answer = await send({ path });
      expect(answer).toMatchObject({
        status: 307,
        text: '',
        headers: { location: `http://${host}:${port}${other}` },
      });
      expect((await fetch(answer.headers.location ?? '')).status).toBe(200);
    }
  });
  it('leads there for other methods too, whatever the body is', async () => {
    const answer = await send({
      method: 'POST',
      path: '/api/v1/evaluation/',
      headers: JSON_TYPE,
      body: '{broken',
    });
    expect(answer).toMatchObject({ status: 307, text: '' });
  });
  it('leads nowhere when there is nothing without it', async () => {
    for (const path of ['/nothing/', '/api/v1/agents//', '//', '/api/v1/agents//controls']) {
      expect((await send({ path })).status).toBe(404);
    }
  });
});

describe('what is not served', () => {
  it.each([
    ['PATCH', '/api/v1/agents', 'GET'],
    ['POST', '/health', 'GET'],
    ['HEAD', '/health', 'GET'],
    ['HEAD', '/ready', 'GET'],
    ['HEAD', '/api/v1/agents', 'GET'],
    ['OPTIONS', '/api/v1/agents/initAgent', 'POST'],
    ['GET', '/api/v1/evaluation', 'POST'],
    ['PUT', '/metrics', 'GET, HEAD'],
  ])('%s %s is answered 405 and lists what is allowed', async (method, path, allow) => {
    const answer = await send({ method, path });
    expect(answer).toMatchObject({ status: 405, headers: { allow } });
    if (method !== 'HEAD')
      expect(answer.json).toMatchObject({
        error_code: 'METHOD_NOT_ALLOWED',
        status: 405,
        reason: 'MethodNotAllowed',
      });
  });
  it('is answered the same with any body or content type', async () => {
    const bodies: [Record<string, string>, string][] = [
      [JSON_TYPE, ''],
      [JSON_TYPE, '{broken'],
      [{ 'content-type': 'no type at all' }, 'x'],
      [{ ...JSON_TYPE, 'content-encoding': 'gzip' }, 'x'],
      [JSON_TYPE, 'x'.repeat(MAX_BYTES + 1)],
    ];
    for (const [headers, body] of bodies) {
      expect((await send({ method: 'POST', path: '/nothing', headers, body })).status).toBe(404);
      expect((await send({ method: 'PATCH', path: '/api/v1/evaluation', headers, body })).status).toBe(405);
    }
  });
  it('has a problem body that names the path, decoded', async () => {
    const answer = await send({ path: '/no%20thing?secret=1' });
    expect(answer.json).toMatchObject({
      type: 'urn:control-enforcement:error:resource-not-found',
      title: 'Resource Not Found',
      status: 404,
      instance: '/no thing',
      error_code: 'RESOURCE_NOT_FOUND',
      kind: 'Status',
      api_version: 'v1',
      reason: 'NotFound',
    });
    expect(answer.headers['content-type']).toMatch(/^application\/json\b/);
  });
  it('is case-sensitive', async () => {
    expect((await send({ path: '/Health' })).status).toBe(404);
    expect((await send({ path: '/api/V1/agents' })).status).toBe(404);
  });
  it('takes HEAD for the metrics', async () => {
    expect(await send({ method: 'HEAD', path: '/metrics' })).toMatchObject({ status: 200, text: '' });
  });
  it.each(['enforcement.v1.EvaluationService/Nothing', 'enforcement.v1.NoService/Evaluate', 'x.y/Z'])(
    'is UNIMPLEMENTED for the RPC %s',
    async (rpc) => {
      expect((await rawGrpcCall(service, rpc, Buffer.alloc(0), new Metadata())).code).toBe(
        Code.Unimplemented,
      );
      const web = await send({
        method: 'POST',
        path: `/${rpc}`,
        headers: { 'content-type': 'application/grpc-web' },
      });
      expect(web).toMatchObject({ status: 200, headers: { 'grpc-status': '12' } });
      expect((await send({ method: 'POST', path: `/${rpc}`, headers: JSON_TYPE, body: '{}' })).status).toBe(
        404,
      );
    },
  );
  it('refuses another method on the path of an RPC', async () => {
    expect((await send({ path: RPC })).status).toBe(405);
    expect((await send({ method: 'PUT', path: RPC, headers: JSON_TYPE, body: '{}' })).status).toBe(405);
  });
});

describe('a configured prefix', () => {
  it('moves the JSON routes and nothing else', async () => {
    const moved = await testService({ SERVICE_API_PREFIX: '/control', SERVICE_API_VERSION: 'v9' });
    const status = async (path: string) => (await exchange(moved.url, { path })).status;
    expect(await status('/control/v9/agents')).toBe(200);
    expect(await status('/control/v9/agents/')).toBe(307);
    expect(await status('/api/v1/agents')).toBe(404);
    expect(await status('/health')).toBe(200);
    expect((await rawGrpcCall(moved, RPC.slice(1), Buffer.alloc(0), new Metadata())).code).toBe(
      Code.InvalidArgument,
    );
  });
});

describe('the content type of a body', () => {
  const text = JSON.stringify(STEP);
  it.each([
    'application/json',
    'application/json; charset=utf-8',
    'application/json;charset=latin1;x=y',
    'APPLICATION/JSON',
    'application/vnd.acme.step+json',
    'application/problem+json; a=b',
  ])('is JSON: %s', async (type) => {
    expect((await evaluate(text, { 'content-type': type })).status).toBe(200);
  });
  it.each([
    'text/plain',
    'text/json',
    'application/x-www-form-urlencoded',
    'multipart/form-data; boundary=x',
    'application/jsonp',
    'application/xml',
    'json',
    '*/*',
    'application/json+xml',
  ])('is something else: %s', async (type) => {
    const answer = await evaluate(text, { 'content-type': type });
    expect(answer).toMatchObject({ status: 422, json: { errors: [{ code: 'model_attributes_type' }] } });
    expect(answer.json.errors[0]).not.toHaveProperty('field');
  });
  it('is something else when there is none', async () => {
    expect(await evaluate(text, {})).toMatchObject({
      status: 422,
      json: { errors: [{ code: 'model_attributes_type' }] },
    });
  });
});

describe('a body', () => {
  const text = JSON.stringify(STEP);
  const utf16 = Buffer.from(text, 'utf16le');
  it.each<[string, Buffer]>([
    ['UTF-8', Buffer.from(text)],
    ['UTF-8 with a byte order mark', Buffer.from(`\ufeff${text}`)],
    ['UTF-16 little endian', utf16],
    ['UTF-16 little endian with a byte order mark', Buffer.from(`\ufeff${text}`, 'utf16le')],
    ['UTF-16 big endian', Buffer.from(utf16).swap16()],
    ['UTF-16 big endian with a byte order mark', Buffer.from(`\ufeff${text}`, 'utf16le').swap16()],
    [
      'UTF-32 little endian',
      Buffer.from(Uint32Array.from([...text].map((c) => c.codePointAt(0) ?? 0)).buffer),
    ],
    ['JSON among blanks', Buffer.from(` \r\n\t${text}\n `)],
  ])('is read as %s', async (_name, bytes) => {
    expect(await evaluate(bytes)).toMatchObject({ status: 200, json: { is_safe: true } });
  });
  it('that is compressed is not unpacked', async () => {
    for (const encoding of ['gzip', 'br', 'deflate', 'GZIP', 'unknown']) {
      const answer = await evaluate(gzipSync(text), { ...JSON_TYPE, 'content-encoding': encoding });
      expect(answer.status).toBe(400);
      expect(Object.keys(answer.json)).toEqual(['detail']);
    }
    expect((await evaluate(text, { ...JSON_TYPE, 'content-encoding': 'identity' })).status).toBe(200);
  });
  it('that cannot be decoded is refused without a problem document', async () => {
    const answer = await evaluate(Buffer.from([0x7b, 0x22, 0xc3, 0x28, 0x22, 0x7d]));
    expect(answer.status).toBe(400);
    expect(Object.keys(answer.json)).toEqual(['detail']);
  });
  it.each([
    ['nothing', '', 'missing'],
    ['null', 'null', 'missing'],
    ['blanks', '  ', 'json_invalid'],
    ['half an object', '{"a":', 'json_invalid'],
    ['two objects', '{}{}', 'json_invalid'],
    ['a list', '[]', 'model_attributes_type'],
    ['a number', '5', 'model_attributes_type'],
  ])('that is %s is refused', async (_name, body, code) => {
    expect(await evaluate(body)).toMatchObject({
      status: 422,
      json: { errors: [{ resource: 'Request', code }] },
    });
  });
  it('may be as large as configured and not larger', async () => {
    const padded = (size: number) => text + ' '.repeat(size - Buffer.byteLength(text));
    expect((await evaluate(padded(MAX_BYTES))).status).toBe(200);
    const refused = await evaluate(padded(MAX_BYTES + 1));
    expect(refused).toMatchObject({ status: 413, json: { error_code: 'PAYLOAD_TOO_LARGE' } });
  });
  it('may be as large as configured over every RPC protocol', async () => {
    const large = Buffer.alloc(MAX_BYTES + 1);
    expect((await rawGrpcCall(service, RPC.slice(1), large, new Metadata())).code).toBe(
      Code.ResourceExhausted,
    );
    const connect = await send({ method: 'POST', path: RPC, headers: JSON_TYPE, body: large });
    expect(connect).toMatchObject({ status: 429, json: { code: 'resource_exhausted' } });
  });
  it('is never looked at where none belongs', async () => {
    const bodies: [Record<string, string>, Buffer | string][] = [
      [JSON_TYPE, '{broken'],
      [JSON_TYPE, ''],
      [{}, 'x'],
      [{ 'content-type': 'no type at all' }, 'x'],
      [{ ...JSON_TYPE, 'content-encoding': 'gzip' }, 'x'],
      [JSON_TYPE, Buffer.from([0xff, 0xfe, 0xff])],
    ];
    for (const [headers, body] of bodies) {
      expect((await send({ path: '/api/v1/agents', headers, body })).status).toBe(200);
      expect((await send({ path: '/health', headers, body })).status).toBe(200);
      const link = { path: `/api/v1/agents/${AGENT}/controls/1`, headers, body };
      expect(await send({ ...link, method: 'POST' })).toMatchObject({
        json: { error_code: 'CONTROL_NOT_FOUND' },
      });
      expect(await send({ ...link, method: 'DELETE' })).toMatchObject({
        json: { error_code: 'CONTROL_NOT_FOUND' },
      });
    }
  });
});

describe('HTTP versions', () => {
  it('answer the same over HTTP/2', async () => {
    const session = http2.connect(service.url);
    const stream = session.request({ ':method': 'POST', ':path': '/api/v1/evaluation', ...JSON_TYPE });
    const headers = new Promise<http2.IncomingHttpHeaders>((resolve) => stream.once('response', resolve));
    stream.end(JSON.stringify(STEP));
    let text = '';
    for await (const chunk of stream) text += chunk;
    expect(await headers).toMatchObject({
      'x-service-server-version': VERSION,
      'content-type': expect.stringMatching(/^application\/json\b/),
    });
    const { json } = await evaluate(JSON.stringify(STEP));
    expect(JSON.parse(text)).toEqual(json);
    session.close();
  });
  it('redirect HTTP/2 clients to the address they used', async () => {
    const session = http2.connect(service.url);
    const stream = session.request({ ':path': '/health/' });
    const headers = await new Promise<http2.IncomingHttpHeaders>((resolve) =>
      stream.once('response', resolve),
    );
    expect(headers).toMatchObject({ ':status': 307, location: `${service.url}/health` });
    session.close();
  });
  it('include 1.0', async () => {
    const socket = net.connect(service.port, service.host);
    socket.end('GET /health HTTP/1.0\r\n\r\n');
    let text = '';
    for await (const chunk of socket) text += chunk;
    expect(text).toMatch(/^HTTP\/1\.1 200 .*"status":"healthy"/s);
  });
});

describe('health and readiness', () => {
  it('report version, database and revision', async () => {
    const facts = {
      version: VERSION,
      database: 'up',
      storage: 'OK',
      instance_id: expect.stringMatching(/^[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}$/),
      revision: expect.any(Number),
      controls_from: 'database',
    };
    expect((await send({ path: '/health' })).json).toEqual({ status: 'healthy', ...facts });
    expect((await send({ path: '/ready' })).json).toEqual({ status: 'ready', ...facts });
  });
  it('report the revision that a change reported', async () => {
    const changed = await restClient(service.url)('POST', '/api/v1/agents/initAgent', {
      agent: { agent_name: 'another-agent' },
    });
    const revision = Number(changed.headers.get('x-service-revision'));
    expect(revision).toBeGreaterThan(0);
    expect((await send({ path: '/health' })).json.revision).toBe(revision);
  });
});
