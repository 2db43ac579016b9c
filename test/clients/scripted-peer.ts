import { once } from 'node:events';
import { createServer, type Http2Session } from 'node:http2';
import type { AddressInfo } from 'node:net';
import { create, fromJson, type JsonValue } from '@bufbuild/protobuf';
import { anyPack, durationFromMs } from '@bufbuild/protobuf/wkt';
import { Code, ConnectError, type HandlerContext } from '@connectrpc/connect';
import { connectNodeAdapter } from '@connectrpc/connect-node';
import {
  EvaluateResponseSchema,
  type EvaluateStreamRequest,
  EvaluateStreamResponseSchema,
  type EvaluateStreamResult,
  EvaluateStreamResultSchema,
  EvaluationService,
} from '../../gen/proto/enforcement/v1/evaluation_service_pb.js';
import { ServerService } from '../../gen/proto/enforcement/v1/server_service_pb.js';
import { ErrorInfoSchema, RetryInfoSchema } from '../../gen/proto/google/rpc/error_details_pb.js';
import { type Status, StatusSchema } from '../../gen/proto/google/rpc/status_pb.js';

/** An error as a script says it. */
export interface ScriptedError {
  readonly code: keyof typeof Code;
  readonly message?: string;
  readonly reason?: string;
  readonly hint?: string;
  readonly retryMs?: number;
}

/** What the peer does with one message. */
export type Reply =
  /** Answers each evaluation with this verdict, in the JSON form of the message; enums may be numbers. */
  | { readonly verdict: JsonValue }
  /** Answers each evaluation with this status. */
  | { readonly status: ScriptedError }
  /** Ends the stream or the call with this error. */
  | { readonly end: ScriptedError }
  /** Announces the end of the stream, and answers with this verdict nevertheless. */
  | { readonly notice: JsonValue }
  /** Breaks the connection; `silence` reads and never answers; `empty` answers without results. */
  | 'break'
  | 'silence'
  | 'empty';

/** A server of gRPC on a socket of its own, which answers by scripts: one for each agent. */
export interface ScriptedPeer {
  readonly url: string;
  /** The replies to the messages of an agent, one after the other, the last one again and again. */
  readonly scripts: Map<string, readonly Reply[]>;
  /** Keys that are accepted for an agent; any if there is no entry. */
  readonly keys: Map<string, readonly string[]>;
  /** Number of messages with evaluations of each agent. */
  readonly received: Map<string, number>;
  close(): void;
}

/** An error of a script, with the details that the service gives. */
function errorOf({
  code,
  message = 'as the script says',
  reason,
  hint,
  retryMs,
}: ScriptedError): ConnectError {
  const info = {
    desc: ErrorInfoSchema,
    value: {
      reason: reason ?? '',
      domain: 'control-enforcement',
      metadata: hint === undefined ? {} : { hint },
    },
  };
  const retry = { desc: RetryInfoSchema, value: { retryDelay: durationFromMs(retryMs ?? 0) } };
  const details = [...(reason === undefined ? [] : [info]), ...(retryMs === undefined ? [] : [retry])];
  return new ConnectError(message, Code[code], undefined, details);
}

/** The same as the status of one evaluation. */
function statusOf(scripted: ScriptedError): Status {
  const error = errorOf(scripted);
  const infos = error.findDetails(ErrorInfoSchema).map((one) => anyPack(ErrorInfoSchema, one));
  const retries = error.findDetails(RetryInfoSchema).map((one) => anyPack(RetryInfoSchema, one));
  return create(StatusSchema, {
    code: error.code,
    message: error.rawMessage,
    details: [...infos, ...retries],
  });
}

export async function startScriptedPeer(): Promise<ScriptedPeer> {
  const sessions = new Map<string, Http2Session>();
  const scripts = new Map<string, readonly Reply[]>();
  const keys = new Map<string, readonly string[]>();
  const received = new Map<string, number>();

  const next = (agent: string): Reply => {
    const count = received.get(agent) ?? 0;
    received.set(agent, count + 1);
    const script = scripts.get(agent) ?? [];
    const reply = script[Math.min(count, script.length - 1)];
    if (reply === undefined) throw new ConnectError(`no script for ${agent}`, Code.Internal);
    return reply;
  };
  const checkKey = (agent: string, context: HandlerContext): void => {
    const known = keys.get(agent);
    if (known === undefined || known.includes(context.requestHeader.get('x-api-key') ?? '')) return;
    throw errorOf({ code: 'Unauthenticated', message: 'the key is not known', reason: 'AUTH_INVALID_KEY' });
  };
  const breakConnection = (context: HandlerContext): void =>
    sessions.get(context.requestHeader.get('x-session') ?? '')?.destroy();

  async function* evaluateStream(requests: AsyncIterable<EvaluateStreamRequest>, context: HandlerContext) {
    for await (const { id, evaluations, cancel } of requests) {
      if (cancel) continue;
      const agent = evaluations[0]?.agentName ?? '';
      checkKey(agent, context);
      const reply = next(agent);
      if (reply === 'silence') continue;
      if (reply === 'break') {
        breakConnection(context);
        return;
      }
      if (typeof reply === 'object' && 'end' in reply) throw errorOf(reply.end);
      if (typeof reply === 'object' && 'notice' in reply)
        yield create(EvaluateStreamResponseSchema, { notice: { drainWithin: durationFromMs(10_000) } });
      yield create(EvaluateStreamResponseSchema, { id, results: evaluations.flatMap(() => resultOf(reply)) });
    }
  }

  const handler = connectNodeAdapter({
    routes: (router) => {
      router.service(ServerService, { getServerInfo: () => ({ features: ['stream_cancel'] }) });
      router.service(EvaluationService, {
        evaluateStream,
        async evaluateBatch({ evaluations }, context) {
          const agent = evaluations[0]?.agentName ?? '';
          checkKey(agent, context);
          const reply = next(agent);
          if (reply === 'break') breakConnection(context);
          if (reply === 'silence' || reply === 'break') await new Promise(() => {});
          if (typeof reply === 'object' && 'end' in reply) throw errorOf(reply.end);
          return { results: evaluations.flatMap(() => resultOf(reply)) };
        },
      });
    },
  });
  let count = 0;
  const server = createServer((request, response) => {
    const { session } = request.stream;
    if (session !== undefined) {
      let name = [...sessions].find(([, one]) => one === session)?.[0];
      if (name === undefined) {
        name = String(++count);
        sessions.set(name, session);
        session.on('error', () => {});
      }
      request.headers['x-session'] = name;
    }
    handler(request, response);
  });
  await once(server.listen(0, '127.0.0.1'), 'listening');
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    scripts,
    keys,
    received,
    close() {
      server.close();
      for (const session of sessions.values()) session.destroy();
    },
  };
}

/** The result of one evaluation; none for `empty`. */
function resultOf(reply: Reply): EvaluateStreamResult[] {
  if (typeof reply !== 'object' || 'end' in reply) return [];
  if ('status' in reply) {
    const outcome = { case: 'error' as const, value: statusOf(reply.status) };
    return [create(EvaluateStreamResultSchema, { outcome })];
  }
  const value = fromJson(EvaluateResponseSchema, 'notice' in reply ? reply.notice : reply.verdict);
  return [create(EvaluateStreamResultSchema, { outcome: { case: 'verdict', value } })];
}
