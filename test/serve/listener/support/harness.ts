import { EventEmitter } from 'node:events';
import type { IncomingHttpHeaders, IncomingMessage } from 'node:http';
import type { ClientHttp2Session, OutgoingHttpHeaders } from 'node:http2';
import type { AddressInfo, Socket } from 'node:net';
import { Readable } from 'node:stream';
import fastify, { type FastifyInstance } from 'fastify';
import type { ListenerLimits } from '../../../../src/serve/listener/limits.js';
import { createListener, type Listener } from '../../../../src/serve/listener/listener.js';
import type { ConnectionProblem, ConnectionProblemKind } from '../../../../src/serve/listener/problem.js';
import { answerClientError } from '../../../../src/serve/listener/wrong-protocol.js';
import { until } from '../../../support/until.js';
import { createDoor, type Door, event } from './events.js';
import type { Transport } from './transports.js';

export interface Harness {
  readonly app: FastifyInstance;
  readonly listener: Listener;
  readonly port: number;
  /** Where `/held` and `/streamed` wait. */
  readonly door: Door;
  /** Bytes `/flood` was asked for. */
  readonly flooded: () => number;
  /** The next problem of a kind, also when it has happened already. */
  problem(kind: ConnectionProblemKind): Promise<ConnectionProblem>;
  /** Resolves when the server has closed every connection it ever accepted. */
  allClosed(): Promise<void>;
  stop(): Promise<void>;
}

export interface HarnessOptions {
  readonly limits?: Partial<ListenerLimits>;
  /** How many requests have to wait before the door counts as reached. */
  readonly visitors?: number;
  readonly register?: (app: FastifyInstance) => Promise<void>;
}

const FLOOD_BYTES = 256 * 1024 * 1024;

export async function startHarness(transport: Transport, options: HarnessOptions = {}): Promise<Harness> {
  const problems: ConnectionProblem[] = [];
  const occurred = new EventEmitter();
  const listener = createListener({
    ...(transport.tls && { tls: transport.tls }),
    limits: { timeoutCheckIntervalMs: 20, ...options.limits },
    onProblem: (problem) => {
      problems.push(problem);
      occurred.emit(problem.kind, problem);
    },
  });
  const app = fastify({ serverFactory: listener.serverFactory, clientErrorHandler: answerClientError });
  const door = createDoor(options.visitors);
  let flooded = 0;

  app.get('/hello', async (request) => ({ protocol: request.protocol, version: request.raw.httpVersion }));
  app.post('/echo', async (request) => request.body);
  app.get('/held', async () => {
    await door.pass();
    return { held: true };
  });
  app.get('/streamed', async (_request, reply) => {
    const parts = async function* () {
      yield 'first,';
      await door.pass();
      yield 'last';
    };
    return reply.type('text/plain').send(Readable.from(parts()));
  });
  app.get('/flood', async (_request, reply) => {
    const chunk = Buffer.alloc(65_536, 'x');
    const source = new Readable({
      read() {
        flooded += chunk.length;
        this.push(flooded > FLOOD_BYTES ? null : chunk);
      },
    });
    return reply.type('application/octet-stream').send(source);
  });
  await options.register?.(app);

  const open = new Set<Socket>();
  app.server.on('connection', (socket: Socket) => {
    open.add(socket);
    socket.once('close', () => open.delete(socket));
  });
  await app.listen({ port: 0, host: '127.0.0.1' });

  return {
    app,
    listener,
    port: (app.server.address() as AddressInfo).port,
    door,
    flooded: () => flooded,
    problem: async (kind) => problems.find((problem) => problem.kind === kind) ?? event(occurred, kind),
    allClosed: async () => {
      await Promise.all([...open].map((socket) => event(socket, 'close')));
    },
    stop: async () => {
      door.open();
      await listener.drain({ graceMs: 0 });
      await app.close();
    },
  };
}

export interface Answer {
  readonly status: number;
  readonly headers: IncomingHttpHeaders;
  readonly body: string;
}

/** One HTTP/1.1 request on a connection of its own. */
export async function requestHttp1(transport: Transport, port: number, path: string): Promise<Answer> {
  const request = transport.request(port, { path, agent: false });
  request.end();
  const response = await new Promise<IncomingMessage>((resolve, reject) => {
    request.once('response', resolve);
    request.once('error', reject);
  });
  let body = '';
  for await (const chunk of response) body += chunk;
  return { status: response.statusCode ?? 0, headers: response.headers, body };
}

/** One request on an HTTP/2 session; rejects when its stream is reset. */
export function requestHttp2(
  session: ClientHttp2Session,
  headers: OutgoingHttpHeaders,
  body?: string,
): Promise<Answer> {
  const stream = session.request(headers);
  stream.end(body);
  return new Promise((resolve, reject) => {
    let answered: IncomingHttpHeaders & { ':status'?: number | undefined } = {};
    let received = '';
    stream.once('response', (response) => {
      answered = response;
    });
    stream.on('data', (chunk) => {
      received += chunk;
    });
    stream.once('end', () => {
      if (answered[':status'] === undefined) return;
      resolve({ status: answered[':status'], headers: answered, body: received });
    });
    stream.once('error', reject);
    stream.once('close', () => reject(new Error(`stream closed with code ${stream.rstCode}`)));
  });
}

/**
 * Throws unless the server still serves new clients of both protocols. For the short limits of a test, a busy machine
 * may make these clients slow ones, too: what is refused is tried again.
 */
export async function expectStillServing(transport: Transport, port: number): Promise<void> {
  await answeredInTheEnd(() => requestHttp1(transport, port, '/hello'));
  await answeredInTheEnd(async () => {
    const session = transport.connectHttp2(port);
    session.on('error', () => {});
    try {
      return await requestHttp2(session, { ':path': '/hello' });
    } finally {
      session.close();
    }
  });
}

/** Asks until the answer is 200. */
export async function answeredInTheEnd(ask: () => Promise<Answer>): Promise<void> {
  await until(
    () =>
      ask().then(
        ({ status }) => status,
        (error: unknown) => String(error),
      ),
    (outcome) => outcome === 200,
  );
}
