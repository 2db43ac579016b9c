import type { Message } from '@bufbuild/protobuf';
import type { HandlerContext } from '@connectrpc/connect';
import type { Call } from '../call/call.js';
import { toConnectError } from '../wire/error-status.js';
import { type RpcCall, rpcCallOf, writeTrailers } from './rpc-call.js';

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
