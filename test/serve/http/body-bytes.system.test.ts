import http2 from 'node:http2';
import net from 'node:net';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { restClient } from '../../support/http.js';
import { seeder } from '../../support/seed.js';
import { compiled, type ServiceProcess, spawnService } from '../../support/service-process.js';
import { until } from '../../support/until.js';

const AGENT = 'bounded-agent-1';
const RPC = '/enforcement.v1.EvaluationService/Evaluate';
const STREAM = '/enforcement.v1.EvaluationService/EvaluateStream';
const LIST = '/enforcement.v1.AgentService/ListAgents';

/** Largest body, and what the bodies of one connection and of all connections may take together. */
const BODY = 100_000;
const ON_CONNECTION = 400_000;
const IN_PROCESS = 1_000_000;
/** What each hostile request sends before it falls silent. */
const SENT = 90_000;
const FITTING = Math.floor(ON_CONNECTION / SENT);
const ALL_FITTING = Math.floor(IN_PROCESS / SENT);

/** The beginning of a body that is one message with a prefix. */
const enveloped = (): Buffer => {
  const bytes = Buffer.alloc(SENT);
  bytes.writeUInt32BE(BODY - 1_000, 1);
  return bytes;
};
const plain = (): Buffer => Buffer.alloc(SENT, ' ');

/** What a client gets to see of a refusal. */
interface Seen {
  readonly status: number;
  readonly body: string;
  readonly trailers: http2.IncomingHttpHeaders;
  readonly headers: http2.IncomingHttpHeaders;
}

interface WayIn {
  readonly path: string;
  readonly type: string;
  readonly body: () => Buffer;
  /** A refusal in its protocol, by the name of the code. */
  check(seen: Seen, code: 'RATE_LIMITED' | 'SERVICE_UNAVAILABLE'): void;
}

const GRPC_CODES = { RATE_LIMITED: '8', SERVICE_UNAVAILABLE: '14' };
const CONNECT_CODES = { RATE_LIMITED: 'resource_exhausted', SERVICE_UNAVAILABLE: 'unavailable' };
const HTTP_STATUS = { RATE_LIMITED: 429, SERVICE_UNAVAILABLE: 503 };

function checkGrpc({ headers, trailers }: Seen, code: keyof typeof GRPC_CODES): void {
  expect(trailers['grpc-status'] ?? headers['grpc-status']).toBe(GRPC_CODES[code]);
}

const WAYS_IN: Readonly<Record<string, WayIn>> = {
  REST: {
    path: '/api/v1/evaluation',
    type: 'application/json',
    body: plain,
    check({ status, body, headers }, code) {
      expect([status, JSON.parse(body).error_code]).toEqual([HTTP_STATUS[code], code]);
      expect(headers['retry-after']).toBe('1');
    },
  },
  'Connect with JSON': {
    path: RPC,
    type: 'application/json',
    body: plain,
    check({ status, body }, code) {
      const error = JSON.parse(body);
      expect([status, error.code]).toEqual([HTTP_STATUS[code], CONNECT_CODES[code]]);
      expect(error.details.map(({ type }: { type: string }) => type)).toContain('google.rpc.RetryInfo');
    },
  },
  'a Connect stream': {
    path: STREAM,
    type: 'application/connect+proto',
    body: enveloped,
    check({ body }, code) {
      expect(JSON.parse(body.slice(5)).error.code).toBe(CONNECT_CODES[code]);
    },
  },
  'gRPC-Web': {
    path: RPC,
    type: 'application/grpc-web+proto',
    body: enveloped,
    check({ body }, code) {
      expect(body).toContain(`grpc-status: ${GRPC_CODES[code]}\r\n`);
    },
  },
  'gRPC beside the lane': { path: LIST, type: 'application/grpc', body: enveloped, check: checkGrpc },
  'the lane': { path: RPC, type: 'application/grpc', body: enveloped, check: checkGrpc },
  'a stream of the lane': { path: STREAM, type: 'application/grpc', body: enveloped, check: checkGrpc },
};

// In a process of its own: Node.js 20 can corrupt its heap when both ends of such an HTTP/2 connection end in one process.
let service: ServiceProcess;
let url: string;
let sessions: http2.ClientHttp2Session[] = [];
let sockets: net.Socket[] = [];
beforeEach(async () => {
  service = await spawnService(compiled, {
    environment: {
      SERVICE_MAX_BODY_BYTES: String(BODY),
      SERVICE_MAX_CONNECTION_BUFFER_BYTES: String(ON_CONNECTION),
      SERVICE_MAX_BUFFER_BYTES: String(IN_PROCESS),
    },
  });
  url = await service.listening();
  await seeder(restClient(url)).agent(AGENT);
});
afterEach(async () => {
  for (const one of [...sessions, ...sockets]) one.destroy();
  [sessions, sockets] = [[], []];
  await service.dispose();
});

