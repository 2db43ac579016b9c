import { create, fromBinary, toBinary } from '@bufbuild/protobuf';
import { Code, ConnectError, createClient } from '@connectrpc/connect';
import { Client, credentials, type ServiceError } from '@grpc/grpc-js';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import {
  AgentService,
  WatchControlsRequestSchema,
} from '../../../gen/proto/enforcement/v1/agent_service_pb.js';
import { Stage } from '../../../gen/proto/enforcement/v1/control_pb.js';
import {
  EvaluateStreamRequestSchema,
  EvaluateStreamResponseSchema,
  EvaluationService,
} from '../../../gen/proto/enforcement/v1/evaluation_service_pb.js';
import { openRestConnection, type RestClient } from '../../support/http.js';
import { openedInTest } from '../../support/opened.js';
import { metric, parseMetrics } from '../../support/prometheus.js';
import {
  BIDI_PROTOCOLS,
  RPC_PROTOCOLS,
  type RpcProtocol,
  rpcTransport,
} from '../../support/rpc-transports.js';
import { seeder } from '../../support/seed.js';
import { compiled, type ServiceProcess, spawnService } from '../../support/service-process.js';
import { until } from '../../support/until.js';
import { killIfThere, workersOf } from './support/workers.js';

const AGENT = 'streamed-agent';
const QUESTION = create(EvaluateStreamRequestSchema, {
  id: 'question',
  evaluations: [
    {
      agentName: AGENT,
      stage: Stage.PRE,
      stepForm: {
        case: 'stepJson',
        value: new TextEncoder().encode(JSON.stringify({ type: 'llm', name: 'answer', input: 'word' })),
      },
    },
  ],
});

/** A stream on a connection of its own. */
interface OpenStream {
  /** Messages so far. */
  received(): number;
  /** Sends another question, if that is how messages come. */
  ask(): void;
  /** The status with which it ended; undefined when it ended well. */
  readonly ended: Promise<number | undefined>;
  stop(): void;
}

type Open = (service: ServiceAddress) => OpenStream;
interface ServiceAddress {
  readonly url: string;
}

/** Questions whenever they are asked. */
function questions(signal: AbortSignal) {
  let due = 0;
  let wake = (): void => {};
  signal.addEventListener('abort', () => wake());
  async function* messages() {
    while (!signal.aborted) {
      if (due === 0) await new Promise<void>((resolve) => (wake = resolve));
      for (; due > 0; due -= 1) yield QUESTION;
    }
  }
  return {
    messages,
    ask() {
      due += 1;
      wake();
    },
  };
}

/** Reads a stream of Connect's client to its end. */
function reading(
  replies: (signal: AbortSignal) => AsyncIterable<unknown>,
  ask: () => void,
  abort: AbortController,
): OpenStream {
  let received = 0;
  const read = async (): Promise<number | undefined> => {
    try {
      for await (const _reply of replies(abort.signal)) received += 1;
      return undefined;
    } catch (error) {
      return ConnectError.from(error).code;
    }
  };
  return { received: () => received, ask, ended: read(), stop: () => abort.abort() };
}

const connectWatch =
  (protocol: RpcProtocol): Open =>
  ({ url }) => {
    const client = createClient(AgentService, rpcTransport(protocol, url));
    return reading(
      (signal) => client.watchControls({ agentName: AGENT }, { signal }),
      () => {},
      new AbortController(),
    );
  };

const connectEvaluate =
  (protocol: RpcProtocol): Open =>
  ({ url }) => {
    const client = createClient(EvaluationService, rpcTransport(protocol, url));
    const abort = new AbortController();
    const { messages, ask } = questions(abort.signal);
    return reading((signal) => client.evaluateStream(messages(), { signal }), ask, abort);
  };

/** A client of grpc-js with a connection of its own: by default they share one. */
function grpcJs(url: string): Client {
  return new Client(new URL(url).host, credentials.createInsecure(), { 'grpc.use_local_subchannel_pool': 1 });
}

const asIs = (bytes: Buffer): Buffer => bytes;

function listening(
  call: NodeJS.EventEmitter & { cancel(): void },
  client: Client,
  ask: () => void,
): OpenStream {
  let received = 0;
  call.on('data', () => {
    received += 1;
  });
  const ended = new Promise<number | undefined>((resolve) => {
    call.once('error', (error: ServiceError) => resolve(error.code));
    call.once('end', () => resolve(undefined));
  });
  return {
    received: () => received,
    ask,
    ended,
    stop() {
      call.cancel();
      client.close();
    },
  };
}

