import { ConnectError } from '@connectrpc/connect';
import { toConnectError, toRpcStatus } from '../wire/connect-error.js';
import { MappingError, mappingErrorToServiceError } from '../wire/mapping-error.js';
import type { RpcStatus } from '../wire/rpc-status.js';
import type { Call } from './call.js';

/** Converts any error to a ConnectError. */
export function rpcError(error: unknown): ConnectError {
  if (error instanceof ConnectError) return error;
  return toConnectError(error instanceof MappingError ? mappingErrorToServiceError(error) : error);
}

/** Converts the error of a call, or of one of its items, to a status that is not thrown, and logs it. */
export function itemFailure(call: Pick<Call, 'logFailure'>): (error: unknown) => RpcStatus {
  return (error) => {
    const status = toRpcStatus(error instanceof MappingError ? mappingErrorToServiceError(error) : error);
    call.logFailure(status, error);
    return status;
  };
}
