import { Code, ConnectError } from '@connectrpc/connect';

/** How long a body may take, in milliseconds, and what its call ends with when that was not enough. */
export interface BodyExpiry {
  readonly limitMs: number;
  readonly error: () => ConnectError;
}

/**
 * Passes a request body on, but fails when it is not complete in time. For unary calls: their implementation, which
 * has a time limit of its own, runs only after the body was read.
 */
export function withinTime(body: AsyncIterable<Uint8Array>, expiry: BodyExpiry): AsyncIterable<Uint8Array> {
  return {
    [Symbol.asyncIterator]() {
      const chunks = body[Symbol.asyncIterator]();
      let expire: (error: ConnectError) => void = () => {};
      const expired = new Promise<never>((_resolve, reject) => {
        expire = reject;
      });
      // Nobody waits for it when the body is complete in time.
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

/** The status of a call whose request did not arrive within the time that the service allows. */
export function tooSlow(limitMs: number): ConnectError {
  return new ConnectError(`the request was not complete after ${limitMs / 1000} s`, Code.DeadlineExceeded);
}

/** The status of a stream one message of which did not arrive within the time that the service allows. */
export function messageTooSlow(limitMs: number): ConnectError {
  return new ConnectError(`a message was not complete after ${limitMs / 1000} s`, Code.DeadlineExceeded);
}

/** The status of a call whose caller gave it less time than it took; in the words of Connect. */
export function deadlinePassed(): ConnectError {
  return new ConnectError('the operation timed out', Code.DeadlineExceeded);
}
