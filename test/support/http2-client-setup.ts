import http2 from 'node:http2';
import { syncBuiltinESMExports } from 'node:module';

/**
 * Until Node.js has https://github.com/nodejs/node/pull/64166, a stream that is reset while nghttp2 hands over the frame
 * that ends it is used after it was freed: the process dies later, in an unrelated allocation. Promises and ticks of a
 * test run within that hand-over, so clients within the test process reset streams and destroy sessions after it. The
 * service itself does so, too; see `src/transport/listener/http2-connection.ts`.
 */
const connect = http2.connect;

function afterReceiving<Arguments extends unknown[]>(
  call: (...args: Arguments) => unknown,
): (...args: Arguments) => void {
  return (...args) => {
    setImmediate(() => call(...args));
  };
}

http2.connect = ((...args: Parameters<typeof connect>) => {
  const session = connect(...args);
  const request = session.request.bind(session);
  session.destroy = afterReceiving(session.destroy.bind(session));
  session.request = (...options) => {
    const stream = request(...options);
    const close = stream.close.bind(stream);
    stream.close = (code, callback) => {
      // Node.js itself puts a CANCEL off.
      if (code === http2.constants.NGHTTP2_CANCEL) close(code, callback);
      else setImmediate(() => close(code, callback));
    };
    return stream;
  };
  return session;
}) as typeof connect;

syncBuiltinESMExports();
