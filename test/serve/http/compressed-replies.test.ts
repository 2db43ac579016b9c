import { once } from 'node:events';
import { type IncomingHttpHeaders, type OutgoingHttpHeaders, request } from 'node:http';
import { connect } from 'node:http2';
import { gunzipSync } from 'node:zlib';
import { create, equals, fromJson, toBinary } from '@bufbuild/protobuf';
import { Code, type ConnectError, createClient } from '@connectrpc/connect';
import { compressionGzip } from '@connectrpc/connect-node';
import { beforeAll, describe, expect, it } from 'vitest';
import {
  AgentService,
  ListAgentControlsRequestSchema,
  ListAgentControlsResponseSchema,
  type WatchControlsResponse,
  WatchControlsResponseSchema,
} from '../../../gen/proto/enforcement/v1/agent_service_pb.js';
import {
  EvaluateRequestSchema,
  EvaluationService,
} from '../../../gen/proto/enforcement/v1/evaluation_service_pb.js';
import { acceptsGzip } from '../../../src/serve/wire/gzip.js';
import { grpcJsClient } from '../../support/grpc-js-client.js';
import { type ClientCompression, RPC_PROTOCOLS, rpcTransport } from '../../support/rpc-transports.js';
import { denyWord } from '../../support/seed.js';
import { suiteService } from '../../support/service-suite.js';

const AGENT = 'compressed-agent';
const CONTROLS = `/api/v1/agents/${AGENT}/controls`;
const IDENTITY: ClientCompression = { acceptCompression: [] };
const STEP = { type: 'llm', name: 'n', input: 'bad' };

let firstControl = 0;
const service = suiteService();
const { seed } = service;
beforeAll(async () => {
  await seed.agent(AGENT);
  for (let count = 0; count < 12; count += 1) {
    const data = denyWord('bad', { description: 'Denies what is bad. '.repeat(60) });
    const id = await seed.control(`control-${count}`, data);
    if (count === 0) firstControl = id;
    await seed.link(AGENT, id);
  }
});

interface Answer {
  readonly status: number;
  readonly headers: IncomingHttpHeaders;
  readonly body: Buffer;
}

function send(
  method: string,
  path: string,
  headers: OutgoingHttpHeaders,
  body: string | Uint8Array = '',
): Promise<Answer> {
  return new Promise((done, fail) => {
    const sent = request(`${service.url}${path}`, { method, headers }, (reply) => {
      const chunks: Buffer[] = [];
      reply.on('data', (chunk: Buffer) => chunks.push(chunk));
      reply.on('end', () =>
        done({ status: reply.statusCode ?? 0, headers: reply.headers, body: Buffer.concat(chunks) }),
      );
    });
    sent.on('error', fail);
    sent.end(body);
  });
}

/** A message as an uncompressed frame of gRPC. */
function framed(message: Uint8Array): Buffer {
  const head = Buffer.alloc(5);
  head.writeUInt32BE(message.length, 1);
  return Buffer.concat([head, message]);
}

describe('a large reply of a JSON route', () => {
  it('is compressed for a caller that accepts gzip, with the same content', async () => {
    const plain = await send('GET', CONTROLS, {});
    const compressed = await send('GET', CONTROLS, { 'accept-encoding': 'br, gzip;q=0.8' });
    expect(plain.headers['content-encoding']).toBeUndefined();
    expect(compressed).toMatchObject({ status: 200, headers: { 'content-encoding': 'gzip' } });
    expect(compressed.headers['content-length']).toBe(String(compressed.body.length));
    expect(compressed.body.length).toBeLessThan(plain.body.length / 2);
    expect(gunzipSync(compressed.body).equals(plain.body)).toBe(true);
    for (const { headers } of [plain, compressed]) expect(headers.vary).toContain('accept-encoding');
    expect(compressed.headers['content-type']).toBe(plain.headers['content-type']);
  });
  it('has a weak tag, which writes accept like the strong one of the uncompressed reply', async () => {
    const path = `/api/v1/controls/${firstControl}`;
    const plain = await send('GET', path, {});
    const { headers } = await send('GET', path, { 'accept-encoding': 'gzip' });
    expect(headers.etag).toBe(`W/${plain.headers.etag}`);
    const change = { 'content-type': 'application/json', 'if-match': headers.etag };
    expect(await send('PATCH', path, change, '{"enabled":true}')).toMatchObject({ status: 200 });
  });
  it.each(['identity', 'br', 'gzip;q=0', '*;q=0'])(
    'is not compressed with Accept-Encoding: %s',
    async (accepted) => {
      const { headers, body } = await send('GET', CONTROLS, { 'accept-encoding': accepted });
      expect(headers['content-encoding']).toBeUndefined();
      expect(JSON.parse(body.toString()).controls).toHaveLength(12);
    },
  );
});

