import type { Message } from '@bufbuild/protobuf';
import type { ConnectError, HandlerContext } from '@connectrpc/connect';
import { untilAborted } from '../../contract/call/until-aborted.js';
import type { Call } from '../call/call.js';
import { toConnectError } from '../wire/connect-error.js';
import type { JsonCopy } from '../wire/json-copy.js';
import { correctedDecodeError } from '../wire/message-errors.js';
import { type RpcCall, rpcCallOf, writeTrailers } from './rpc-call.js';

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
  run: (message: Message, call: Call, json: JsonCopy | null) => AsyncIterable<Message>,
): StreamImplementation {
  return async function* answer(message, context) {
    const rpc = rpcCallOf(context);
    const { call, json } = rpc;
    try {
      yield* untilAborted(run(message, call, json), context.signal);
      call.code = 'ok';
    } catch (error) {
      throw failed(call, error);
    } finally {
      call.code ??= 'canceled';
      writeTrailers(rpc, context);
    }
  };
}

/** Turns a function of a stream of messages into an RPC. */
export function collectRpc(
  run: (messages: AsyncIterable<Message>, call: Call, rpc: RpcCall) => Promise<Message>,
): CollectImplementation {
  return async (messages, context) => {
    const rpc = rpcCallOf(context);
    const { call } = rpc;
    try {
      const reply = await run(untilAborted(inTurns(messages, call), context.signal), call, rpc);
      call.code = 'ok';
      return reply;
    } catch (error) {
      throw failed(call, error);
    } finally {
      writeTrailers(rpc, context);
    }
  };
}

/** A bidirectional RPC as a Connect implementation. */
export type ExchangeImplementation = (
  requests: AsyncIterable<Message>,
  context: HandlerContext,
) => AsyncIterable<Message>;

/**
 * Turns a function from a stream of messages to a stream of replies into an RPC. The messages fail when the call is
 * aborted; replies that follow from earlier messages are still sent.
 */
export function exchangeRpc(
  run: (messages: AsyncIterable<Message>, call: Call, rpc: RpcCall) => AsyncIterable<Message>,
): ExchangeImplementation {
  return async function* answer(messages, context) {
    const rpc = rpcCallOf(context);
    const { call } = rpc;
    try {
      yield* run(untilAborted(inTurns(messages, call), context.signal), call, rpc);
      call.code = 'ok';
    } catch (error) {
      throw failed(call, error);
    } finally {
      call.code ??= 'canceled';
      writeTrailers(rpc, context);
    }
  };
}

/** A single message may take as long as a whole call. */
async function* inTurns(messages: AsyncIterable<Message>, call: Call): AsyncGenerator<Message> {
  for await (const message of messages) {
    await call.turn();
    yield message;
  }
}

function failed(call: Call, error: unknown): ConnectError {
  const status = correctedDecodeError(toConnectError(error));
  call.failed(status, error);
  return status;
}
