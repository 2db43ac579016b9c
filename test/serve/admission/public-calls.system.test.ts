import http2 from 'node:http2';
import net from 'node:net';
import { Code, ConnectError, createClient } from '@connectrpc/connect';
import { afterEach, describe, expect, it } from 'vitest';
import { Health } from '../../../gen/proto/grpc/health/v1/health_pb.js';
import { ServerReflection } from '../../../gen/proto/grpc/reflection/v1/reflection_pb.js';
import { headerBlock, opening, request, reset } from '../../attack/http2-wire.mjs';
import { exchange, restClient } from '../../support/http.js';
import { metric, parseMetrics } from '../../support/prometheus.js';
import { RPC_PROTOCOLS, rpcTransport } from '../../support/rpc-transports.js';
import { seeder } from '../../support/seed.js';
import { startService, type TestService } from '../../support/service.js';
import { until } from '../../support/until.js';
import { framed } from '../lane/exchange.js';
import { open, streamMessage } from '../lane/lane-harness.js';

const AGENT = 'laned-agent-1';
const KEY = { 'x-api-key': 'regular' };
const WATCH = '/grpc.health.v1.Health/Watch';
const EVALUATE = '/enforcement.v1.EvaluationService/Evaluate';
const REFUSED = { error_code: 'RATE_LIMITED' };

let service: TestService;
const sockets: net.Socket[] = [];
const sessions: http2.ClientHttp2Session[] = [];
afterEach(async () => {
  for (const socket of sockets.splice(0)) socket.destroy();
  for (const session of sessions.splice(0)) session.destroy();
  await service.stop();
});

/** With an operations port, so that looking at the metrics is no public call. */
async function start(environment: Record<string, string> = {}): Promise<void> {
  service = await startService({
    SERVICE_API_KEY_ENABLED: 'true',
    SERVICE_API_KEYS: 'regular',
    SERVICE_ADMIN_API_KEYS: 'admin',
    SERVICE_OPERATIONS_PORT: '0',
    ...environment,
  });
  await seeder(restClient(service.url, { 'x-api-key': 'admin' })).agent(AGENT);
}

function session(): http2.ClientHttp2Session {
  const opened = http2.connect(service.url);
  opened.on('error', () => {});
  sessions.push(opened);
  return opened;
}

function socket(localAddress?: string): net.Socket {
  const opened = net.connect({
    host: service.host,
    port: service.port,
    ...(localAddress === undefined ? {} : { localAddress }),
  });
  opened.on('error', () => {});
  sockets.push(opened);
  return opened;
}

const closed = (one: net.Socket | http2.ClientHttp2Session) =>
  new Promise<void>((resolve) => one.once('close', () => resolve()));

/** A health watch; tells its status and the messages that came. */
function watch(on: http2.ClientHttp2Session) {
  const stream = on.request({
    ':method': 'POST',
    ':path': WATCH,
    'content-type': 'application/grpc',
    te: 'trailers',
  });
  const seen = { messages: 0, status: undefined as string | undefined };
  stream.on('error', () => {});
  stream.on('data', () => {
    seen.messages += 1;
  });
  for (const event of ['response', 'trailers'] as const) {
    stream.on(event, (headers: http2.IncomingHttpHeaders) => {
      seen.status ??= headers['grpc-status'] as string | undefined;
    });
  }
  stream.end(framed(Buffer.alloc(0)));
  return { stream, seen };
}

async function sample(name: string, labels: Record<string, string> = {}): Promise<number> {
  const text = await (await fetch(`${service.operationsUrl}/metrics`)).text();
  return metric(parseMetrics(text), `control_enforcement_server_${name}`, labels);
}

const evaluation = { agent_name: AGENT, stage: 'pre', step: { type: 'llm', name: 'a', input: 'x' } };
const evaluates = async () =>
  (await restClient(service.url, KEY)('POST', '/api/v1/evaluation', evaluation)).status === 200;

