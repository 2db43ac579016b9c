/**
 * The yardstick of the gRPC benchmarks: the bare HTTP/2 stack of Node.js with the least that can be called a gRPC
 * server. It reads a request, looks at no byte of it but the lengths of the messages, and returns prepared bytes.
 */
import http2 from 'node:http2';
import { announce, urlOf } from './child-server.mjs';

const HEADERS = { ':status': 200, 'content-type': 'application/grpc+proto' };
const TRAILERS = { 'grpc-status': '0' };
/** @type {Buffer} */
let reply = Buffer.alloc(0);

const server = http2.createServer();
server.on('stream', (stream, headers) => {
  stream.on('error', () => {});
  const respond = () => {
    stream.respond(HEADERS, { waitForTrailers: true });
    stream.on('wantTrailers', () => stream.sendTrailers(TRAILERS));
  };
  if (!headers[':path']?.endsWith('Stream')) {
    stream.on('data', () => {});
    stream.on('end', () => {
      respond();
      stream.end(reply);
    });
    return;
  }
  respond();
  /** @type {Buffer} */
  let rest = Buffer.alloc(0);
  stream.on('data', (/** @type {Buffer} */ chunk) => {
    rest = rest.length === 0 ? chunk : Buffer.concat([rest, chunk]);
    let messages = 0;
    let at = 0;
    while (rest.length - at >= 5) {
      const end = at + 5 + rest.readUInt32BE(at + 1);
      if (end > rest.length) break;
      at = end;
      messages += 1;
    }
    rest = rest.subarray(at);
    if (messages > 0) stream.write(messages === 1 ? reply : Buffer.concat(Array(messages).fill(reply)));
  });
  stream.on('end', () => stream.end());
});
server.listen(0, '127.0.0.1', () => {
  announce(urlOf(server), (bytes) => {
    reply = bytes;
  });
});
