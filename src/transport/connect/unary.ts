import type { Message } from '@bufbuild/protobuf';
import { Code, ConnectError, type HandlerContext } from '@connectrpc/connect';
import type { FactsLog, RepeatLog } from '../../process/repeat-log.js';
import type { Admission } from '../admission/admission.js';
import { callClassOf } from '../admission/call-class.js';
import { createCallTime } from '../call/call-time.js';
import type { RpcMethod } from '../descriptors/rpc-methods.js';
import { isUnexpected, toConnectError, toRpcStatus } from '../wire/connect-error.js';
import type { JsonCopy } from '../wire/json-copy.js';
import { MappingError, mappingErrorToServiceError } from '../wire/mapping-error.js';
import type { RpcStatus } from '../wire/rpc-status.js';
import { callContextOf, type RpcContext, rpcCallOf } from './rpc-call.js';

/** Where failures of RPCs are logged. */
export interface RpcLogs {
  readonly log: FactsLog;
  /** For calls that cannot be served at present: an outage causes many, all for the same reason. */
  readonly failures: RepeatLog;
}

/** What every RPC implementation needs. */
export interface RpcEnvironment extends RpcLogs {
  readonly requestTimeoutMs: number;
  /** Where calls with a key wait for their turn; evaluations do not. */
  readonly admission: Pick<Admission, 'keyedTurn'>;
}

/** Protocol and encoding of a call. */
export interface Arrival {
  readonly protocol: string;
  /** See `RpcCall.json`. */
  readonly json: JsonCopy | null;
}

/** A unary RPC as a Connect implementation. */
export type UnaryImplementation = (request: Message, context: HandlerContext) => Promise<Message>;

/** Turns a function into a unary RPC, with time limit, error translation and outcome for the metrics. */
export function unaryRpc(
  method: RpcMethod,
  environment: RpcEnvironment,
  run: (message: Message, context: RpcContext, arrival: Arrival) => Message | Promise<Message>,
): UnaryImplementation {
  return async (message, context) => {
    const call = rpcCallOf(context);
    const time = createCallTime(environment.requestTimeoutMs, () => context.signal);
    try {
      // The deadline may already have passed.
      context.signal.throwIfAborted();
      const turn = turnOf(method, environment, context.signal);
      if (turn !== undefined) await time.bound(turn);
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
      logRpcError(environment, method.name, call.requestId, status, error);
      throw status;
    } finally {
      time.end();
    }
  };
}

/** Resolves when a call or a message of a stream may be processed; undefined for now. */
export function turnOf(
  method: RpcMethod,
  { admission }: RpcEnvironment,
  signal: AbortSignal,
): Promise<void> | undefined {
  return callClassOf(method) === 'keyed' ? admission.keyedTurn(() => signal.aborted) : undefined;
}

/** Converts any error to a ConnectError. */
export function rpcError(error: unknown): ConnectError {
  if (error instanceof ConnectError) return error;
  return toConnectError(error instanceof MappingError ? mappingErrorToServiceError(error) : error);
}

/** Converts any error to a status that is not thrown. */
export function rpcStatus(error: unknown): RpcStatus {
  return toRpcStatus(error instanceof MappingError ? mappingErrorToServiceError(error) : error);
}

/** Converts the error of one item of a call to its status, and logs it like the error of a call. */
export function itemFailure(logs: RpcLogs, rpc: string, requestId: string): (error: unknown) => RpcStatus {
  return (error) => {
    const status = rpcStatus(error);
    logRpcError(logs, rpc, requestId, status, error);
    return status;
  };
}

/** Logs server faults and calls that cannot be served at present. Errors of callers are not logged. */
export function logRpcError(
  { log, failures }: RpcLogs,
  rpc: string,
  requestId: string,
  status: { readonly code: Code },
  error: unknown,
): void {
  if (isUnexpected(status)) log.error({ err: error, requestId, rpc }, 'an RPC failed');
  // Errors that already have a status were caused from outside, for example by shutdown.
  else if (status.code === Code.Unavailable && !(error instanceof ConnectError)) {
    failures.failed(`unavailable ${rpc}`, 'an RPC could not be served', error, { rpc });
  }
}
