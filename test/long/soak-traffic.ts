import http2 from 'node:http2';
import { create, fromBinary, toBinary } from '@bufbuild/protobuf';
import { Stage } from '../../gen/proto/enforcement/v1/control_pb.js';
import {
  EvaluateBatchRequestSchema,
  EvaluateBatchResponseSchema,
  EvaluateRequestSchema,
  type EvaluateResponse,
  EvaluateResponseSchema,
  EvaluateStreamRequestSchema,
  type EvaluateStreamResponse,
  EvaluateStreamResponseSchema,
} from '../../gen/proto/enforcement/v1/evaluation_service_pb.js';
import { framed } from '../serve/lane/exchange.js';
import { restClient } from '../support/http.js';
import { evaluate } from '../support/seed.js';

const SERVICE = '/enforcement.v1.EvaluationService';

/** What a soak looks at in a verdict. */
export interface SoakVerdict {
  readonly input: string;
  readonly isSafe: boolean;
  readonly revision: number;
}

/** One call of a kind; rejects with anything that is no verdict. */
export type SoakCall = (input: string) => Promise<readonly SoakVerdict[]>;

export const SOAK_KINDS = ['unary', 'stream', 'batch', 'rest'] as const;
export type SoakKind = (typeof SOAK_KINDS)[number];

export interface SoakTraffic {
  readonly calls: Readonly<Record<SoakKind, SoakCall>>;
  close(): void;
}

/** Calls of every kind over connections that stay open. Plain frames, so that they cost the test little. */
export function createSoakTraffic(url: string, agentName: string, batchSize: number): SoakTraffic {
  const session = http2.connect(url);
  session.on('error', () => {});
  const rest = restClient(url);

  function evaluationOf(input: string) {
    const stepJson = Buffer.from(JSON.stringify({ type: 'llm', name: 'answer', input }));
    return create(EvaluateRequestSchema, {
      agentName,
      stage: Stage.PRE,
      stepForm: { case: 'stepJson', value: stepJson },
    });
  }
  const verdictOf = (input: string, { isSafe, revision, errors }: EvaluateResponse): SoakVerdict => {
    if (errors.length > 0) throw new Error(`a control could not be evaluated: ${errors[0]?.controlName}`);
    return { input, isSafe, revision: Number(revision) };
  };
  const request = (rpc: string) =>
    session.request({
      ':method': 'POST',
      ':path': `${SERVICE}/${rpc}`,
      'content-type': 'application/grpc',
      te: 'trailers',
    });

  function unary(rpc: string, message: Uint8Array): Promise<Buffer> {
    return new Promise((resolve, reject) => {
      const stream = request(rpc);
      const chunks: Buffer[] = [];
      let trailers: http2.IncomingHttpHeaders = {};
      stream.on('error', reject);
      stream.on('trailers', (found) => {
        trailers = found;
      });
      stream.on('data', (chunk: Buffer) => chunks.push(chunk));
      stream.once('close', () => {
        const status = trailers['grpc-status'];
        if (status === '0') resolve(Buffer.concat(chunks).subarray(5));
        else reject(new Error(`${rpc}: status ${status}, ${trailers['grpc-message']}`));
      });
      stream.end(framed(message));
    });
  }

  const waiting = new Map<string, (reply: EvaluateStreamResponse | Error) => void>();
  const long = request('EvaluateStream');
  let unread: Buffer = Buffer.alloc(0);
  long.on('error', () => {});
  long.on('data', (chunk: Buffer) => {
    unread = unread.length === 0 ? chunk : Buffer.concat([unread, chunk]);
    while (unread.length >= 5 && unread.length >= 5 + unread.readUInt32BE(1)) {
      const end = 5 + unread.readUInt32BE(1);
      const reply = fromBinary(EvaluateStreamResponseSchema, unread.subarray(5, end));
      waiting.get(reply.id)?.(reply);
      waiting.delete(reply.id);
      unread = unread.subarray(end);
    }
  });
  long.once('close', () => {
    for (const answer of waiting.values()) answer(new Error('the stream ended'));
    waiting.clear();
  });
  let lastId = 0;

  return {
    calls: {
      async unary(input) {
        const body = await unary('Evaluate', toBinary(EvaluateRequestSchema, evaluationOf(input)));
        return [verdictOf(input, fromBinary(EvaluateResponseSchema, body))];
      },
      async stream(input) {
        lastId += 1;
        const id = String(lastId);
        const answered = new Promise<EvaluateStreamResponse | Error>((resolve) => waiting.set(id, resolve));
        if (long.destroyed) throw new Error('the stream ended');
        const message = create(EvaluateStreamRequestSchema, { id, evaluations: [evaluationOf(input)] });
        long.write(framed(toBinary(EvaluateStreamRequestSchema, message)));
        const reply = await answered;
        if (reply instanceof Error) throw reply;
        return verdictsOf(reply.results, input, 1);
      },
      async batch(input) {
        const evaluations = Array.from({ length: batchSize }, () => evaluationOf(input));
        const message = create(EvaluateBatchRequestSchema, { evaluations });
        const body = await unary('EvaluateBatch', toBinary(EvaluateBatchRequestSchema, message));
        return verdictsOf(fromBinary(EvaluateBatchResponseSchema, body).results, input, batchSize);
      },
      async rest(input) {
        const { status, headers, body } = await evaluate(rest, agentName, input);
        if (status !== 200 || body.errors?.length > 0) throw new Error(`${status} ${JSON.stringify(body)}`);
        const revision = Number(headers.get('x-service-revision'));
        return [{ input, isSafe: body.is_safe, revision }];
      },
    },
    close() {
      session.destroy();
    },
  };

  function verdictsOf(
    results: EvaluateStreamResponse['results'],
    input: string,
    expected: number,
  ): SoakVerdict[] {
    if (results.length !== expected) throw new Error(`${results.length} results instead of ${expected}`);
    return results.map(({ outcome }) => {
      if (outcome.case !== 'verdict') throw new Error(`no verdict but ${outcome.case}`);
      return verdictOf(input, outcome.value);
    });
  }
}
