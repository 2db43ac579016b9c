import { once } from 'node:events';
import { createServer, type Http2Session } from 'node:http2';
import type { AddressInfo } from 'node:net';
import { create, type MessageInitShape } from '@bufbuild/protobuf';
import { durationFromMs } from '@bufbuild/protobuf/wkt';
import { Code, ConnectError, type HandlerContext } from '@connectrpc/connect';
import { connectNodeAdapter } from '@connectrpc/connect-node';
import { Decision } from '../../gen/proto/enforcement/v1/control_pb.js';
import {
  type EvaluateRequest,
  type EvaluateStreamRequest,
  EvaluateStreamResponseSchema,
  EvaluationService,
  Outcome,
} from '../../gen/proto/enforcement/v1/evaluation_service_pb.js';
import { ServerService } from '../../gen/proto/enforcement/v1/server_service_pb.js';
import { ErrorInfoSchema } from '../../gen/proto/google/rpc/error_details_pb.js';

type Reply = MessageInitShape<typeof EvaluateStreamResponseSchema>;

/** One EvaluateStream as the service sees it. */
export interface ServedStream {
  /** Number of the connection, from 0. */
  readonly connection: number;
  readonly context: HandlerContext;
  /** Ids of the messages that were received and not answered. */
  readonly open: ReadonlySet<string>;
  /** Ids that were cancelled. */
  readonly cancelled: readonly string[];
  /** Whether the client has closed its side. */
  readonly isHalfClosed: boolean;
  /** Announces the end of the stream. */
  notice(drainWithinMs: number): void;
  /** Answers what is open. */
  answer(): void;
  /** Ends the stream with an error. */
  fail(error: ConnectError): void;
}

/** Evaluates as the service does, over HTTP/2, and drains when it is told to. */
export interface ScriptedService {
  readonly url: string;
  readonly streams: ServedStream[];
  readonly connections: Http2Session[];
  /** Every evaluation received, in order. */
  readonly evaluations: EvaluateRequest[];
  /** Headers of each call. */
  readonly headers: Headers[];
  /** Whether messages are answered as they arrive; otherwise `answer` does. */
  answers: boolean;
  close(): void;
}

/** An error as a service that stops ends its streams with. */
export function drainingError(): ConnectError {
  const detail = { desc: ErrorInfoSchema, value: { reason: 'DRAINING', domain: 'enforcement' } };
  return new ConnectError('the server is shutting down', Code.Unavailable, undefined, [detail]);
}

/** Denies the steps whose input contains `bad`. */
export function verdictOf({ stepForm }: EvaluateRequest) {
  const text = stepForm.case === 'stepJson' ? Buffer.from(stepForm.value).toString() : '';
  const isBad = text.includes('"bad"');
  return {
    isSafe: !isBad,
    confidence: 1,
    outcome: isBad ? Outcome.DENY : Outcome.ALLOW,
    matches: isBad ? [{ controlName: 'no-bad', action: Decision.DENY, result: { matched: true } }] : [],
  };
}

export async function startScriptedService(): Promise<ScriptedService> {
  const streams: ServedStream[] = [];
  const connections: Http2Session[] = [];
  const evaluations: EvaluateRequest[] = [];
  const headers: Headers[] = [];

  const resultsOf = (given: readonly EvaluateRequest[]) =>
    given.map((one) => ({ outcome: { case: 'verdict' as const, value: verdictOf(one) } }));

  async function* evaluateStream(requests: AsyncIterable<EvaluateStreamRequest>, context: HandlerContext) {
    headers.push(context.requestHeader);
    const outbox: (Reply | ConnectError)[] = [];
    let wake: () => void = () => {};
    const put = (reply: Reply | ConnectError): void => {
      outbox.push(reply);
      wake();
    };
    const open = new Map<string, EvaluateStreamRequest>();
    const cancelled: string[] = [];
    const reply = ({ id, evaluations: given }: EvaluateStreamRequest): void => {
      open.delete(id);
      put({ id, results: resultsOf(given) });
    };
    const stream = {
      connection: Number(context.requestHeader.get('x-connection')),
      context,
      get open() {
        return new Set(open.keys());
      },
      cancelled,
      isHalfClosed: false,
      notice: (ms: number) => put({ notice: { drainWithin: durationFromMs(ms) } }),
      answer() {
        for (const one of [...open.values()]) reply(one);
      },
      fail: put,
    };
    streams.push(stream);
    const reading = (async () => {
      for await (const message of requests) {
        if (message.cancel) {
          cancelled.push(message.id);
          continue;
        }
        evaluations.push(...message.evaluations);
        open.set(message.id, message);
        if (service.answers) reply(message);
      }
      stream.isHalfClosed = true;
      wake();
    })();
    reading.catch(() => {});
    for (;;) {
      const next = outbox.shift();
      if (next instanceof ConnectError) throw next;
      if (next !== undefined) yield create(EvaluateStreamResponseSchema, next);
      else if (stream.isHalfClosed && open.size === 0) return;
      else
        await new Promise<void>((resolve) => {
          wake = resolve;
        });
    }
  }

  const handler = connectNodeAdapter({
    routes: (router) => {
      router.service(ServerService, { getServerInfo: () => ({ features: ['stream_cancel'] }) });
      router.service(EvaluationService, {
        evaluateStream,
        evaluateBatch(request, context) {
          headers.push(context.requestHeader);
          evaluations.push(...request.evaluations);
          return { results: resultsOf(request.evaluations) };
        },
      });
    },
  });
  const server = createServer((request, response) => {
    const { session } = request.stream;
    if (session !== undefined) {
      if (!connections.includes(session)) connections.push(session);
      request.headers['x-connection'] = String(connections.indexOf(session));
    }
    handler(request, response);
  });
  await once(server.listen(0, '127.0.0.1'), 'listening');
  const service: ScriptedService = {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    streams,
    connections,
    evaluations,
    headers,
    answers: true,
    close() {
      server.close();
      for (const session of connections) session.destroy();
    },
  };
  return service;
}