describe('replies that are never compressed', () => {
  const ACCEPTING = { 'accept-encoding': 'gzip', 'content-type': 'application/json' };
  it.each<[string, string, string, string]>([
    ['small ones', 'GET', '/api/v1/agents?limit=1', ''],
    ['those of login', 'POST', '/api/login', '{"api_key":"x"}'],
    ['those of the settings of the console', 'GET', '/api/config', ''],
    ['errors', 'GET', `/api/v1/agents/${'x'.repeat(2_000)}`, ''],
  ])('%s', async (_name, method, path, body) => {
    const { headers } = await send(method, path, ACCEPTING, body);
    expect(headers['content-encoding']).toBeUndefined();
  });
  it('verdicts, over JSON, Connect and gRPC-Web', async () => {
    const evaluation = { agent_name: AGENT, stage: 'pre', step: STEP };
    const rest = await send('POST', '/api/v1/evaluation', ACCEPTING, JSON.stringify(evaluation));
    const connect = await send(
      'POST',
      `/${EvaluationService.typeName}/Evaluate`,
      ACCEPTING,
      JSON.stringify({ agentName: AGENT, stage: 'STAGE_PRE', step: STEP }),
    );
    for (const { status, headers, body } of [rest, connect]) {
      expect(status).toBe(200);
      expect(body.length).toBeGreaterThan(1_024);
      expect(headers['content-encoding']).toBeUndefined();
    }
    const message = toBinary(
      EvaluateRequestSchema,
      fromJson(EvaluateRequestSchema, { agentName: AGENT, stage: 'STAGE_PRE', step: STEP }),
    );
    const web = await send(
      'POST',
      `/${EvaluationService.typeName}/Evaluate`,
      { 'content-type': 'application/grpc-web+proto', 'grpc-accept-encoding': 'gzip' },
      framed(message),
    );
    expect(web.status).toBe(200);
    expect(web.headers['grpc-encoding']).toBeUndefined();
    expect([web.body[0], web.body.readUInt32BE(1) > 1_024]).toEqual([0, true]);
  });
});

describe.each(RPC_PROTOCOLS)('over %s', (protocol) => {
  const client = (compression?: ClientCompression) =>
    createClient(AgentService, rpcTransport(protocol, service.url, undefined, compression));

  it('a large reply is the same with gzip and without, and a caller that does not accept gzip gets none', async () => {
    const encodings: (string | null)[] = [];
    const onHeader = (headers: Headers) => {
      encodings.push(headers.get(protocol.startsWith('Connect') ? 'content-encoding' : 'grpc-encoding'));
    };
    const compressed = await client().listAgentControls({ agentName: AGENT }, { onHeader });
    const plain = await client(IDENTITY).listAgentControls({ agentName: AGENT }, { onHeader });
    expect(encodings).toEqual(['gzip', null]);
    expect(plain.controls).toHaveLength(12);
    expect(equals(ListAgentControlsResponseSchema, compressed, plain)).toBe(true);
  });
  it('messages of a stream are the same with gzip and without', async () => {
    const first = async (compression?: ClientCompression): Promise<WatchControlsResponse> => {
      for await (const message of client(compression).watchControls({ agentName: AGENT })) return message;
      throw new Error('the stream ended without a message');
    };
    const [compressed, plain] = [await first(), await first(IDENTITY)];
    expect(toBinary(WatchControlsResponseSchema, plain).length).toBeGreaterThan(1_024);
    expect(equals(WatchControlsResponseSchema, compressed, plain)).toBe(true);
  });
  it('a compressed request is refused', async () => {
    const sending = client({ sendCompression: compressionGzip, compressMinBytes: 0 });
    const refused = await sending
      .listAgentControls({ agentName: AGENT })
      .catch((error: ConnectError) => error);
    expect(refused).toMatchObject({ code: Code.Unimplemented });
  });
  it('a large error is told with gzip as without', async () => {
    const evaluatorName = 'x'.repeat(3_000);
    const call = (compression?: ClientCompression) =>
      client(compression)
        .getAgentEvaluator({ agentName: AGENT, evaluatorName })
        .catch((error: ConnectError) => error);
    const [compressed, plain] = [await call(), await call(IDENTITY)];
    expect(plain).toMatchObject({ code: Code.NotFound });
    expect(compressed).toMatchObject({ code: Code.NotFound, rawMessage: (plain as ConnectError).rawMessage });
  });
});

