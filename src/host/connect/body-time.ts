import { Code, ConnectError } from '@connectrpc/connect';

/**
 * Passes a request body on, but fails with DEADLINE_EXCEEDED when it is not complete after `limitMs`. For unary calls:
 * their implementation, which has a time limit of its own, runs only after the body was read.
 */
export function withinTime(body: AsyncIterable<Uint8Array>, limitMs: number): AsyncIterable<Uint8Array> {
  return {
    [Symbol.asyncIterator]() {
      const chunks = body[Symbol.asyncIterator]();
      let expire: (error: ConnectError) => void = () => {};
      const expired = new Promise<never>((_resolve, reject) => {
        expire = reject;
      });
      // Nobody waits for it when the body is complete in time.
      expired.catch(() => {});
      const timer = setTimeout(() => expire(tooSlow(limitMs)), limitMs);
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

function tooSlow(limitMs: number): ConnectError {
  return new ConnectError(`the request was not complete after ${limitMs / 1000} s`, Code.DeadlineExceeded);
}
