import { Code, ConnectError } from '@connectrpc/connect';
import { parseTimeout as parseConnectTimeout } from '@connectrpc/connect/protocol-connect';
import { parseTimeout as parseGrpcTimeout } from '@connectrpc/connect/protocol-grpc';
import { LONGEST_TIMER_MS } from '../../contract/call/time-limited.js';

/** The time an RPC may take by the wish of its caller. */
export interface CallerTimeout {
  /** Name of its header. */
  readonly header: string;
  /** Milliseconds; infinite without one, and for times beyond the range of timers (weeks). */
  readonly ms: number;
  /** Set if the header has no valid time. */
  readonly error?: Error;
}

/** Reads the timeout of an RPC. `header` returns a header of the request. */
export function callerTimeoutOf(
  protocol: string,
  header: (name: string) => string | null | undefined,
): CallerTimeout {
  const isConnect = protocol === 'connect';
  const name = isConnect ? 'connect-timeout-ms' : 'grpc-timeout';
  const parse = isConnect ? parseConnectTimeout : parseGrpcTimeout;
  const { timeoutMs = Number.POSITIVE_INFINITY, error } = parse(
    header(name) ?? null,
    Number.POSITIVE_INFINITY,
  );
  const ms = timeoutMs > LONGEST_TIMER_MS ? Number.POSITIVE_INFINITY : timeoutMs;
  return error === undefined ? { header: name, ms } : { header: name, ms, error };
}

/** What a request that is not complete ends with: the caller's time or that of the service, if that is less. */
export function arrivalExpiry(limitMs: number, callerMs: number): BodyExpiry {
  return callerMs > limitMs
    ? { limitMs, error: () => tooSlow(limitMs) }
    : { limitMs: callerMs, error: deadlinePassed };
}

/** Time limit for a body, in milliseconds, and the error its call fails with. */
export interface BodyExpiry {
  readonly limitMs: number;
  readonly error: () => ConnectError;
}

/**
 * Passes a request body on, but fails if it is not complete in time. For unary calls: their implementation
 * has a separate time limit and runs only after the body was read.
 */
export function withinTime(body: AsyncIterable<Uint8Array>, expiry: BodyExpiry): AsyncIterable<Uint8Array> {
  return {
    [Symbol.asyncIterator]() {
      const chunks = body[Symbol.asyncIterator]();
      let expire: (error: ConnectError) => void = () => {};
      const expired = new Promise<never>((_resolve, reject) => {
        expire = reject;
      });
      // Not awaited if the body is complete in time.
      expired.catch(() => {});
      const timer = setTimeout(() => expire(expiry.error()), expiry.limitMs);
      return {
        async next() {
          try {
            const chunk = await Promise.race([chunks.next(), expired]);
            if (chunk.done === true) clearTimeout(timer);
            return chunk;
          } catch (error) {
            clearTimeout(timer);
            throw error;
          }
        },
        async return(value?: unknown) {
          clearTimeout(timer);
          return (await chunks.return?.(value)) ?? { done: true, value };
        },
      };
    },
  };
}

/** The error of a call whose request did not arrive within the time limit of the service. */
export function tooSlow(limitMs: number): ConnectError {
  return new ConnectError(`the request was not complete after ${limitMs / 1000} s`, Code.DeadlineExceeded);
}

/** The error of a stream with a message that did not arrive within the time limit of the service. */
export function messageTooSlow(limitMs: number): ConnectError {
  return new ConnectError(`a message was not complete after ${limitMs / 1000} s`, Code.DeadlineExceeded);
}

/** The error of a call that exceeded the deadline of its caller; worded like Connect's. */
export function deadlinePassed(): ConnectError {
  return new ConnectError('the operation timed out', Code.DeadlineExceeded);
}
