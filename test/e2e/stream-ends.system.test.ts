import { once } from 'node:events';
import http from 'node:http';
import http2 from 'node:http2';
import { create } from '@bufbuild/protobuf';
import { Code, ConnectError, createClient, type Transport } from '@connectrpc/connect';
import { createWritableIterable } from '@connectrpc/connect/protocol';
import { afterEach, describe, expect, it } from 'vitest';
import { AgentService } from '../../gen/proto/enforcement/v1/agent_service_pb.js';
import { Stage } from '../../gen/proto/enforcement/v1/control_pb.js';
import {
  EvaluateRequestSchema,
  type EvaluateStreamRequest,
  EvaluateStreamRequestSchema,
  type EvaluateStreamResponse,
  EvaluationService,
} from '../../gen/proto/enforcement/v1/evaluation_service_pb.js';
import {
  type IngestEventsRequest,
  ObservabilityService,
  type PublishEventsRequest,
} from '../../gen/proto/enforcement/v1/observability_service_pb.js';
import { ErrorInfoSchema, RetryInfoSchema } from '../../gen/proto/google/rpc/error_details_pb.js';
import { Health } from '../../gen/proto/grpc/health/v1/health_pb.js';
import { errorLines } from '../support/error-lines.js';
import { restClient } from '../support/http.js';
import { lanes } from '../support/lanes.js';
import { RPC_PROTOCOLS, type RpcProtocol, rpcTransport } from '../support/rpc-transports.js';
import { seeder } from '../support/seed.js';
import { startService, type TestService } from '../support/service.js';
import { until } from '../support/until.js';

const AGENT = 'leaving-agent';
/** A revision that does not come, so that an evaluation waits. */
const FUTURE = 1_000_000n;

/** The protocols that can read and write at the same time; plain gRPC with and without its lane. */
const STREAMING: readonly { readonly name: string; readonly protocol: RpcProtocol; readonly lane: string }[] =
  [
    { name: 'gRPC on the lane', protocol: 'gRPC', lane: 'true' },
    { name: 'gRPC through Connect', protocol: 'gRPC', lane: 'false' },
    { name: 'gRPC-Web', protocol: 'gRPC-Web over HTTP/2', lane: 'true' },
    { name: 'Connect', protocol: 'Connect over HTTP/2', lane: 'true' },
  ];

let service: TestService;
let stopped: Promise<void> | undefined;
afterEach(() => stopped ?? service.stop());

async function start(environment: Record<string, string> = {}): Promise<void> {
  stopped = undefined;
  service = await startService({
    SERVICE_MIN_REVISION_WAIT_SECONDS: '60',
    SERVICE_DRAIN_SECONDS: '60',
    ...environment,
  });
  await seeder(restClient(service.url)).agent(AGENT);
}

/** Begins to shut down, as on SIGTERM. */
function shutDown(): void {
  stopped = service.stop();
}

/** A stream of evaluations, with everything received so far. */
function evaluationStream(transport: Transport) {
  const requests = createWritableIterable<EvaluateStreamRequest>();
  const replies: EvaluateStreamResponse[] = [];
  const read = async (): Promise<ConnectError | 'ended'> => {
    try {
      for await (const reply of createClient(EvaluationService, transport).evaluateStream(requests))
        replies.push(reply);
      return 'ended';
    } catch (error) {
      return ConnectError.from(error);
    }
  };
  const ended = read();
  const send = (id: string, more: { minRevision?: bigint; cancel?: boolean; count?: number } = {}) => {
    const { minRevision = 0n, cancel = false, count = 1 } = more;
    const stepJson = new TextEncoder().encode('{"type":"llm","name":"answer","input":"word"}');
    const evaluation = create(EvaluateRequestSchema, {
      agentName: AGENT,
      stage: Stage.PRE,
      stepForm: { case: 'stepJson', value: stepJson },
      minRevision,
    });
    const evaluations = Array.from({ length: count }, () => evaluation);
    void requests.write(create(EvaluateStreamRequestSchema, { id, evaluations, cancel })).catch(() => {});
  };
  return {
    replies,
    ended,
    send,
    close: () => requests.close(),
    /** Waits for a number of replies. */
    has: (count: number) =>
      until(
        () => replies.length,
        (found) => found >= count,
      ),
  };
}

function expectDraining(end: ConnectError | 'ended'): void {
  if (end === 'ended') throw new Error('the stream ended without a status');
  expect(end.code).toBe(Code.Unavailable);
  expect(end.findDetails(ErrorInfoSchema)).toMatchObject([
    { reason: 'DRAINING', domain: 'control-enforcement' },
  ]);
  expect(end.findDetails(RetryInfoSchema)).toMatchObject([{ retryDelay: { seconds: 0n, nanos: 0 } }]);
}

async function endOf(messages: AsyncIterable<unknown>): Promise<ConnectError | 'ended'> {
  try {
    for await (const _message of messages);
    return 'ended';
  } catch (error) {
    return ConnectError.from(error);
  }
}

