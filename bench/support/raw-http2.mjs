/**
 * The yardstick of the gRPC benchmarks: the bare HTTP/2 stack of Node.js with the least that can be called a gRPC
 * server. It reads a request, looks at no byte of it but the lengths of the messages, and returns prepared bytes.
 * Prints its address. `node raw-http2.mjs REPLY_BYTES`
 */
import http2 from 'node:http2';

const REPLY = framed(Buffer.alloc(Number(process.argv[2] ?? 200), 1));
const HEADERS = { ':status': 200, 'content-type': 'application/grpc+proto' };
const TRAILERS = { 'grpc-status': '0' };

const server = http2.createServer();
server.on('stream', (stream, headers) => {
  stream.on('error', () => {});
  const isStream = String(headers[':path']).endsWith('Stream');
  const respond = () => {
    stream.respond(HEADERS, { waitForTrailers: true });
    stream.on('wantTrailers', () => stream.sendTrailers(TRAILERS));
  };
  if (!isStream) {
    stream.on('data', () => {});
    stream.on('end', () => {
      respond();
      stream.end(REPLY);
    });
    return;
  }
  respond();
  let rest = Buffer.alloc(0);
  stream.on('data', (chunk) => {
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
    if (messages > 0) stream.write(messages === 1 ? REPLY : Buffer.concat(Array(messages).fill(REPLY)));
  });
  stream.on('end', () => stream.end());
});
server.listen(0, '127.0.0.1', () => console.log(`http://127.0.0.1:${server.address().port}`));

function framed(message) {
  const prefix = Buffer.alloc(5);
  prefix.writeUInt32BE(message.length, 1);
  return Buffer.concat([prefix, message]);
}
