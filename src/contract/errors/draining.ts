import { ServiceError } from './service-error.js';

/**
 * The error that ends a stream although nothing is wrong: its server shuts down, or the stream or its connection has
 * reached its maximum age. The client can continue at once, on another connection.
 */
export function draining(hint = 'Call again, on another connection.'): ServiceError {
  return new ServiceError('DRAINING', {
    detail: 'The server ends this call: it is shutting down, or the call or its connection is too old.',
    hint,
    retryAfterSeconds: 0,
  });
}
