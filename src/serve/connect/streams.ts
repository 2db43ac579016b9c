import { create, type DescMessage, type Message } from '@bufbuild/protobuf';
import type { ConnectError, HandlerContext } from '@connectrpc/connect';
import { untilAborted } from '../../contract/call/until-aborted.js';
import { createPauses } from '../../decide/decisions/in-turns.js';
import type { Call } from '../call/call.js';
import { toConnectError } from '../wire/error-status.js';
import { correctedDecodeError } from '../wire/message-errors.js';
import type { EncodedReply, ReplyForm } from './encoded-replies.js';
import { type RpcCall, replyForm, rpcCallOf, writeTrailers } from './rpc-call.js';

/** A server-streaming RPC as a Connect implementation. */
export type StreamImplementation = (request: Message, context: HandlerContext) => AsyncIterable<Message>;

/** A client-streaming RPC as a Connect implementation. */
export type CollectImplementation = (
  requests: AsyncIterable<Message>,
  context: HandlerContext,
) => Promise<Message>;

/**
 * Turns an iterable of encoded messages into the reply of an RPC, with error translation and outcome for the metrics.
 * The only time limit is the caller's deadline, because such streams are long-lived. Connect would encode every message
 * for every stream, so it gets an empty one instead, whose bytes are replaced, see `withReplies`. `isWork`: whether its
 * replies are made one after the other, and not when there are news.
 */
export function streamRpc(
  output: DescMessage,
  isWork: boolean,
  run: (message: Message, rpc: RpcCall, form: ReplyForm) => AsyncIterable<EncodedReply>,
): StreamImplementation {
  const empty = create(output);
  return async function* answer(message, context) {
    const rpc = rpcCallOf(context);
    const { call } = rpc;
    const pause = createPauses();
    try {
      for await (const reply of untilAborted(run(message, rpc, replyForm(rpc, context)), context.signal)) {
        rpc.replies.push(reply);
        yield empty;
        const turn = isWork ? pause() : undefined;
        if (turn !== undefined) await turn;
      }
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
