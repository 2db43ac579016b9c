import http from 'node:http';
import { create, toBinary } from '@bufbuild/protobuf';
import { Client, credentials, Metadata, type ServiceError } from '@grpc/grpc-js';
import { Stage } from '../../gen/proto/enforcement/v1/control_pb.js';
import { EvaluateRequestSchema } from '../../gen/proto/enforcement/v1/evaluation_service_pb.js';
import { until } from './until.js';

const RPC = '/enforcement.v1.EvaluationService/Evaluate';
const STEP = { type: 'llm', name: 'n', input: 'a bad thing' };
/** Flag and length before a message. */
const PREFIX = 5;
const TRAILERS = 0x80;

/** What clients of one protocol saw. */
export interface ClientsSeen {
  /** Evaluations that were answered with a verdict. */
  answered: number;
  /** Replies that announce the end of their connection. */
  closes: number;
  /** Everything that broke a call, other than that a new connection was refused. */
  readonly errors: string[];
}

/** Evaluates once. Rejects with the reason; one with `ECONNREFUSED` in it says that no connection could be made. */
type Call = () => Promise<{ readonly closes: boolean }>;
interface Caller {
  readonly call: Call;
  readonly close: () => void;
}

/** A client by protocol, each with one connection that it keeps. */
const CALLERS = {
  REST: (url: string, agentName: string) => {
    const body = JSON.stringify({ agent_name: agentName, stage: 'pre', step: STEP });
    return http1Caller(`${url}/api/v1/evaluation`, 'application/json', Buffer.from(body), () => true);
  },
  'gRPC-Web': (url: string, agentName: string) =>
    http1Caller(
      `${url}${RPC}`,
      'application/grpc-web+proto',
      framed(evaluateRequest(agentName)),
      hasOkTrailers,
    ),
  gRPC: (url: string, agentName: string) => grpcCaller(url, evaluateRequest(agentName)),
};

export type LoadProtocol = keyof typeof CALLERS;

/**
 * Clients that evaluate one step after the other until a new connection is refused. `stop` is called when each of them
 * is at work.
 */
export async function loadUntilRefused(options: {
  readonly url: string;
  readonly agentName: string;
  /** The number of clients of each protocol. */
  readonly clients: Readonly<Partial<Record<LoadProtocol, number>>>;
  /** Evaluations before the stop. */
  readonly answeredBefore: number;
  readonly stop: () => void;
}): Promise<Record<LoadProtocol, ClientsSeen>> {
  const none = (): ClientsSeen => ({ answered: 0, closes: 0, errors: [] });
  const seen: Record<LoadProtocol, ClientsSeen> = { REST: none(), 'gRPC-Web': none(), gRPC: none() };
  const firsts: Promise<void>[] = [];
  const all: Promise<void>[] = [];
  for (const [name, count] of Object.entries(options.clients)) {
    const protocol = name as LoadProtocol;
    for (let client = 0; client < count; client += 1) {
      const caller = CALLERS[protocol](options.url, options.agentName);
      const first = new Promise<void>((begun) => {
        all.push(callUntilRefused(caller, seen[protocol], begun));
      });
      firsts.push(first);
    }
  }
  await Promise.all(firsts);
  const answered = () => Object.values(seen).reduce((sum, one) => sum + one.answered, 0);
  await until(answered, (count) => count > options.answeredBefore);
  options.stop();
  await Promise.all(all);
  return seen;
}

async function callUntilRefused(
  { call, close }: Caller,
  seen: ClientsSeen,
  begun: () => void,
): Promise<void> {
  try {
    for (;;) {
      const { closes } = await call();
      if (closes) seen.closes += 1;
      seen.answered += 1;
      begun();
    }
  } catch (error) {
    const { code = '', message } = error as NodeJS.ErrnoException;
    if (!`${code} ${message}`.includes('ECONNREFUSED')) seen.errors.push(`${code} ${message}`);
  } finally {
    begun();
    close();
  }
}

function http1Caller(url: string, type: string, body: Buffer, isRight: (reply: Buffer) => boolean): Caller {
  const agent = new http.Agent({ keepAlive: true, maxSockets: 1 });
  const headers = { 'content-type': type, 'content-length': body.length };
  const call: Call = () =>
    new Promise((resolve, reject) => {
      const request = http.request(url, { method: 'POST', agent, headers });
      request.once('error', reject);
      request.once('response', (response) => {
        const chunks: Buffer[] = [];
        response.on('data', (chunk: Buffer) => chunks.push(chunk));
        response.once('error', reject).once('end', () => {
          const { statusCode } = response;
          if (statusCode !== 200) reject(new Error(`status ${statusCode}`));
          else if (!isRight(Buffer.concat(chunks))) reject(new Error('a reply that is no verdict'));
          else resolve({ closes: response.headers.connection === 'close' });
        });
      });
      request.end(body);
    });
  return { call, close: () => agent.destroy() };
}

/** Without a service config: only what gRPC itself sends again, because no server has seen it, is sent again. */
function grpcCaller(url: string, message: Buffer): Caller {
  const client = new Client(new URL(url).host, credentials.createInsecure(), {
    // A connection of its own.
    'grpc.use_local_subchannel_pool': 1,
  });
  const asIs = (bytes: Buffer) => bytes;
  const call: Call = () =>
    new Promise((resolve, reject) => {
      const done = (error: ServiceError | null) =>
        error === null ? resolve({ closes: false }) : reject(error);
      client.makeUnaryRequest(RPC, asIs, asIs, message, new Metadata(), done);
    });
  return { call, close: () => client.close() };
}

function evaluateRequest(agentName: string): Buffer {
  const stepForm = { case: 'stepJson' as const, value: Buffer.from(JSON.stringify(STEP)) };
  const request = create(EvaluateRequestSchema, { agentName, stage: Stage.PRE, stepForm });
  return Buffer.from(toBinary(EvaluateRequestSchema, request));
}

function framed(message: Buffer): Buffer {
  const prefix = Buffer.alloc(PREFIX);
  prefix.writeUInt32BE(message.length, 1);
  return Buffer.concat([prefix, message]);
}

/** Whether a reply of gRPC-Web is a message followed by trailers with status OK. */
function hasOkTrailers(reply: Buffer): boolean {
  const trailersAt = PREFIX + reply.readUInt32BE(1);
  const trailers = reply.toString('latin1', trailersAt + PREFIX);
  return reply[trailersAt] === TRAILERS && /^grpc-status: *0\r?$/m.test(trailers);
}