describe.each(STREAMING)('a stream of evaluations over $name', ({ protocol, lane }) => {
  const begin = (environment: Record<string, string> = {}) => start({ ...lanes(lane), ...environment });

  it('gets a notice when the server shuts down, is answered meanwhile, and ends when it is idle', async () => {
    await begin();
    const stream = evaluationStream(rpcTransport(protocol, service.url));
    stream.send('before');
    await stream.has(1);
    stream.send('pending', { minRevision: FUTURE });
    stream.send('also before');
    await stream.has(2);
    shutDown();
    await stream.has(3);
    expect(stream.replies[2]).toMatchObject({
      id: '',
      results: [],
      notice: { drainWithin: { seconds: 59n, nanos: 500_000_000 } },
    });
    stream.send('after');
    await stream.has(4);
    // What was received before the end is answered.
    stream.send('pending', { cancel: true, count: 0 });
    await stream.has(5);
    expectDraining(await stream.ended);
    expect(stream.replies.map(({ id }) => id)).toEqual(['before', 'also before', '', 'after', 'pending']);
    await stopped;
  });

  it('gets a notice at its maximum age', async () => {
    await begin({ SERVICE_MAX_STREAM_AGE_SECONDS: '0.2' });
    const stream = evaluationStream(rpcTransport(protocol, service.url));
    stream.send('a');
    await until(
      () => stream.replies,
      (replies) => replies.some(({ notice }) => notice !== undefined),
    );
    const notice = stream.replies.find((reply) => reply.notice !== undefined)?.notice;
    expect(notice).toMatchObject({ drainWithin: { seconds: 30n, nanos: 0 } });
    stream.send('b');
    stream.close();
    expect(await stream.ended).toBe('ended');
    expect(stream.replies.map(({ id }) => id).filter((id) => id !== '')).toEqual(['a', 'b']);
  });

  it('gets a notice when its connection reaches the maximum age, and continues on another one', async () => {
    await begin({ SERVICE_MAX_CONNECTION_AGE_SECONDS: '0.2' });
    const transport = rpcTransport(protocol, service.url);
    const stream = evaluationStream(transport);
    stream.send('a');
    await until(
      () => stream.replies,
      (replies) => replies.some(({ notice }) => notice !== undefined),
    );
    stream.send('b');
    const next = evaluationStream(transport);
    next.send('c');
    next.close();
    expect(await next.ended).toBe('ended');
    stream.close();
    expect(await stream.ended).toBe('ended');
    const ids = [...stream.replies, ...next.replies].map(({ id }) => id).filter((id) => id !== '');
    expect(ids).toEqual(['a', 'b', 'c']);
  });

  it('ends at the end of the grace period although messages arrive', async () => {
    await begin({ SERVICE_MAX_STREAM_AGE_SECONDS: '0.2', SERVICE_MAX_CONNECTION_AGE_GRACE_SECONDS: '0.5' });
    const stream = evaluationStream(rpcTransport(protocol, service.url));
    let sent = 0;
    const sending = setInterval(() => {
      sent += 1;
      stream.send(String(sent));
    }, 20);
    expectDraining(await stream.ended);
    clearInterval(sending);
    const ids = stream.replies.map(({ id }) => id).filter((id) => id !== '');
    expect(ids).toEqual(ids.map((_id, index) => String(index + 1)));
  });

  it('cancels what is pending under an id', async () => {
    await begin();
    const stream = evaluationStream(rpcTransport(protocol, service.url));
    stream.send('a', { minRevision: FUTURE, count: 2 });
    stream.send('b', { minRevision: FUTURE });
    stream.send('now');
    await stream.has(1);
    stream.send('unknown', { cancel: true, count: 0 });
    stream.send('a', { cancel: true, count: 0 });
    await stream.has(2);
    stream.send('b', { cancel: true });
    stream.send('b', { cancel: true, count: 0 });
    stream.close();
    expect(await stream.ended).toBe('ended');
    const codes = stream.replies.map(({ id, results }) => [
      id,
      ...results.map(({ outcome }) => (outcome.case === 'error' ? outcome.value.code : outcome.case)),
    ]);
    expect(codes).toEqual([
      ['now', 'verdict'],
      ['a', Code.Canceled, Code.Canceled],
      ['b', Code.InvalidArgument],
      ['b', Code.Canceled],
    ]);
  });
});

