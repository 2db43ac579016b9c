import type { Message } from '@bufbuild/protobuf';
import { Code, type HandlerContext } from '@connectrpc/connect';
import type { CallContext } from '../../contract/call/handler.js';
import { untilAborted } from '../../contract/call/until-aborted.js';
import type { RpcMethod } from '../descriptors/rpc-methods.js';
import { correctedDecodeError } from '../wire/message-errors.js';
import { callContextOf, type RpcCall, rpcCallOf } from './rpc-call.js';
import { logRpcError, type RpcEnvironment, rpcError, turnOf } from './unary.js';

/** A server-streaming RPC as a Connect implementation. */
export type StreamImplementation = (request: Message, context: HandlerContext) => AsyncIterable<Message>;

/** A client-streaming RPC as a Connect implementation. */
export type CollectImplementation = (
  requests: AsyncIterable<Message>,
  context: HandlerContext,
) => Promise<Message>;

/**
 * Turns an iterable into the reply of an RPC, with error translation and outcome for the metrics. The only
 * time limit is the caller's deadline, because such streams are long-lived.
 */
export function streamRpc(
  method: RpcMethod,
  environment: RpcEnvironment,
  run: (message: Message, context: CallContext, call: RpcCall) => AsyncIterable<Message>,
): StreamImplementation {
  return async function* answer(message, context) {
    const call = rpcCallOf(context);
    try {
      yield* untilAborted(
        run(
          message,
          callContextOf(context, () => context.signal),
          call,
        ),
        context.signal,
      );
      call.code = 'ok';
    } catch (error) {
      throw failed(method, environment, call, error);
    } finally {
      call.code ??= Code.Canceled;
    }
  };
}

/** Turns a function of a stream of messages into an RPC. */
export function collectRpc(
  method: RpcMethod,
  environment: RpcEnvironment,
  run: (messages: AsyncIterable<Message>, context: CallContext) => Promise<Message>,
): CollectImplementation {
  return async (messages, context) => {
    const call = rpcCallOf(context);
    try {
      const bounded = untilAborted(inTurns(messages, method, environment, context.signal), context.signal);
      const reply = await run(
        bounded,
        callContextOf(context, () => context.signal),
      );
      call.code = 'ok';
      return reply;
    } catch (error) {
      throw failed(method, environment, call, error);
    }
  };
}

/** A single message may take as long as a whole call. */
async function* inTurns(
  messages: AsyncIterable<Message>,
  method: RpcMethod,
  environment: RpcEnvironment,
  signal: AbortSignal,
): AsyncGenerator<Message> {
  for await (const message of messages) {
    await turnOf(method, environment, signal);
    yield message;
  }
}

function failed(method: RpcMethod, environment: RpcEnvironment, call: RpcCall, error: unknown) {
  const status = correctedDecodeError(rpcError(error));
  call.code = status.code;
  logRpcError(environment, method.name, call.requestId, status, error);
  return status;
}
