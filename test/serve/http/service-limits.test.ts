import http2 from 'node:http2';
import net from 'node:net';
import { ConnectError, createClient } from '@connectrpc/connect';
import { createConnectTransport, createGrpcWebTransport } from '@connectrpc/connect-node';
import { afterEach, describe, expect, it } from 'vitest';
import { EvaluationService } from '../../../gen/proto/enforcement/v1/evaluation_service_pb.js';
import { ErrorInfoSchema, RetryInfoSchema } from '../../../gen/proto/google/rpc/error_details_pb.js';
import { restClient } from '../../support/http.js';
import { lanes } from '../../support/lanes.js';
import { metric, parseMetrics } from '../../support/prometheus.js';
import { problem } from '../../support/refusals.js';
import { seeder } from '../../support/seed.js';
import { startService, type TestService } from '../../support/service.js';
import { until } from '../../support/until.js';
import { open, streamMessage, unaryMessage } from '../lane/lane-harness.js';

const AGENT = 'laned-agent-1';
const KEY = { 'x-api-key': 'regular' };
const ADMIN = { 'x-api-key': 'admin' };
const STEP = { agent_name: AGENT, stage: 'pre', step: { type: 'llm', name: 'a', input: 'x' } };

let service: TestService;
let sessions: http2.ClientHttp2Session[] = [];
afterEach(async () => {
  for (const session of sessions) session.destroy();
  sessions = [];
  await service.stop();
});

async function start(environment: Record<string, string>): Promise<void> {
  service = await startService({
    SERVICE_API_KEY_ENABLED: 'true',
    SERVICE_API_KEYS: 'regular',
    SERVICE_ADMIN_API_KEYS: 'admin',
    ...environment,
  });
  await seeder(restClient(service.url, ADMIN)).agent(AGENT);
}

function connect(): http2.ClientHttp2Session {
  const session = http2.connect(service.url);
  session.on('error', () => {});
  sessions.push(session);
  return session;
}

async function sample(name: string, labels: Record<string, string> = {}): Promise<number> {
  const samples = parseMetrics(await (await fetch(`${service.url}/metrics`)).text());
  return metric(samples, `control_enforcement_server_${name}`, labels);
}

const counted = (expected: number) =>
  until(
    () => sample('counted_calls'),
    (count) => count === expected,
  );

/** Opens a stream and waits for its first answer. One that is turned away, as a busy machine may do, is opened again. */
async function runningStream(session: http2.ClientHttp2Session) {
  for (;;) {
    const call = open(session, 'EvaluateStream', KEY);
    let ended: { readonly status: string | undefined } | undefined;
    void call.ended.then((end) => {
      ended = end;
    });
    call.stream.write(streamMessage('first'));
    await until(
      () => call.ids.length,
      (count) => count === 1 || ended !== undefined,
    );
    if (call.ids.length === 1) return call;
    if (ended?.status !== '14') throw new Error(`the stream ended with ${ended?.status}`);
  }
}

/** Why a call over Connect or gRPC-Web was refused. */
async function refusalOf(protocol: 'connect' | 'grpc-web') {
  const create = protocol === 'connect' ? createConnectTransport : createGrpcWebTransport;
  const transport = create({ baseUrl: service.url, httpVersion: '1.1' });
  const error = await createClient(EvaluationService, transport)
    .evaluate({ agentName: AGENT }, { headers: KEY })
    .catch((thrown: unknown) => ConnectError.from(thrown));
  if (!(error instanceof ConnectError)) throw new Error('it was not refused');
  return {
    reason: error.findDetails(ErrorInfoSchema)[0]?.reason,
    retrySeconds: Number(error.findDetails(RetryInfoSchema)[0]?.retryDelay?.seconds),
  };
}