const grpcJsWatch: Open = ({ url }) => {
  const client = grpcJs(url);
  const request = create(WatchControlsRequestSchema, { agentName: AGENT });
  const call = client.makeServerStreamRequest(
    '/enforcement.v1.AgentService/WatchControls',
    asIs,
    asIs,
    Buffer.from(toBinary(WatchControlsRequestSchema, request)),
  );
  return listening(call, client, () => {});
};

const grpcJsEvaluate: Open = ({ url }) => {
  const client = grpcJs(url);
  const call = client.makeBidiStreamRequest(
    '/enforcement.v1.EvaluationService/EvaluateStream',
    asIs,
    (bytes) => fromBinary(EvaluateStreamResponseSchema, bytes),
  );
  const question = Buffer.from(toBinary(EvaluateStreamRequestSchema, QUESTION));
  return listening(call, client, () => call.write(question));
};

/**
 * The status is what each client library makes of a broken connection. The libraries of gRPC say UNAVAILABLE; Connect's
 * for Node.js takes it for a stream that was reset, over HTTP/1.1 for a call that was aborted.
 */
const brokenConnection = (protocol: RpcProtocol): Code =>
  protocol.endsWith('HTTP/1.1') ? Code.Aborted : Code.Canceled;

const KINDS: readonly (readonly [name: string, code: Code, open: Open])[] = [
  ['WatchControls by grpc-js', Code.Unavailable, grpcJsWatch],
  ['EvaluateStream by grpc-js', Code.Unavailable, grpcJsEvaluate],
  ...RPC_PROTOCOLS.map(
    (one) => [`WatchControls by connect-node over ${one}`, brokenConnection(one), connectWatch(one)] as const,
  ),
  ...BIDI_PROTOCOLS.map(
    (one) =>
      [`EvaluateStream by connect-node over ${one}`, brokenConnection(one), connectEvaluate(one)] as const,
  ),
];

describe('the streams of a worker that is killed', () => {
  let service: ServiceProcess;
  let url: string;
  let seed: ReturnType<typeof seeder>;
  const streams = openedInTest<OpenStream>((one) => one.stop());
  beforeAll(async () => {
    service = await spawnService(compiled, { environment: { SERVICE_WORKERS: '2' } });
    url = await service.listening();
    seed = seeder(callOnce);
    await seed.agent(AGENT);
  });
  afterAll(() => service.dispose());

  /** Over a connection of its own: one that is kept might be to the worker that is killed. */
  const callOnce: RestClient = async (...words) => {
    const connection = await openRestConnection(url);
    try {
      return await connection.call(...words);
    } finally {
      connection.close();
    }
  };

  async function measured(name: string, labels: Record<string, string> = {}): Promise<number> {
    const { body } = await callOnce('GET', '/metrics');
    return metric(parseMetrics(body), `control_enforcement_server_${name}`, labels);
  }
  const openStreams = (rpc?: string) => measured('streams_open', rpc === undefined ? {} : { rpc });

  it('end, with UNAVAILABLE for the clients of gRPC, and those of the other continue', async () => {
    const pairs = new Map<string, OpenStream[]>();
    for (const [name, , open] of KINDS) {
      const pair: OpenStream[] = [];
      pairs.set(name, pair);
      // One after the other: connections are dealt out in turn, so each worker gets one.
      for (let count = 0; count < 2; count += 1) {
        const stream = open({ url });
        pair.push(stream);
        streams.push(stream);
        stream.ask();
        await until(stream.received, (messages) => messages > 0);
      }
    }
    expect(await openStreams()).toBe(streams.length);
    expect(await openStreams('enforcement.v1.EvaluationService/EvaluateStream')).toBe(6);

    const [victim = 0] = await workersOf(service);
    killIfThere(victim);
    const ends: Record<string, Code | undefined> = {};
    const others: OpenStream[] = [];
    for (const [name, pair] of pairs) {
      const { stream, status } = await Promise.race(
        pair.map((one) => one.ended.then((status) => ({ stream: one, status }))),
      );
      ends[name] = status;
      others.push(...pair.filter((one) => one !== stream));
    }
    expect(ends).toEqual(Object.fromEntries(KINDS.map(([name, code]) => [name, code])));

    const heard = others.map((stream) => stream.received());
    for (const stream of others) stream.ask();
    await seed.link(AGENT, await seed.control('late'));
    for (const [index, stream] of others.entries()) {
      await until(stream.received, (messages) => messages > (heard[index] ?? 0));
    }
    expect(
      await until(
        () => openStreams(),
        (count) => count === others.length,
      ),
    ).toBe(KINDS.length);
    for (const stream of others) stream.stop();
    await until(
      () => openStreams(),
      (count) => count === 0,
    );
    await until(
      () => measured('workers'),
      (count) => count === 2,
    );
  });
});
