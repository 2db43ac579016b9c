import http from 'node:http';
import http2 from 'node:http2';
import { create, type DescMethod } from '@bufbuild/protobuf';
import { Code, ConnectError, createClient } from '@connectrpc/connect';
import { credentials, Metadata } from '@grpc/grpc-js';
import pg from 'pg';
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { z } from 'zod';
import { Stage } from '../../../gen/proto/enforcement/v1/control_pb.js';
import { EvaluationService } from '../../../gen/proto/enforcement/v1/evaluation_service_pb.js';
import {
  EvaluatorService,
  ListEvaluatorsRequestSchema,
} from '../../../gen/proto/enforcement/v1/evaluator_service_pb.js';
import { handler } from '../../../src/contract/call/handler.js';
import { createTestDatabase, type TestDatabase } from '../../support/databases.js';
import { withGrowingTime } from '../../support/growing-time.js';
import { grpcJsClient } from '../../support/grpc-js-client.js';
import { startHost, type TestHost } from '../../support/host.js';
import { exchange, restClient } from '../../support/http.js';
import { problem } from '../../support/refusals.js';
import { RPC_PROTOCOLS, rpcTransport } from '../../support/rpc-transports.js';
import { seeder } from '../../support/seed.js';
import { startService, type TestService } from '../../support/service.js';
import { until } from '../../support/until.js';
import { createDoor, type Door } from '../listener/support/events.js';

const PATH = '/api/v1/evaluators';
/** A gRPC frame: not compressed, no bytes. */
const EMPTY_MESSAGE = Buffer.alloc(5);
const METHOD = EvaluatorService.method.listEvaluators as DescMethod;

/** Calls the one RPC of the host; how it ends. */
async function callSlow(host: TestHost, protocol: (typeof RPC_PROTOCOLS)[number], options: CallOptions = {}) {
  const message = create(ListEvaluatorsRequestSchema);
  try {
    await rpcTransport(protocol, host.url).unary(
      METHOD as never,
      options.signal,
      options.timeoutMs,
      {},
      message,
    );
    return 'ok';
  } catch (error) {
    return ConnectError.from(error).code;
  }
}

interface CallOptions {
  readonly signal?: AbortSignal;
  readonly timeoutMs?: number;
}

/** A host whose handler waits at a door and keeps the signal it was given. */
interface SlowHost extends TestHost {
  readonly door: Door;
  readonly signals: AbortSignal[];
}

async function startSlowHost(environment: Record<string, string> = {}): Promise<SlowHost> {
  const door = createDoor();
  const signals: AbortSignal[] = [];
  const listEvaluators = handler(z.object({}), async (_input, context) => {
    signals.push(context.signal);
    await door.pass();
    return { evaluators: {} };
  });
  const host = await startHost(EvaluatorService, { listEvaluators }, environment);
  return { ...host, door, signals };
}

/** The status of a gRPC call with a `grpc-timeout` that no client library looks at. */
function grpcStatusWithTimeout(host: TestHost, timeout: string): Promise<unknown> {
  const session = http2.connect(host.url);
  const stream = session.request({
    ':method': 'POST',
    ':path': '/enforcement.v1.EvaluatorService/ListEvaluators',
    'content-type': 'application/grpc',
    'grpc-timeout': timeout,
    te: 'trailers',
  });
  const status = new Promise((resolve) => {
    // A reply without messages may carry it in its only headers.
    const look = (headers: http2.IncomingHttpHeaders) => {
      if (headers['grpc-status'] !== undefined) resolve(headers['grpc-status']);
    };
    stream.on('response', look).on('trailers', look);
  });
  stream.end(EMPTY_MESSAGE);
  stream.resume();
  return status.finally(() => session.close());
}

function aborted(signal: AbortSignal | undefined): Promise<unknown> {
  if (signal === undefined) return Promise.reject(new Error('the handler was not called'));
  return new Promise((resolve) => {
    if (signal.aborted) resolve(signal.reason);
    else signal.addEventListener('abort', () => resolve(signal.reason));
  });
}

describe('a request that takes longer than the service allows', () => {
  let host: SlowHost;
  beforeEach(async () => {
    host = await startSlowHost({ SERVICE_REQUEST_TIMEOUT_SECONDS: '0.2' });
  });
  afterEach(async () => {
    host.door.open();
    await host.stop();
  });

  it('is answered 504 over REST, and its handler is aborted', async () => {
    // A busy machine may take all of the time to bring the request.
    do {
      expect(await exchange(host.url, { path: PATH })).toMatchObject({
        status: 504,
        json: { error_code: 'DEADLINE_EXCEEDED', title: 'Deadline Exceeded' },
      });
    } while (host.signals.length === 0);
    await aborted(host.signals[0]);
  });
  it.each(RPC_PROTOCOLS)('is DEADLINE_EXCEEDED over %s, and its handler is aborted', async (protocol) => {
    // A busy machine may take all of the time to bring the request.
    do expect(await callSlow(host, protocol)).toBe(Code.DeadlineExceeded);
    while (host.signals.length === 0);
    await aborted(host.signals[0]);
  });
  it('leaves the service as it was', async () => {
    await exchange(host.url, { path: PATH });
    await until(
      () => exchange(host.url, { path: '/health' }),
      ({ status }) => status === 200,
    );
  });
});

