import type { Message } from '@bufbuild/protobuf';
import { ConnectError, type HandlerContext } from '@connectrpc/connect';
import type { CallContext } from '../../rpc/handler.js';
import { createCallTime } from '../call-time.js';
import type { RpcMethod } from '../descriptors/rpc-methods.js';
import { isUnexpected, toConnectError } from '../errors/connect-error.js';
import type { HostLog } from '../host-log.js';
import type { JsonCopy } from './json-copy.js';
import { MappingError, mappingErrorToServiceError } from './mapping-error.js';
import { callContextOf, rpcCallOf } from './rpc-call.js';

/** What every RPC implementation needs. */
export interface RpcEnvironment {
  readonly log: HostLog;
  readonly requestTimeoutMs: number;
}

/** How a call arrived. */
export interface Arrival {
  readonly protocol: string;
  /** See `RpcCall.json`. */
  readonly json: JsonCopy | null;
}

/** A unary RPC as Connect takes it. */
export type UnaryImplementation = (request: Message, context: HandlerContext) => Promise<Message>;

/** Any function as a unary RPC, with time limit, error translation and the call's outcome. */
export function unaryRpc(
  method: RpcMethod,
  environment: RpcEnvironment,
  run: (message: Message, context: CallContext, arrival: Arrival) => Message | Promise<Message>,
): UnaryImplementation {
  return async (message, context) => {
    const call = rpcCallOf(context);
    const time = createCallTime(environment.requestTimeoutMs, () => context.signal);
    try {
      // A deadline may have passed before the call got here.
      context.signal.throwIfAborted();
      const reply = await time.bound(
        run(
          message,
          callContextOf(context, () => time.signal),
          { protocol: context.protocolName, json: call.json },
        ),
      );
      call.code = 'ok';
      return reply;
    } catch (error) {
      const status = rpcError(error);
      call.code = status.code;
      logRpcError(environment.log, method.name, call.requestId, status, error);
      throw status;
    } finally {
      time.end();
    }
  };
}

/** Any error as a status. */
export function rpcError(error: unknown): ConnectError {
  if (error instanceof ConnectError) return error;
  return toConnectError(error instanceof MappingError ? mappingErrorToServiceError(error) : error);
}

/** Turns what went wrong with one item of a call into its status, and logs it as it would be logged for a call. */
export function itemFailure(log: HostLog, rpc: string, requestId: string): (error: unknown) => ConnectError {
  return (error) => {
    const status = rpcError(error);
    logRpcError(log, rpc, requestId, status, error);
    return status;
  };
}

/** Logs what is a fault of the server; what the caller did wrong is its own affair. */
export function logRpcError(
  log: HostLog,
  rpc: string,
  requestId: string,
  status: ConnectError,
  error: unknown,
): void {
  if (isUnexpected(status)) log.error({ err: error, requestId, rpc }, 'an RPC failed');
}