describe('streams that need no key', () => {
  it('are bounded on a connection, for an address and for the process; others get a place when they end', async () => {
    await start({
      SERVICE_MAX_PUBLIC_CALLS_PER_CONNECTION: '3',
      SERVICE_MAX_PUBLIC_CALLS_PER_ADDRESS: '5',
      SERVICE_MAX_PUBLIC_CALLS: '100',
    });
    const [first, second] = [session(), session()];
    const held = [1, 2, 3].map(() => watch(first));
    await until(
      () => held.every(({ seen }) => seen.messages === 1),
      (all) => all,
    );
    const tooMany = watch(first);
    await until(
      () => tooMany.seen.status,
      (status) => status === '8',
    );
    const others = [1, 2, 3].map(() => watch(second));
    await until(
      () => others.map(({ seen }) => seen.messages),
      (messages) => messages.join() === '1,1,0',
    );
    expect(others[2]?.seen.status).toBe('8');
    expect(await sample('refused_calls_total', { reason: 'public-limit' })).toBe(2);
    // What has a key is not concerned, on the same connections too.
    const call = open(first, 'EvaluateStream', KEY);
    call.stream.write(streamMessage('a'));
    await until(
      () => call.ids,
      (ids) => ids.join() === 'a',
    );

    held[0]?.stream.close();
    const again = await until(
      () => {
        const next = watch(second);
        return new Promise<typeof next>((resolve) => {
          next.stream.once('data', () => resolve(next));
          next.stream.once('close', () => resolve(next));
        });
      },
      ({ seen }) => seen.messages === 1,
    );
    expect(again.seen.status).toBeUndefined();
  });

  it.each(RPC_PROTOCOLS)('are refused over %s in its own words, with the time to wait', async (protocol) => {
    await start({ SERVICE_PUBLIC_CALLS_PER_SECOND_PER_ADDRESS: '7' });
    const client = createClient(Health, rpcTransport(protocol, service.url));
    await client.check({});
    // On a busy machine the next one may come when there is room again.
    const refused = await until(
      () => client.check({}).catch((thrown: unknown) => ConnectError.from(thrown)),
      (answer) => answer instanceof ConnectError,
    );
    expect(refused).toMatchObject({ code: Code.ResourceExhausted });
    expect((refused as ConnectError).rawMessage).toContain('Too many calls without a valid API key');
  });

  it('take no large messages', async () => {
    await start();
    const client = createClient(Health, rpcTransport('gRPC', service.url));
    const asked = client.check({ service: 'x'.repeat(100_000) });
    await expect(asked).rejects.toMatchObject({ code: Code.ResourceExhausted });
    await expect(client.check({ service: 'x'.repeat(10_000) })).rejects.toMatchObject({
      code: Code.NotFound,
    });
  });

  it('of reflection are bounded by what they request', async () => {
    await start({ SERVICE_PUBLIC_CALLS_PER_SECOND_PER_ADDRESS: '100', SERVICE_OPERATIONS_PORT: '0' });
    const client = createClient(ServerReflection, rpcTransport('gRPC', service.url));
    async function* questions() {
      for (let count = 0; count < 1_000; count += 1)
        yield { messageRequest: { case: 'listServices' as const, value: '' } };
    }
    let answers = 0;
    const asked = (async () => {
      for await (const _ of client.serverReflectionInfo(questions())) answers += 1;
    })();
    await expect(asked).rejects.toMatchObject({ code: Code.ResourceExhausted });
    expect(answers).toBeGreaterThan(1);
    expect(answers).toBeLessThan(1_000);
  });
});

describe('requests that need no key', () => {
  it('are limited a second; a refused one states when to retry and is the last on its connection', async () => {
    await start({ SERVICE_PUBLIC_CALLS_PER_SECOND_PER_ADDRESS: '20' });
    const connection = socket();
    let text = '';
    connection.on('data', (chunk: Buffer) => {
      text += chunk.toString();
    });
    connection.write('GET /docs HTTP/1.1\r\nHost: x\r\n\r\n'.repeat(1_000));
    await closed(connection);
    const statuses = [...text.matchAll(/HTTP\/1\.1 (\d{3})/g)].map(([, status]) => status);
    expect(statuses.length).toBeLessThan(1_000);
    expect(statuses.filter((status) => status === '429')).toEqual(['429']);
    expect(statuses.at(-1)).toBe('429');
    expect(text).toMatch(/retry-after: 1\r\n/i);
    const askMany = () => Array.from({ length: 60 }, () => exchange(service.url, { path: '/no/such/path' }));
    // A busy machine may take longer for all of them than the limit lets pass meanwhile.
    const refused = await until(
      async () => (await Promise.all(askMany())).find(({ status }) => status !== 404),
      (reply) => reply !== undefined,
    );
    expect([refused?.status, refused?.json]).toEqual([429, expect.objectContaining(REFUSED)]);
    expect(refused?.headers['x-service-server-version']).toBeDefined();
    expect(await evaluates()).toBe(true);
    expect(await sample('refused_calls_total', { reason: 'public-rate' })).toBeGreaterThanOrEqual(2);
    await until(
      () => exchange(service.url, { path: '/docs' }),
      ({ status }) => status === 200,
    );
  });

  it('count when they need a key and show none, over every protocol', async () => {
    await start({ SERVICE_PUBLIC_CALLS_PER_SECOND_PER_ADDRESS: '1' });
    const statusOf = async () =>
      (await restClient(service.url)('POST', '/api/v1/evaluation', evaluation)).status;
    const statuses = new Set<number>();
    await until(
      async () => statuses.add(await statusOf()),
      (seen) => seen.has(429),
    );
    expect([...statuses].sort()).toEqual([401, 429]);
    const grpcStatuses = new Set<string | undefined>();
    await until(
      async () => grpcStatuses.add((await open(session(), 'Evaluate').ended).status),
      (seen) => seen.has('8'),
    );
    expect([...grpcStatuses].filter((status) => status !== '8' && status !== '16')).toEqual([]);
    expect(await evaluates()).toBe(true);
  });
});