describe('a deadline of the caller', () => {
  let host: SlowHost;
  beforeEach(async () => {
    host = await startSlowHost();
  });
  afterEach(async () => {
    host.door.open();
    await host.stop();
  });

  it.each(RPC_PROTOCOLS)('ends the call over %s, and its handler is aborted', async (protocol) => {
    await withGrowingTime(200, async (timeoutMs) => {
      expect(await callSlow(host, protocol, { timeoutMs })).toBe(Code.DeadlineExceeded);
      await aborted(host.signals[0]);
    });
  });
  it('is enforced by the service itself, not only by the client', async () => {
    expect(await grpcStatusWithTimeout(host, '100m')).toBe('4');
  });
  it('that has passed already ends the call', async () => {
    expect(await grpcStatusWithTimeout(host, '0n')).toBe('4');
  });
  it.each(['x', '1', '99999999999S', '-1S'])('that is no duration is refused: %s', async (timeout) => {
    host.door.open();
    expect(await grpcStatusWithTimeout(host, timeout)).toBe('3');
  });
});

describe('a caller that goes away', () => {
  let host: SlowHost;
  beforeEach(async () => {
    host = await startSlowHost();
  });
  afterEach(async () => {
    host.door.open();
    await host.stop();
  });

  it('is noticed by the handler over REST', async () => {
    const request = http.get(host.url + PATH);
    request.on('error', () => {});
    await host.door.reached;
    request.destroy();
    await aborted(host.signals[0]);
  });
  it('is noticed by the handler over REST on HTTP/2', async () => {
    const session = http2.connect(host.url);
    const stream = session.request({ ':path': PATH });
    stream.on('error', () => {});
    await host.door.reached;
    stream.close(http2.constants.NGHTTP2_CANCEL);
    await aborted(host.signals[0]);
    session.close();
  });
  it.each(RPC_PROTOCOLS)('is noticed by the handler over %s', async (protocol) => {
    const cancel = new AbortController();
    const ended = callSlow(host, protocol, { signal: cancel.signal });
    await host.door.reached;
    cancel.abort();
    expect(await ended).toBe(Code.Canceled);
    await aborted(host.signals[0]);
  });
  it('is no error of the service', async () => {
    const request = http.get(host.url + PATH);
    request.on('error', () => {});
    await host.door.reached;
    request.destroy();
    await aborted(host.signals[0]);
    host.door.open();
    await exchange(host.url, { path: '/health' });
    const levels = host.logLines.map((line) => JSON.parse(line).level as number);
    expect(Math.max(...levels)).toBeLessThan(40);
  });
});

describe('an evaluation while the database is stalled', () => {
  const AGENT = 'stalled-agent-1';
  let database: TestDatabase;
  let service: TestService;
  let lock: pg.Client;
  beforeAll(async () => {
    database = await createTestDatabase('postgresql');
    const first = await startService({ DATABASE_URL: database.url });
    await seeder(restClient(first.url)).agent(AGENT);
    await first.stop();
    service = await startService({ DATABASE_URL: database.url, SERVICE_REQUEST_TIMEOUT_SECONDS: '0.5' });
    lock = new pg.Client({ connectionString: database.url });
    await lock.connect();
    await lock.query('BEGIN');
    await lock.query('LOCK TABLE agents IN ACCESS EXCLUSIVE MODE');
  });
  afterAll(async () => {
    await lock.end();
    await service.stop();
    await database.drop();
  });
  const step = { type: 'llm', name: 'n', input: 'x' };

  it('of an agent that is not loaded ends in time over REST', async () => {
    const reply = await restClient(service.url)('POST', '/api/v1/evaluation', {
      agent_name: AGENT,
      stage: 'pre',
      step,
    });
    expect(reply).toMatchObject(problem(504, 'DEADLINE_EXCEEDED'));
  });
  it.each(RPC_PROTOCOLS)('of an agent that is not loaded ends in time over %s', async (protocol) => {
    const client = createClient(EvaluationService, rpcTransport(protocol, service.url));
    const attempt = client.evaluate({
      // One of its own: loads are shared, and the one of an earlier test may be about to be given up.
      agentName: `stalled-${protocol.replaceAll(/\W/g, '-').toLowerCase()}`,
      stage: Stage.PRE,
      stepForm: { case: 'stepJson', value: Buffer.from(JSON.stringify(step)) },
    });
    expect(ConnectError.from(await attempt.catch((error: unknown) => error)).code).toBe(
      Code.DeadlineExceeded,
    );
  });
  it('on a stream ends when the caller gives up, over a client that shares no code with the service', async () => {
    const client = grpcJsClient(
      service,
      'enforcement/v1/evaluation_service.proto',
      'enforcement.v1.EvaluationService',
      credentials.createInsecure(),
    );
    const stream = client.EvaluateStream?.(new Metadata(), {
      deadline: Date.now() + 300,
    }) as NodeJS.ReadWriteStream;
    const failed = new Promise((resolve) => stream.once('error', resolve));
    stream.on('data', () => {});
    const request = { agent_name: AGENT, stage: 'STAGE_PRE', step_json: Buffer.from(JSON.stringify(step)) };
    stream.write({ id: 'a', evaluations: [request] } as never);
    expect(await failed).toMatchObject({ code: 4 });
    client.close();
  });
});
