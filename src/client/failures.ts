import { Code, ConnectError } from '@connectrpc/connect';
import { ErrorInfoSchema, RetryInfoSchema } from '../../gen/proto/google/rpc/error_details_pb.js';
import type { Status } from '../../gen/proto/google/rpc/status_pb.js';

/** What to do about evaluations after the call or the stream that carried them failed. */
export type Remedy =
  /** The service would say the same again, whatever is sent. */
  | 'fail'
  /** Nothing is wrong with the evaluations: send them again. */
  | 'again'
  /** The connection broke. Send them again; one by one if that happens twice, in case one of them brings it about. */
  | 'reconnect'
  /** The service made a mistake, perhaps over one of them: as before, but not for ever. */
  | 'suspect'
  /** One of them is to blame, for example too large: send them one by one, so that only that one fails. */
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
      // Transports wrap what broke a connection; a status of the service has no cause.
      return error.cause === undefined ? 'suspect' : 'reconnect';
    default:
      return 'alone';
  }
}

/** Whether the status of one evaluation may be another one next time. */
export function isTransient(error: ConnectError): boolean {
  return error.code === Code.Unavailable || (error.code === Code.ResourceExhausted && isRateLimit(error));
}

/**
 * Whether there is no answer because of the state of the service, which is what `onUnavailable` is about. Whatever a
 * request could bring about by itself, such as its size, is not: nobody gets past a control with that.
 */
export function isUnavailability(error: ConnectError): boolean {
  return error.code === Code.DeadlineExceeded || isTransient(error);
}

function isRateLimit(error: ConnectError): boolean {
  return error.findDetails(ErrorInfoSchema).some((info) => info.reason === 'RATE_LIMITED');
}

/** How long the service asks to wait, in milliseconds; 0 when it does not. */
export function askedPauseMs(error: ConnectError): number {
  const delay = error.findDetails(RetryInfoSchema)[0]?.retryDelay;
  return delay === undefined ? 0 : Number(delay.seconds) * 1_000 + delay.nanos / 1e6;
}

/** The status of one evaluation as the error that a call of its own would have ended with. */
export function errorOfStatus(status: Status): ConnectError {
  const error = new ConnectError(status.message, status.code as Code);
  error.details = status.details.map(({ typeUrl, value }) => ({
    type: typeUrl.slice(typeUrl.lastIndexOf('/') + 1),
    value,
  }));
  return error;
}
