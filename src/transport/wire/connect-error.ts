import { Code, ConnectError } from '@connectrpc/connect';
import { ERROR_TABLE } from '../../contract/errors/error-table.js';
import { itemMessage } from '../../contract/errors/item-message.js';
import type { ServiceError } from '../../contract/errors/service-error.js';
import { MappingError, mappingErrorToServiceError } from './mapping-error.js';
import { isServerFault, publicDetail, toServiceError } from './problem.js';
import { connectErrorOf, RpcStatus, statusOfConnectError } from './rpc-status.js';
import { itemDetails, shortened, statusDetails, withinBytes } from './status-details.js';

/** Most bytes of a message: two texts of ASCII at their limits fit. */
const MAX_MESSAGE_BYTES = 1_050;

/**
 * Converts an error to the status of a call. Its details: `google.rpc.ErrorInfo` (reason: the service's error
 * code; metadata: name, kind, hint and facts), what was wrong with which member or resource, when to retry, and
 * where the error is explained.
 */
export function toRpcStatus(error: unknown): RpcStatus {
  return statusWith(error, statusDetails);
}

/**
 * The same for one item of a reply. The JSON form of a status inside a message can only be read by clients that
 * know the types of its details, so they are the three of the first version: ErrorInfo, BadRequest, RetryInfo.
 */
export function toItemStatus(error: unknown): RpcStatus {
  return statusWith(error, itemDetails);
}

function statusWith(error: unknown, detailsOf: typeof statusDetails): RpcStatus {
  // Protocol errors (deadline, cancellation, size limits) already have a status.
  if (error instanceof ConnectError) return statusOfConnectError(error);
  const serviceError = toServiceError(
    error instanceof MappingError ? mappingErrorToServiceError(error) : error,
  );
  const code: Code = serviceError.options.grpcCode ?? ERROR_TABLE[serviceError.code].grpcCode;
  const message = withinBytes(statusText(serviceError), MAX_MESSAGE_BYTES);
  return new RpcStatus(code, message, detailsOf(serviceError, code, Buffer.byteLength(message)));
}

/** The same as `toRpcStatus`, as a ConnectError. */
export function toConnectError(error: unknown): ConnectError {
  return error instanceof ConnectError ? error : connectErrorOf(toRpcStatus(error));
}

/** Text of a status: the detail, the first invalid member and, if there are several, their number. */
export function statusText(error: ServiceError): string {
  const { items, requestValidation } = error.options;
  const first = isServerFault(error) ? undefined : items?.[0];
  if (items === undefined || first === undefined) return publicDetail(error);
  const place = first.field === undefined ? '' : `${first.field}: `;
  const count = countOf(items.length, requestValidation === true);
  return `${publicDetail(error)} (${count}${shortened(place + itemMessage(error, first))})`;
}

/** For failed validation the detail already states the number; it may exceed the number of items. */
function countOf(items: number, isStated: boolean): string {
  if (items === 1) return '';
  return isStated ? 'first: ' : `${items} problems; first: `;
}

/** Whether a status is a server fault, which is logged. */
export function isUnexpected({ code }: { readonly code: Code }): boolean {
  return code === Code.Internal || code === Code.Unknown || code === Code.DataLoss;
}
