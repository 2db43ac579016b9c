import { Code, ConnectError } from '@connectrpc/connect';
import { ErrorInfoSchema, RetryInfoSchema } from '../../../gen/proto/google/rpc/error_details_pb.js';
import type { Status } from '../../../gen/proto/google/rpc/status_pb.js';

/** Most causes that are inspected; a chain of causes may be circular. */
const MAX_CAUSES = 8;

/** How to treat evaluations after the call or the stream that carried them failed. */
export type Remedy =
  /** The service would answer the same again for any evaluation. */
  | 'fail'
  /** The evaluations are not the cause: resend them. */
  | 'again'
  /** The connection broke. Resend them; one by one if it happens twice, in case one of them is the cause. */
  | 'reconnect'
  /** The service failed, possibly because of one of them: as before, but not forever. */
  | 'suspect'
  /** One of them is the cause, for example too large: resend them one by one, so that only that one fails. */
  | 'alone';

export function remedyFor(error: ConnectError): Remedy {
  switch (error.code) {
    case Code.Unavailable:
      return 'again';
    case Code.ResourceExhausted:
      return isRateLimit(error) ? 'again' : 'alone';
    case Code.Unauthenticated:
    case Code.PermissionDenied:
    case Code.Unimplemented:
      return 'fail';
    case Code.FailedPrecondition:
      // With a cause it is a mistake in the address, see `explainedError`; a status of the service has none.
      return error.cause === undefined ? 'alone' : 'fail';
    case Code.Aborted:
    case Code.Canceled:
    case Code.DeadlineExceeded:
      return 'reconnect';
    case Code.Internal:
    case Code.Unknown:
      // Transports wrap the cause of a broken connection; a status of the service has no cause.
      return error.cause === undefined ? 'suspect' : 'reconnect';
    default:
      return 'alone';
  }
}

/** Whether the same call of a stream may succeed later. */
export function mayContinue(error: ConnectError): boolean {
  const remedy = remedyFor(error);
  return remedy === 'again' || remedy === 'reconnect' || remedy === 'suspect';
}

/** Whether the status of one evaluation may differ in a retry. */
export function isTransient(error: ConnectError): boolean {
  return error.code === Code.Unavailable || (error.code === Code.ResourceExhausted && isRateLimit(error));
}

/**
 * Whether the answer is missing because of the state of the service, to which `onUnavailable` applies.
 * Excludes everything that a request could cause itself, such as its size: otherwise requests could bypass a
 * control.
 */
export function isUnavailability(error: ConnectError): boolean {
  return error.code === Code.DeadlineExceeded || isTransient(error);
}

function isRateLimit(error: ConnectError): boolean {
  return hasReason(error, 'RATE_LIMITED');
}

/** Whether nothing listens at the address of the service. */
export function isRefusal(error: ConnectError): boolean {
  let cause: unknown = error;
  for (let depth = 0; cause instanceof Error && depth < MAX_CAUSES; depth += 1) {
    if ((cause as { code?: unknown }).code === 'ECONNREFUSED') return true;
    cause = cause.cause;
  }
  return false;
}

/** Whether a stopping service ended a stream: others, or its successor, take the evaluations. */
export function isDraining(error: ConnectError): boolean {
  return error.code === Code.Unavailable && hasReason(error, 'DRAINING');
}

function hasReason(error: ConnectError, reason: string): boolean {
  return error.findDetails(ErrorInfoSchema).some((info) => info.reason === reason);
}

/** The pause requested by the service, in milliseconds; 0 when there is none. */
export function askedPauseMs(error: ConnectError): number {
  const delay = error.findDetails(RetryInfoSchema)[0]?.retryDelay;
  return delay === undefined ? 0 : Number(delay.seconds) * 1_000 + delay.nanos / 1e6;
}

/** The error with the advice of the service, which is among its details, in its message. */
export function withHint(error: ConnectError): ConnectError {
  const hint = error.findDetails(ErrorInfoSchema)[0]?.metadata.hint;
  if (hint === undefined || error.rawMessage.endsWith(hint)) return error;
  const { rawMessage, code, metadata, details, cause } = error;
  const advised = new ConnectError(`${rawMessage} Hint: ${hint}`, code, metadata, undefined, cause);
  advised.details = details;
  if (error.stack !== undefined) advised.stack = error.stack.replace(error.message, () => advised.message);
  return advised;
}

/** The status of one evaluation as the error of a separate call. */
export function errorOfStatus(status: Status): ConnectError {
  const error = new ConnectError(status.message, status.code as Code);
  error.details = status.details.map(({ typeUrl, value }) => ({
    type: typeUrl.slice(typeUrl.lastIndexOf('/') + 1),
    value,
  }));
  return withHint(error);
}
