import { once } from 'node:events';
import { create, fromBinary, toBinary } from '@bufbuild/protobuf';
import { Client, credentials, Metadata } from '@grpc/grpc-js';
import { Stage } from '../../gen/proto/enforcement/v1/control_pb.js';
import {
  type EvaluateRequest,
  EvaluateRequestSchema,
  EvaluateResponseSchema,
  EvaluateStreamRequestSchema,
  EvaluateStreamResponseSchema,
  EvaluationService,
} from '../../gen/proto/enforcement/v1/evaluation_service_pb.js';
import { exchange } from '../support/http.js';

/** What is evaluated, and by whom; a control denies it. */
export interface Evaluation {
  readonly url: string;
  readonly agentName: string;
  readonly key: string;
  readonly step: object;
}

const { evaluate, evaluateStream } = EvaluationService.method;
const EVALUATE = `/${EvaluationService.typeName}/${evaluate.name}`;
const EVALUATE_STREAM = `/${EvaluationService.typeName}/${evaluateStream.name}`;

/**
 * One evaluation in each framing, on a connection of its own. Rejects if it fails. Bodies over HTTP/1.1 have a length,
 * as those of browsers have; the client of Connect for Node.js sends them in chunks.
 */
export const FRAMINGS = {
  'Unary over gRPC': (evaluation) =>
    overGrpc(
      evaluation,
      (client, metadata) =>
        new Promise((resolve, reject) => {
          const encode = (request: EvaluateRequest) => Buffer.from(toBinary(EvaluateRequestSchema, request));
          const decode = (bytes: Buffer) => fromBinary(EvaluateResponseSchema, bytes);
          client.makeUnaryRequest(EVALUATE, encode, decode, requestOf(evaluation), metadata, (error) =>
            error === null ? resolve() : reject(error),
          );
        }),
    ),
  'A stream of gRPC': (evaluation) =>
    overGrpc(evaluation, async (client, metadata) => {
      const message = create(EvaluateStreamRequestSchema, {
        id: 'only',
        evaluations: [requestOf(evaluation)],
      });
      const encode = () => Buffer.from(toBinary(EvaluateStreamRequestSchema, message));
      const decode = (bytes: Buffer) => fromBinary(EvaluateStreamResponseSchema, bytes);
      const stream = client.makeBidiStreamRequest(EVALUATE_STREAM, encode, decode, metadata);
      const replied = once(stream, 'data');
      stream.end(message);
      const [reply] = await replied;
      if (reply.results[0]?.outcome.case !== 'verdict') throw new Error('the evaluation failed');
      await once(stream, 'status');
    }),
  'Unary over gRPC-Web': (evaluation) => {
    const message = toBinary(EvaluateRequestSchema, requestOf(evaluation));
    const prefix = Buffer.alloc(5);
    prefix.writeUInt32BE(message.length, 1);
    return overHttp1(evaluation, EVALUATE, 'application/grpc-web+proto', Buffer.concat([prefix, message]));
  },
  'Unary over Connect': (evaluation) => {
    const stepJson = Buffer.from(JSON.stringify(evaluation.step)).toString('base64');
    const request = { agentName: evaluation.agentName, stage: 'STAGE_PRE', stepJson };
    return overHttp1(evaluation, EVALUATE, 'application/json', JSON.stringify(request));
  },
  'Over REST': (evaluation) => {
    const request = { agent_name: evaluation.agentName, stage: 'pre', step: evaluation.step };
    return overHttp1(evaluation, '/api/v1/evaluation', 'application/json', JSON.stringify(request));
  },
} satisfies Record<string, (evaluation: Evaluation) => Promise<void>>;

export type FramingName = keyof typeof FRAMINGS;

function requestOf({ agentName, step }: Evaluation): EvaluateRequest {
  return create(EvaluateRequestSchema, {
    agentName,
    stage: Stage.PRE,
    stepForm: { case: 'stepJson', value: Buffer.from(JSON.stringify(step)) },
  });
}

async function overGrpc(
  { url, key }: Evaluation,
  call: (client: Client, metadata: Metadata) => Promise<void>,
): Promise<void> {
  const client = new Client(new URL(url).host, credentials.createInsecure(), {
    'grpc.use_local_subchannel_pool': 1,
  });
  const metadata = new Metadata();
  metadata.set('x-api-key', key);
  try {
    await call(client, metadata);
  } finally {
    client.close();
  }
}

async function overHttp1(
  { url, key }: Evaluation,
  path: string,
  type: string,
  body: Buffer | string,
): Promise<void> {
  const headers = { 'content-type': type, 'x-api-key': key };
  const reply = await exchange(url, { method: 'POST', path, headers, body });
  if (reply.status !== 200 || !reply.body.includes('no-bad-words')) throw new Error(reply.text);
}
