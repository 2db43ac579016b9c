import type { ServerResponse } from 'node:http';
import type { Http2ServerResponse } from 'node:http2';
import type { UniversalServerResponse } from '@connectrpc/connect/protocol';
import { abandonSoon } from '../http/request-bodies.js';
import { encodeGrpcMessage } from '../wire/encode-status.js';
import { bytesOf, chunksOf } from './universal-handler.js';

/** A response whose headers are sent with its end, so that an empty one is a single frame. */
type HoldHeaders = () => void;

/**
 * A failed gRPC call without messages, with its status in the headers (gRPC over HTTP2, "Trailers-Only"): clients
 * of gRPC retry a call only if it has no other headers. Connect sends headers and trailers. The first chunk of the
 * body exists when Connect returns the response.
 */
export async function trailersOnly(
  response: UniversalServerResponse,
  holdHeaders: HoldHeaders,
): Promise<UniversalServerResponse> {
  const { header, trailer } = response;
  const body = bytesOf(response);
  if (body === undefined || header === undefined || trailer === undefined) return response;
  const rest = body[Symbol.asyncIterator]();
  const first = await rest.next();
  if (first.done !== true) return { ...response, body: continued(first.value, rest) };
  const status = trailer.get('grpc-status');
  if (status === null || status === '0') return { ...response, body: continued(undefined, rest) };
  const merged = new Headers(header);
  for (const [name, value] of trailer) merged.set(name, value);
  holdHeaders();
  return { status: response.status, header: merged };
}

/** The iterator again, before whose next chunk there is another one. */
function continued(
  first: Uint8Array | undefined,
  rest: AsyncIterator<Uint8Array>,
): AsyncIterable<Uint8Array> {
  let isFirst = first !== undefined;
  const iterator = chunksOf(rest, () => {
    if (!isFirst) return rest.next();
    isFirst = false;
    return Promise.resolve({ done: false, value: first as Uint8Array });
  });
  return { [Symbol.asyncIterator]: () => iterator };
}

const GRPC_MESSAGE = 'grpc-message';

/** Encodes the status message in the trailers of a gRPC response minimally once the body has ended. */
export function withMinimalMessage(response: UniversalServerResponse): UniversalServerResponse {
  const { trailer } = response;
  const source = bytesOf(response);
  if (trailer === undefined || source === undefined) return response;
  return {
    ...response,
    body: {
      // Not a generator: streams are iterated once per message.
      [Symbol.asyncIterator]() {
        const inner = source[Symbol.asyncIterator]();
        return chunksOf(inner, async () => {
          const result = await inner.next();
          if (result.done === true) rewrite(trailer);
          return result;
        });
      },
    },
  };
}

function rewrite(trailer: Headers): void {
  const message = trailer.get(GRPC_MESSAGE);
  if (message !== null) trailer.set(GRPC_MESSAGE, encodeGrpcMessage(decodeURIComponent(message)));
}

/** Makes the next `writeHead` of a response wait for its end, which must follow at once. */
export function holdHeadersOf(response: ServerResponse | Http2ServerResponse): HoldHeaders {
  return () => {
    const held = (status: number, headers: Record<string, string | string[]>) => {
      // The end calls the function of the prototype.
      Reflect.deleteProperty(response, 'writeHead');
      response.statusCode = status;
      for (const [name, value] of Object.entries(headers)) response.setHeader(name, value);
      // There will be no trailers, after which unread input is usually abandoned.
      if (isHttp2Response(response)) abandonSoon(response.stream);
      return response;
    };
    Object.defineProperty(response, 'writeHead', { value: held, configurable: true });
  };
}

function isHttp2Response(response: ServerResponse | Http2ServerResponse): response is Http2ServerResponse {
  return 'stream' in response;
}
