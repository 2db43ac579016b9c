import http2 from 'node:http2';
import type { AddressInfo, Socket } from 'node:net';
import { create, fromBinary, toBinary } from '@bufbuild/protobuf';
import {
  EvaluateRequestSchema,
  EvaluateStreamRequestSchema,
  type EvaluateStreamResponse,
  EvaluateStreamResponseSchema,
  EvaluationService,
} from '../../../gen/proto/enforcement/v1/evaluation_service_pb.js';
import type { Metrics } from '../../../src/app/operations/metrics.js';
import type { RevisedVerdict } from '../../../src/decide/decisions/revised-verdict.js';
import { createKeyReader } from '../../../src/serve/auth/key-reader.js';
import type { LongStreams } from '../../../src/serve/call/long-streams.js';
import { rpcMethods } from '../../../src/serve/descriptors/rpc-methods.js';
import { createEvaluationCalls } from '../../../src/serve/evaluation/evaluation-calls.js';
import { createGrpcLane } from '../../../src/serve/lane/grpc-lane.js';
import { createRunningCalls } from '../../../src/serve/lane/lane-environment.js';
import { createStreamNames } from '../../../src/serve/routing/open-streams.js';
import { directCodec } from '../../../src/serve/wire/direct-codec.js';
import { NO_FAILURES } from '../../support/failures.js';
import { agelessStreams, NO_WITHDRAWALS } from '../../support/long-streams.js';
import { createQuietMetrics } from '../../support/metrics.js';
import { NO_HEAVY_STEPS } from '../../support/no-heavy-steps.js';
import { type OpenAdmissionOptions, openAdmission } from '../../support/open-admission.js';
import { framed } from './exchange.js';

const SERVICE = '/enforcement.v1.EvaluationService';
export const MAX_BYTES = 1_048_576;

export const SAFE: RevisedVerdict = {
  is_safe: true,
  confidence: 1,
  reason: null,
  matches: [],
  errors: [],
  non_matches: [],
  selected_controls: 0,
  evaluated_controls: 0,
  skipped_controls: 0,
  revision: 1,
  staleness_seconds: null,
  schema_mismatch: null,
  outcome: 'allow',
  decision_id: '9a0e7d3a-7e0e-4c55-8f2a-4dbe2f110b8f',
};

/** What stands for the evaluation: it gets the name of the step. */
export type Evaluate = (
  step: string,
  header: (name: string) => string | undefined,
  signal: () => AbortSignal,
) => RevisedVerdict | Promise<RevisedVerdict>;

export interface LaneHarness {
  readonly url: string;
  readonly metrics: Metrics;
  readonly logged: object[];
  /** Bytes of unfinished messages on all connections. */
  heldBytes(): number;
  /** Streams that the lane left alone. */
  readonly left: http2.IncomingHttpHeaders[];
  readonly shutdown: AbortController;
  readonly longStreams: LongStreams;
  session(options?: http2.ClientSessionOptions): http2.ClientHttp2Session;
  stop(): Promise<void>;
}

/** The lane on a bare HTTP/2 server, over an evaluation of the test's own. */
export async function startLane(
  evaluate: Evaluate,
  requestTimeoutMs = 600_000,
  options: OpenAdmissionOptions = {},
  longStreams = agelessStreams(),
): Promise<LaneHarness> {
  const logged: object[] = [];
  const left: http2.IncomingHttpHeaders[] = [];
  const streams = createStreamNames([EvaluationService], '/api/v1');
  const metrics = createQuietMetrics('test', streams);
  const shutdown = new AbortController();
  const { admission, entrance } = openAdmission(options);
  const log = (facts: object, message: string): void => void logged.push({ ...facts, message });
  const lane = createGrpcLane({
    calls: createEvaluationCalls(
      {
        evaluate: ({ step }, _detail, caller) =>
          evaluate(
            step.name,
            (name) => caller.header(name),
            () => caller.signal,
          ),
      },
      'refuse',
    ),
    heavySteps: NO_HEAVY_STEPS,
    codec: directCodec,
    metrics,
    log: { debug: log, info: log, warn: log, error: log },
    failures: NO_FAILURES,
    logsCalls: true,
    keyReader: createKeyReader(),
    version: '0.0.0',
    admission,
    entrance,
    policies: [],
    withdrawals: NO_WITHDRAWALS,
    requestTimeoutMs,
    maxMessageBytes: MAX_BYTES,
    methods: new Map(rpcMethods(EvaluationService).map((method) => [method.desc.name, method])),
    running: createRunningCalls(shutdown.signal),
    longStreams,
  });
  const server = http2.createServer();
  server.on('session', (session) => {
    const peer = admission.connect(session.socket as Socket);
    if (peer !== undefined) admission.recognize(session, peer);
  });
  server.on('stream', ((
    stream: http2.ServerHttp2Stream,
    headers: http2.IncomingHttpHeaders,
    _: number,
    raw: string[],
  ) => {
    stream.on('error', () => {});
    if (lane(stream, headers, raw)) return;
    left.push(headers);
    stream.respond({ ':status': 404 }, { endStream: true });
  }) as never);
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  const sessions: http2.ClientHttp2Session[] = [];
  return {
    url,
    metrics,
    logged,
    heldBytes: () => admission.heldBytes,
    left,
    shutdown,
    longStreams,
    session(options) {
      const session = http2.connect(url, options);
      session.on('error', () => {});
      sessions.push(session);
      return session;
    },
    async stop() {
      for (const session of sessions) session.destroy();
      await new Promise((resolve) => server.close(resolve));
    },
  };
}