function connect(): http2.ClientHttp2Session {
  const session = http2.connect(url);
  session.on('error', () => {});
  sessions.push(session);
  return session;
}

/** Sends most of a body over HTTP/2 and leaves it at that. `seen` resolves when it is refused. */
function leaveUnfinished(session: http2.ClientHttp2Session, { path, type, body }: WayIn) {
  const stream = session.request({
    ':method': 'POST',
    ':path': path,
    'content-type': type,
    ...(type.startsWith('application/connect+') ? { 'connect-protocol-version': '1' } : {}),
  });
  stream.on('error', () => {});
  let headers: http2.IncomingHttpHeaders & http2.IncomingHttpStatusHeader = {};
  let trailers: http2.IncomingHttpHeaders = {};
  let text = '';
  stream.on('response', (found) => {
    headers = found;
  });
  stream.on('trailers', (found) => {
    trailers = found;
  });
  stream.on('data', (chunk: Buffer) => {
    text += chunk.toString('latin1');
  });
  const seen = new Promise<Seen>((resolve) =>
    stream.once('end', () => resolve({ status: Number(headers[':status']), headers, trailers, body: text })),
  );
  stream.write(body());
  return { stream, seen };
}

/** The refusals so far of requests that do not end by themselves. */
function refusalsOf(requests: readonly { readonly seen: Promise<Seen> }[]): Seen[] {
  const refusals: Seen[] = [];
  for (const { seen } of requests) void seen.then((one) => refusals.push(one));
  return refusals;
}

const evaluation = (length: number) => ({
  agent_name: AGENT,
  stage: 'pre',
  step: { type: 'llm', name: 'a', input: 'x'.repeat(length) },
});

/** A large request that is complete is answered, so that there is room for it. */
async function isServed(length: number): Promise<void> {
  await until(
    () => restClient(url)('POST', '/api/v1/evaluation', evaluation(length)),
    ({ status }) => status === 200,
  );
}

describe.each(Object.entries(WAYS_IN))('unfinished requests over %s', (_name, way) => {
  it('are bounded on one connection, refused beyond that in words of the protocol, and given back', async () => {
    const session = connect();
    const requests = Array.from({ length: 2 * FITTING }, () => leaveUnfinished(session, way));
    const refusals = refusalsOf(requests);
    await until(
      () => refusals.length,
      (count) => count === FITTING,
    );
    for (const seen of refusals) way.check(seen, 'RATE_LIMITED');
    // Another connection has a budget of its own.
    const other = leaveUnfinished(connect(), way);
    await isServed(SENT);
    for (const { stream } of [...requests, other]) stream.close();
    const again = Array.from({ length: FITTING + 1 }, () => leaveUnfinished(session, way));
    way.check(await Promise.race(again.map(({ seen }) => seen)), 'RATE_LIMITED');
  });

  it('are bounded on all connections together; small requests are served all the same', async () => {
    const requests = Array.from({ length: ALL_FITTING + 3 }, () => leaveUnfinished(connect(), way));
    const refusals = refusalsOf(requests);
    await until(
      () => refusals.length,
      (count) => count === 3,
    );
    for (const seen of refusals) way.check(seen, 'SERVICE_UNAVAILABLE');
    const call = restClient(url);
    expect((await call('POST', '/api/v1/evaluation', evaluation(SENT))).status).toBe(503);
    expect((await call('POST', '/api/v1/evaluation', evaluation(10_000))).status).toBe(200);
    for (const session of sessions) session.destroy();
    await isServed(SENT);
  });
});

describe('unfinished requests over HTTP/1.1', () => {
  it.each([
    ['REST', WAYS_IN.REST],
    ['Connect', WAYS_IN['Connect with JSON']],
    ['gRPC-Web', WAYS_IN['gRPC-Web']],
  ] as const)('of %s are bounded on all connections together', async (_name, way) => {
    if (way === undefined) throw new Error('no such way in');
    const refusal = way.type.includes('grpc') ? /\r\ngrpc-status: 14\r\n/ : /^HTTP\/1\.1 503 /;
    let refused = 0;
    for (let count = 0; count < ALL_FITTING + 3; count += 1) {
      const socket = net.connect(Number(new URL(url).port), new URL(url).hostname);
      socket.on('error', () => {});
      let reply = '';
      socket.on('data', (chunk: Buffer) => {
        if (!refusal.test(reply) && refusal.test(reply + chunk.toString('latin1'))) refused += 1;
        reply += chunk.toString('latin1');
      });
      socket.write(
        `POST ${way.path} HTTP/1.1\r\nHost: x\r\nContent-Type: ${way.type}\r\nContent-Length: ${BODY - 1_000}\r\n\r\n`,
      );
      socket.write(way.body());
      sockets.push(socket);
    }
    await until(
      () => refused,
      (count) => count === 3,
    );
    for (const socket of sockets) socket.destroy();
    await isServed(SENT);
  });
});