describe.each(['true', 'false'])('with the lanes %s, a key', (lane) => {
  it('has its calls limited over every protocol, and gets its places back however a call ends', async () => {
    await start({ SERVICE_MAX_CALLS_PER_KEY: '2', ...lanes(lane) });
    const [first, second] = [await runningStream(connect()), await runningStream(connect())];
    expect(await sample('counted_calls')).toBe(2);

    const unary = open(connect(), 'Evaluate', KEY);
    unary.stream.end(unaryMessage('a'));
    expect(await unary.ended).toMatchObject({ status: '8' });
    const rest = await restClient(service.url, KEY)('POST', '/api/v1/evaluation', STEP);
    expect(rest).toMatchObject(problem(429, 'RATE_LIMITED'));
    expect(rest.headers.get('retry-after')).toBe('1');
    for (const protocol of ['connect', 'grpc-web'] as const)
      expect(await refusalOf(protocol)).toEqual({ reason: 'RATE_LIMITED', retrySeconds: 1 });
    expect(await sample('refused_calls_total', { reason: 'key-limit' })).toBe(4);
    // Another key is another matter.
    expect((await restClient(service.url, ADMIN)('GET', '/api/v1/agents')).status).toBe(200);

    first.stream.close(http2.constants.NGHTTP2_CANCEL);
    await counted(1);
    second.stream.end();
    expect(await second.ended).toMatchObject({ status: '0' });
    await counted(0);

    const broken = await runningStream(connect());
    broken.stream.end(Buffer.from([0, 0, 0, 0, 9, 1]));
    expect((await broken.ended).status).toBe('3');
    const vanishing = connect();
    await runningStream(vanishing);
    vanishing.destroy();
    await counted(0);
    expect((await restClient(service.url, KEY)('POST', '/api/v1/evaluation', STEP)).status).toBe(200);
    expect((await restClient(service.url, KEY)('POST', '/api/v1/evaluation', {})).status).toBe(422);
    await counted(0);
  });

  it('gets a place back whose request was never finished', async () => {
    await start({ SERVICE_MAX_CALLS_PER_KEY: '2', ...lanes(lane) });
    const call = open(connect(), 'Evaluate', KEY);
    call.stream.write(unaryMessage('a').subarray(0, 9));
    const socket = net.connect(service.port, service.host);
    socket.on('error', () => {});
    socket.write(
      'POST /api/v1/evaluation HTTP/1.1\r\nHost: x\r\nX-API-Key: regular\r\nContent-Length: 99\r\n\r\n{',
    );
    await counted(2);
    socket.destroy();
    call.stream.close(http2.constants.NGHTTP2_CANCEL);
    await counted(0);
  });
});

describe('an overloaded server', () => {
  it('turns new calls away but serves running streams, health and metrics, and recovers', async () => {
    await start({ SERVICE_SHED_EVENT_LOOP_DELAY_MS: '100' });
    const session = connect();
    const running = await runningStream(session);
    const stall = setInterval(() => {
      const end = performance.now() + 300;
      while (performance.now() < end);
    }, 0);
    try {
      await until(
        () => sample('event_loop_delay_seconds'),
        (delay) => delay >= 0.1,
      );
      const rest = await until(
        () => restClient(service.url, KEY)('POST', '/api/v1/evaluation', STEP),
        ({ status }) => status === 503,
      );
      expect(rest.body.error_code).toBe('SERVICE_UNAVAILABLE');
      expect(rest.headers.get('retry-after')).toBe('1');
      const unary = open(session, 'Evaluate', KEY);
      unary.stream.end(unaryMessage('a'));
      expect((await unary.ended).status).toBe('14');
      expect(await refusalOf('connect')).toEqual({ reason: 'SERVICE_UNAVAILABLE', retrySeconds: 1 });
      running.stream.write(streamMessage('second'));
      await until(
        () => running.ids.length,
        (count) => count === 2,
      );
      expect((await fetch(`${service.url}/health`)).status).toBe(200);
    } finally {
      clearInterval(stall);
    }
    expect(await sample('refused_calls_total', { reason: 'overload' })).toBeGreaterThanOrEqual(3);
    await until(
      () => restClient(service.url, KEY)('POST', '/api/v1/evaluation', STEP),
      ({ status }) => status === 200,
    );
  });
});

it('one connection has no more streams than the setting allows', async () => {
  await start({ SERVICE_MAX_STREAMS_PER_CONNECTION: '3' });
  const session = connect();
  await new Promise((resolve) => session.once('remoteSettings', resolve));
  expect(session.remoteSettings.maxConcurrentStreams).toBe(3);
});