describe('a connection', () => {
  it('from an address that has too many is closed, while others are served', async () => {
    await start({ SERVICE_MAX_CONNECTIONS_PER_ADDRESS: '4' });
    const first = Array.from({ length: 4 }, () => socket('127.0.0.2'));
    await Promise.all(first.map((one) => new Promise((resolve) => one.once('connect', resolve))));
    await until(
      () => sample('open_connections'),
      (count) => count >= 4,
    );
    await closed(socket('127.0.0.2'));
    expect(await sample('closed_connections_total', { reason: 'address-connections' })).toBe(1);
    expect(await evaluates()).toBe(true);
    first[0]?.destroy();
    await until(
      async () => {
        const one = socket('127.0.0.2');
        one.write('GET /health HTTP/1.1\r\nHost: x\r\n\r\n');
        return new Promise<boolean>((resolve) => {
          one.once('data', () => resolve(true));
          one.once('close', () => resolve(false));
        });
      },
      (isServed) => isServed,
    );
  });

  it('that resets streams before they are answered receives ENHANCE_YOUR_CALM and is closed', async () => {
    await start();
    const storm = session();
    const goAway = new Promise<number>((resolve) => storm.once('goaway', (code) => resolve(code)));
    await new Promise((resolve) => storm.once('remoteSettings', resolve));
    const block = headerBlock(WATCH, { 'content-type': 'application/grpc', te: 'trailers' });
    expect(block.length).toBeGreaterThan(0);
    const again = setInterval(() => {
      for (let count = 0; count < 30 && !storm.closed; count += 1) {
        const { stream } = watch(storm);
        stream.close(http2.constants.NGHTTP2_CANCEL);
      }
    }, 1);
    expect(await goAway).toBe(http2.constants.NGHTTP2_ENHANCE_YOUR_CALM);
    clearInterval(again);
    expect(await sample('closed_connections_total', { reason: 'abuse' })).toBe(1);
    expect(await evaluates()).toBe(true);
  });

  it.each([
    ['Health/Watch', WATCH],
    ['Evaluate', EVALUATE],
  ])(
    'whose first words open and reset many streams of %s is closed before anything is done for it',
    async (_, path) => {
      await start();
      const before = await sample('rpcs_total');
      const block = headerBlock(path, { 'content-type': 'application/grpc', te: 'trailers' });
      const frames = Array.from({ length: 900 }, (__, at) => [
        request(2 * at + 1, block, framed(Buffer.alloc(0))),
        reset(2 * at + 1),
      ]);
      const storm = socket();
      storm.resume();
      storm.write(Buffer.concat([opening(), ...frames.flat()]));
      await closed(storm);
      expect(await sample('closed_connections_total', { reason: 'abuse' })).toBe(1);
      expect(await sample('rpcs_total')).toBe(before);
      expect(await evaluates()).toBe(true);
    },
  );

  it('with a key may reset streams', async () => {
    await start();
    const connection = session();
    const call = open(connection, 'EvaluateStream', KEY);
    call.stream.write(streamMessage('first'));
    await until(
      () => call.ids.length,
      (count) => count === 1,
    );
    for (let count = 0; count < 200; count += 1) {
      const { stream } = open(connection, 'Evaluate', KEY);
      stream.close(http2.constants.NGHTTP2_CANCEL);
      if (count % 20 === 0) await new Promise((resolve) => stream.once('close', resolve));
    }
    call.stream.write(streamMessage('second'));
    await until(
      () => call.ids.length,
      (count) => count === 2,
    );
    expect(await sample('closed_connections_total')).toBe(0);
  });
});