it('an undecodable message with a long cause is the fault of its caller, with gzip as without', async () => {
  const path = `/${AgentService.typeName}/ListAgentControls`;
  const body = JSON.stringify({ ['x'.repeat(3_000)]: 1 });
  const headers = { 'content-type': 'application/json' };
  const plain = await send('POST', path, headers, body);
  const accepting = await send('POST', path, { ...headers, 'accept-encoding': 'gzip' }, body);
  expect(plain.status).toBe(400);
  expect(accepting.status).toBe(400);
  const isCompressed = accepting.headers['content-encoding'] === 'gzip';
  const told = isCompressed ? gunzipSync(accepting.body) : accepting.body;
  expect(JSON.parse(told.toString())).toEqual(JSON.parse(plain.body.toString()));
});

describe('a frame', () => {
  const path = `/${AgentService.typeName}/ListAgentControls`;
  const frame = framed(
    toBinary(ListAgentControlsRequestSchema, create(ListAgentControlsRequestSchema, { agentName: AGENT })),
  );
  const message = (body: Buffer) => body.subarray(5, 5 + body.readUInt32BE(1));

  it('of gRPC-Web is compressed by itself', async () => {
    const headers = { 'content-type': 'application/grpc-web+proto', 'x-grpc-web': '1' };
    const { body: plain } = await send('POST', path, headers, frame);
    const { body } = await send('POST', path, { ...headers, 'grpc-accept-encoding': 'gzip' }, frame);
    expect([plain[0], body[0]]).toEqual([0, 1]);
    expect(gunzipSync(message(body)).equals(message(plain))).toBe(true);
  });
  it('of gRPC is compressed by itself, with the list of encodings that grpc-js accepts', async () => {
    const session = connect(service.url);
    const call = async (headers: OutgoingHttpHeaders) => {
      const stream = session.request({
        ':method': 'POST',
        ':path': path,
        'content-type': 'application/grpc',
        te: 'trailers',
        ...headers,
      });
      const chunks: Buffer[] = [];
      stream.on('data', (chunk: Buffer) => chunks.push(chunk));
      stream.end(frame);
      await once(stream, 'end');
      return Buffer.concat(chunks);
    };
    const [plain, body] = [await call({}), await call({ 'grpc-accept-encoding': 'identity,deflate,gzip' })];
    session.close();
    expect([plain[0], body[0]]).toEqual([0, 1]);
    expect(gunzipSync(message(body)).equals(message(plain))).toBe(true);
  });
});

it('grpc-js reads compressed replies', async () => {
  const client = grpcJsClient(service, 'enforcement/v1/agent_service.proto', 'enforcement.v1.AgentService');
  const reply = await new Promise<{ controls: { name: string }[] }>((done, fail) => {
    client.ListAgentControls?.(
      { agent_name: AGENT },
      (error: Error | null, value: { controls: { name: string }[] }) => (error ? fail(error) : done(value)),
    );
  });
  const { controls } = JSON.parse((await send('GET', CONTROLS, {})).body.toString());
  expect(reply.controls.map(({ name }) => name)).toEqual(controls.map((one: { name: string }) => one.name));
  client.close();
});

describe('the value of Accept-Encoding', () => {
  it.each<[string | undefined, boolean]>([
    ['gzip', true],
    ['GZIP', true],
    ['deflate, gzip;q=1.0, *;q=0.5', true],
    ['gzip; q=0.001', true],
    ['gzip;q=0', false],
    ['gzip; Q=0.000', false],
    ['x-gzip', false],
    ['', false],
    [undefined, false],
  ])('%s accepts gzip: %s', (value, accepted) => {
    expect(acceptsGzip(value)).toBe(accepted);
  });
});
