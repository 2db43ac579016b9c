import type { Message } from '@bufbuild/protobuf';
import { createContextKey, type HandlerContext } from '@connectrpc/connect';
import type { Credentials } from '../auth/request-credentials.js';
import type { Call } from '../call/call.js';
import { toConnectError } from '../wire/error-status.js';
import { acceptsGzip } from '../wire/gzip.js';
import type { JsonCopy } from '../wire/json-copy.js';
import type { EncodedReply, ReplyForm } from './encoded-replies.js';
import type { UnreadMessages } from './unread-messages.js';

/** A running RPC; created from the HTTP request, kept in the context values of Connect. */
export interface RpcCall {
  readonly call: Call;
  readonly credentials: Credentials;
  /** The request as received, if it is JSON; null for other encodings and for streams of messages. */
  readonly json: JsonCopy | null;
  /** What it runs on: the HTTP/2 session, or the socket. */
  readonly connection: object | undefined;
  /** Makes the headers of the response wait for its end. */
  readonly holdHeaders: () => void;
  /** The messages that Connect does not parse; undefined for an RPC that has no reader for them. */
  unread: UnreadMessages | undefined;
  /** The messages for which Connect was given empty ones, in order; those that are not sent yet. */
  readonly replies: EncodedReply[];
  /** The signal of Connect; undefined until the implementation runs. */
  signal: AbortSignal | undefined;
}

/** Key of the RpcCall in the context values. */
export const rpcCallKey = createContextKey<RpcCall | null>(null, {
  description: 'the call as the host sees it',
});

/** The RpcCall of a running implementation. */
export function rpcCallOf(context: HandlerContext): RpcCall {
  const call = context.values.get(rpcCallKey);
  if (call === null) throw new Error('an RPC ran outside the host');
  call.signal = context.signal;
  return call;
}

/** Writes what a call reported into the trailers. */
export function writeTrailers({ call }: RpcCall, context: HandlerContext): void {
  call.notes((name, value) => context.responseTrailer.set(name, value));
}

/** Headers with the compression of the messages of a response, by protocol. */
const ENCODINGS = ['grpc-encoding', 'connect-content-encoding'];

/** How the caller receives encoded replies. A reply of Connect that is no stream states its own compression. */
export function replyForm(
  { call, json }: RpcCall,
  { responseHeader, requestHeader }: HandlerContext,
): ReplyForm {
  const isWhole = call.protocol === 'connect' && !call.route.isEndless;
  return {
    isJson: json !== null,
    isCompressed: isWhole
      ? acceptsGzip(requestHeader.get('accept-encoding') ?? undefined)
      : ENCODINGS.some((name) => responseHeader.get(name) === 'gzip'),
  };
}

/** A unary RPC as a Connect implementation. */
export type UnaryImplementation = (request: Message, context: HandlerContext) => Promise<Message>;

/** Turns a function into a unary RPC, with time limit, error translation and outcome for the metrics. */
export function unaryRpc(
  run: (message: Message, call: Call, rpc: RpcCall, context: HandlerContext) => Message | Promise<Message>,
  isBulk?: boolean,
): UnaryImplementation {
  return async (message, context) => {
    const rpc = rpcCallOf(context);
    const { call } = rpc;
    try {
      // The deadline may already have passed.
      context.signal.throwIfAborted();
      const turn = call.turn(undefined, isBulk);
      if (turn !== undefined) await call.bound(turn);
      const reply = await call.bound(run(message, call, rpc, context));
      call.code = 'ok';
      return reply;
    } catch (error) {
      const status = toConnectError(error);
      call.failed(status, error);
      throw status;
    } finally {
      call.worked();
      writeTrailers(rpc, context);
    }
  };
}