it('pipelined requests whose connection is closed give everything back', async () => {
  await start({ SERVICE_MIN_REVISION_WAIT_SECONDS: '60' });
  const body = JSON.stringify(evaluation);
  const connection = socket();
  // The first one waits, and the others behind it.
  connection.write(
    `POST /api/v1/evaluation HTTP/1.1\r\nHost: x\r\nX-API-Key: regular\r\nX-Service-Min-Revision: 1000000\r\n` +
      `Content-Type: application/json\r\nContent-Length: ${body.length}\r\n\r\n${body}`,
  );
  connection.write('GET /docs HTTP/1.1\r\nHost: x\r\n\r\n'.repeat(10));
  connection.write('GET /api/v1/agents HTTP/1.1\r\nHost: x\r\nX-API-Key: regular\r\n\r\n'.repeat(10));
  await until(
    () => sample('counted_calls'),
    (count) => count === 11,
  );
  expect(await sample('public_calls')).toBe(10);
  connection.destroy();
  for (const name of ['counted_calls', 'public_calls', 'requests_in_progress'])
    await until(
      () => sample(name),
      (count) => count === 0,
    );
});

describe('requests that are pipelined behind each other', () => {
  const requests = (from: number, to: number, extra = '') =>
    Array.from({ length: to - from }, (_, index) => {
      const id = `x-request-id: ${from + index}`;
      return `GET /api/v1/agents HTTP/1.1\r\nHost: x\r\nX-API-Key: regular\r\n${id}\r\n${extra}\r\n`;
    }).join('');
  const numbers = (to: number) => Array.from({ length: to }, (_, index) => String(index));

  /** Collects the ids of the replies that come on a connection, in their order. */
  function replies(connection: net.Socket): string[] {
    const ids: string[] = [];
    let rest = '';
    connection.on('data', (chunk) => {
      const lines = (rest + chunk.toString('latin1')).split('\r\n');
      rest = lines.pop() ?? '';
      for (const line of lines) if (line.startsWith('x-request-id: ')) ids.push(line.slice(14));
    });
    return ids;
  }

  it.each([1, 0])('are all answered in order after %i on their own', async (alone) => {
    await start();
    const connection = socket();
    const ids = replies(connection);
    if (alone > 0) {
      connection.write(requests(0, alone));
      await until(
        () => ids.length,
        (count) => count === alone,
      );
    }
    connection.write(requests(alone, 300));
    await until(
      () => ids.length,
      (count) => count === 300,
    );
    connection.write(requests(300, 600));
    await until(
      () => ids.length,
      (count) => count === 600,
    );
    expect(ids).toEqual(numbers(600));
  });

  it('are left alone behind one that ends the connection', async () => {
    await start();
    const connection = socket();
    const ids = replies(connection);
    const tooManyHeaders = 'x-many: 1\r\n'.repeat(200);
    connection.write(requests(0, 40) + requests(40, 41, tooManyHeaders) + requests(41, 100));
    await new Promise((resolve) => connection.once('close', resolve));
    // Later versions of Node.js refuse such headers while they read them: then earlier replies are cut off, too.
    expect(ids).toEqual(numbers(ids.length));
    expect(ids.length).toBeLessThanOrEqual(40);
    expect(await sample('counted_calls')).toBe(0);
  });

  it('do not hold up the calls of another connection', async () => {
    await start();
    const flooding = socket();
    const ids = replies(flooding);
    flooding.write(requests(0, 500));
    await restClient(service.url, KEY)('POST', '/api/v1/evaluation', evaluation);
    expect(ids.length).toBeLessThan(500);
  });

  it.each([
    ['at once', false],
    ['after one on its own', true],
  ])(
    'are read in parts without a key, when they come %s: a key is served before them',
    async (_when, isLater) => {
      await start({
        SERVICE_PUBLIC_CALLS_PER_SECOND: '1000000',
        SERVICE_PUBLIC_CALLS_PER_SECOND_PER_ADDRESS: '1000000',
      });
      const one = 'GET /api/v1/agents HTTP/1.1\r\nHost: x\r\nx-request-id: 1\r\n\r\n';
      const flooding = Array.from({ length: 10 }, () => {
        const connection = socket();
        return { connection, ids: replies(connection) };
      });
      const answered = () => flooding.reduce((sum, { ids }) => sum + ids.length, 0);
      if (isLater) {
        for (const { connection } of flooding) connection.write(one);
        await until(answered, (count) => count === 10);
      }
      const before = answered();
      for (const { connection } of flooding) connection.write(one.repeat(1_000));
      await until(answered, (count) => count > before);
      expect(await evaluates()).toBe(true);
      expect(answered()).toBeLessThan(before + 5_000);
      await until(answered, (count) => count === before + 10_000);
    },
  );
});
