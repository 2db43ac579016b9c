/** A body of an upstream was larger than it may be. */
export class ResultTooLargeError extends Error {
  override readonly name = 'ResultTooLargeError';
  readonly maxBytes: number;

  constructor(maxBytes: number) {
    super(`the upstream sends a message of more than ${maxBytes} bytes`);
    this.maxBytes = maxBytes;
  }
}

const LINE_FEED = 10;
const CARRIAGE_RETURN = 13;

/**
 * `fetch` that reads no more than `maxBytes` of a message: of a body as a whole, of a stream of events (SSE) of each event. A
 * larger body rejects with a ResultTooLargeError; a larger event ends its stream, of which `onTooLarge` is told with the body of
 * the request. The rest is not read.
 */
export function boundedFetch(maxBytes: number, onTooLarge: (request: unknown) => void): typeof fetch {
  return async (input, init) => {
    const response = await fetch(input, init);
    const { body, headers, status, statusText } = response;
    if (body === null) return response;
    const isStream = headers.get('content-type')?.startsWith('text/event-stream') === true;
    const length = Number(headers.get('content-length') ?? Number.NaN);
    if (length > maxBytes) {
      await body.cancel().catch(() => {});
      throw new ResultTooLargeError(maxBytes);
    }
    // A body of a known length has no more bytes than that, unless they are compressed.
    if (!isStream && Number.isInteger(length) && !headers.has('content-encoding')) return response;
    const reader = body.getReader();
    if (isStream)
      return new Response(
        limitedEvents(reader, maxBytes, () => onTooLarge(init?.body)),
        { status, statusText, headers },
      );
    const chunks: Uint8Array[] = [];
    let read = 0;
    for (;;) {
      const { done, value } = await reader.read();
      if (done) break;
      read += value.byteLength;
      if (read > maxBytes) {
        await reader.cancel().catch(() => {});
        throw new ResultTooLargeError(maxBytes);
      }
      chunks.push(value);
    }
    const [only] = chunks;
    return new Response(
      read === 0
        ? null
        : chunks.length === 1 && only !== undefined
          ? new Uint8Array(only)
          : Buffer.concat(chunks),
      {
        status,
        statusText,
        headers,
      },
    );
  };
}

function limitedEvents(
  reader: ReadableStreamDefaultReader<Uint8Array>,
  maxBytes: number,
  onTooLarge: () => void,
): ReadableStream<Uint8Array> {
  let ofEvent = 0;
  let isLineEmpty = true;
  /** Counts the bytes since the last empty line, which ends an event. */
  const grows = (chunk: Uint8Array): boolean => {
    for (const byte of chunk) {
      ofEvent += 1;
      if (byte === LINE_FEED) {
        if (isLineEmpty) ofEvent = 0;
        isLineEmpty = true;
      } else if (byte !== CARRIAGE_RETURN) isLineEmpty = false;
      if (ofEvent > maxBytes) return true;
    }
    return false;
  };
  return new ReadableStream({
    async pull(controller) {
      const { done, value } = await reader.read();
      if (done) return controller.close();
      if (grows(value)) {
        await reader.cancel().catch(() => {});
        onTooLarge();
        return controller.error(new ResultTooLargeError(maxBytes));
      }
      controller.enqueue(value);
    },
    cancel: (reason) => reader.cancel(reason),
  });
}