/** A call as a client sees it. */
export interface LaneClient {
  readonly stream: http2.ClientHttp2Stream;
  readonly ids: string[];
  readonly sizes: number[];
  readonly replies: EvaluateStreamResponse[];
  /** Everything it got in bytes. */
  received(): Buffer;
  /** The status and how the stream closed. */
  readonly ended: Promise<{ status: string | undefined; message: string | undefined; rstCode: number }>;
}

export function open(
  session: http2.ClientHttp2Session,
  rpc: 'Evaluate' | 'EvaluateBatch' | 'EvaluateStream',
  headers: http2.OutgoingHttpHeaders = {},
): LaneClient {
  const stream = session.request({
    ':method': 'POST',
    ':path': `${SERVICE}/${rpc}`,
    'content-type': 'application/grpc',
    ...headers,
  });
  const ids: string[] = [];
  const sizes: number[] = [];
  const replies: EvaluateStreamResponse[] = [];
  let all = Buffer.alloc(0);
  let rest = Buffer.alloc(0);
  let trailers: http2.IncomingHttpHeaders = {};
  stream.on('error', () => {});
  // A reply without messages has its status in the headers.
  stream.on('response', (found) => {
    if (found['grpc-status'] !== undefined) trailers = found;
  });
  stream.on('trailers', (found) => {
    trailers = found;
  });
  if (rpc === 'EvaluateStream') {
    stream.on('data', (chunk: Buffer) => {
      rest = Buffer.concat([rest, chunk]);
      while (rest.length >= 5 && rest.length >= 5 + rest.readUInt32BE(1)) {
        const end = 5 + rest.readUInt32BE(1);
        const reply = fromBinary(EvaluateStreamResponseSchema, rest.subarray(5, end));
        replies.push(reply);
        ids.push(reply.id);
        sizes.push(reply.results.length);
        rest = rest.subarray(end);
      }
    });
  } else {
    stream.on('data', (chunk: Buffer) => {
      all = Buffer.concat([all, chunk]);
    });
  }
  const ended = new Promise<Awaited<LaneClient['ended']>>((resolve) =>
    stream.once('close', () =>
      resolve({
        status: trailers['grpc-status'] as string | undefined,
        message: trailers['grpc-message'] as string | undefined,
        rstCode: stream.rstCode,
      }),
    ),
  );
  return { stream, ids, sizes, replies, received: () => all, ended };
}

function evaluationOf(step: string) {
  const json = JSON.stringify({ type: 'llm', name: step, input: 'x' });
  return {
    agentName: 'laned-agent-1',
    stage: 1,
    stepForm: { case: 'stepJson', value: Buffer.from(json) },
  } as const;
}

/** A unary request for a step of this name. */
export function unaryMessage(step: string): Buffer {
  return framed(toBinary(EvaluateRequestSchema, create(EvaluateRequestSchema, evaluationOf(step))));
}

/** A stream message whose id is the name of its steps. */
export function streamMessage(step: string, evaluations = 1): Buffer {
  const message = create(EvaluateStreamRequestSchema, {
    id: step,
    evaluations: Array(evaluations).fill(evaluationOf(step)),
  });
  return framed(toBinary(EvaluateStreamRequestSchema, message));
}

/** A stream message that cancels those with this id; with evaluations, which is refused, if told so. */
export function cancelMessage(id: string, evaluations = 0): Buffer {
  const message = create(EvaluateStreamRequestSchema, {
    id,
    evaluations: Array(evaluations).fill(evaluationOf('now')),
    cancel: true,
  });
  return framed(toBinary(EvaluateStreamRequestSchema, message));
}