describe.each(RPC_PROTOCOLS)('other streams over %s', (protocol) => {
  it('end with DRAINING when the server shuts down, and the health service tells it first', async () => {
    await start();
    const transport = rpcTransport(protocol, service.url);
    const controls = createClient(AgentService, transport).watchControls({ agentName: AGENT });
    const events = createClient(ObservabilityService, transport).watchEvents({});
    const health = createClient(Health, transport).watch({});
    const seen: number[] = [];
    const healthEnded = endOf(
      (async function* () {
        for await (const { status } of health) yield seen.push(status);
      })(),
    );
    const ended = [endOf(controls), endOf(events)];
    // Client streams need HTTP/2 with Connect's client.
    const items = createWritableIterable<IngestEventsRequest>();
    const published = createWritableIterable<PublishEventsRequest>();
    if (!protocol.includes('1.1')) {
      ended.push(
        createClient(ObservabilityService, transport)
          .ingestEvents(items)
          .then(
            () => 'ended' as const,
            (error: unknown) => ConnectError.from(error),
          ),
        endOf(createClient(ObservabilityService, transport).publishEvents(published)),
      );
    }
    await until(
      async () =>
        (await (await fetch(`${service.url}/metrics`)).text()).match(/streams_open\{[^}]*\} [1-9]/g) ?? [],
      (open) => open.length >= ended.length + 1,
    );
    shutDown();
    for (const end of ended) expectDraining(await end);
    expect(await healthEnded).toMatchObject({ code: Code.Unavailable });
    expect(seen.length).toBe(2);
    items.close();
    published.close();
    await stopped;
  });

  it('end with DRAINING at their maximum age', async () => {
    await start({ SERVICE_MAX_STREAM_AGE_SECONDS: '0.2' });
    const transport = rpcTransport(protocol, service.url);
    expectDraining(await endOf(createClient(AgentService, transport).watchControls({ agentName: AGENT })));
    expectDraining(await endOf(createClient(ObservabilityService, transport).watchEvents({})));
  });
});

describe('a connection of the maximum age', () => {
  it('gets GOAWAY over HTTP/2: what runs on it finishes', async () => {
    // The request has to arrive before it.
    await start({ SERVICE_MAX_CONNECTION_AGE_SECONDS: '2' });
    const session = http2.connect(service.url);
    const goaway = once(session, 'goaway');
    const closed = once(session, 'close');
    const running = session.request({
      ':method': 'POST',
      ':path': '/api/v1/evaluation',
      'content-type': 'application/json',
    });
    running.write('{"agent_name":');
    const [code] = await goaway;
    expect(code).toBe(http2.constants.NGHTTP2_NO_ERROR);
    running.end(`"${AGENT}","stage":"pre","step":{"type":"llm","name":"n","input":"x"}}`);
    const [headers] = (await once(running, 'response')) as [http2.IncomingHttpHeaders];
    expect(headers[':status']).toBe(200);
    running.resume();
    await closed;
  });

  it('tells it closes with its next reply over HTTP/1.1', async () => {
    await start({ SERVICE_MAX_CONNECTION_AGE_SECONDS: '0.2' });
    const agent = new http.Agent({ keepAlive: true, maxSockets: 1 });
    const ask = async (): Promise<string | undefined> => {
      const [response] = (await once(
        http.get(`${service.url}/api/v1/evaluators`, { agent }),
        'response',
      )) as [http.IncomingMessage];
      response.resume();
      await once(response, 'end');
      expect(response.statusCode).toBe(200);
      return response.headers.connection;
    };
    // On a busy machine a new connection may have reached the age before its first reply.
    for (const connection of ['keep-alive', 'close', 'keep-alive'])
      await until(ask, (told) => told === connection);
    agent.destroy();
  });

  it.each(['application/connect+json', 'application/grpc-web+json'])(
    'is no failure when its caller leaves over HTTP/1.1: %s',
    async (type) => {
      await start({ SERVICE_LOG_LEVEL: 'debug' });
      const path = `/${ObservabilityService.typeName}/WatchEvents`;
      const request = http.request(`${service.url}${path}`, {
        method: 'POST',
        headers: { 'content-type': type, 'connect-protocol-version': '1' },
      });
      request.on('error', () => undefined);
      request.end(Buffer.from([0, 0, 0, 0, 2, 0x7b, 0x7d]));
      const [response] = (await once(request, 'response')) as [http.IncomingMessage];
      response.on('error', () => undefined);
      request.destroy();
      const isOfCall = (line: string) => line.includes('WatchEvents');
      await until(
        () => service.logLines.filter(isOfCall),
        (lines) => lines.some((line) => line.includes('the client went away')),
      );
      expect(errorLines(service.logLines)).toEqual([]);
    },
  );

  it('is closed over HTTP/1.1 when no request comes any more', async () => {
    await start({
      SERVICE_MAX_CONNECTION_AGE_SECONDS: '0.2',
      SERVICE_MAX_CONNECTION_AGE_GRACE_SECONDS: '0.2',
    });
    const agent = new http.Agent({ keepAlive: true });
    const request = http.get(`${service.url}/api/v1/evaluators`, { agent });
    const [response] = (await once(request, 'response')) as [http.IncomingMessage];
    const closed = once(response.socket, 'close');
    response.resume();
    await closed;
    agent.destroy();
  });
});
