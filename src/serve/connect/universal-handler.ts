import type {
  UniversalHandler,
  UniversalServerRequest,
  UniversalServerResponse,
} from '@connectrpc/connect/protocol';

/** A handler for the same RPC that serves its requests by `serve`. */
export function wrappedHandler(
  handler: UniversalHandler,
  serve: (request: UniversalServerRequest) => Promise<UniversalServerResponse>,
): UniversalHandler {
  const { protocolNames, allowedMethods, supportedContentType, requestPath, service, method } = handler;
  return Object.assign((request: UniversalServerRequest) => serve(request), {
    protocolNames,
    allowedMethods,
    supportedContentType,
    requestPath,
    service,
    method,
  });
}

/** The body of a request or response of Connect, if it is a stream of bytes. */
export function bytesOf({ body }: { readonly body?: unknown }): AsyncIterable<Uint8Array> | undefined {
  if (typeof body !== 'object' || body === null || !(Symbol.asyncIterator in body)) return undefined;
  return body as AsyncIterable<Uint8Array>;
}

/** A body of one chunk. */
export async function* only(bytes: Uint8Array): AsyncIterable<Uint8Array> {
  yield bytes;
}

/** An iterator that gets its chunks from `next`, and is ended as `inner` is. */
export function chunksOf(
  inner: AsyncIterator<Uint8Array>,
  next: () => Promise<IteratorResult<Uint8Array>>,
): AsyncIterator<Uint8Array> {
  const outer: AsyncIterator<Uint8Array> = { next };
  if (inner.return !== undefined)
    outer.return = (value) => inner.return?.(value) ?? Promise.resolve({ done: true, value });
  if (inner.throw !== undefined) outer.throw = (error) => inner.throw?.(error) ?? Promise.reject(error);
  return outer;
}
