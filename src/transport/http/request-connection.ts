import type { IncomingMessage } from 'node:http';
import type { Http2ServerRequest } from 'node:http2';

/** A request of either version of HTTP, as the listener hands it over. */
export type RawRequest = IncomingMessage | Http2ServerRequest;

/** Whether a request came over HTTP/2. */
export function isHttp2(raw: RawRequest): raw is Http2ServerRequest {
  return 'stream' in raw;
}
