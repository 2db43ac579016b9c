import http2 from 'node:http2';
import { syncBuiltinESMExports } from 'node:module';

/** The files of a worker share its built-in modules: only the first one changes them. */
const CHANGED = Symbol.for('control-enforcement.test.http2-client');

/** Whether the caller of the caller is Node.js itself, which relies on the order of what it does. */
function isCalledByNode(): boolean {
  return new Error().stack?.split('\n')[3]?.includes('node:internal/') === true;
}

/**
 * Until Node.js has https://github.com/nodejs/node/pull/64166, a stream that is reset while nghttp2 passes on
 * the frame that ends it is used after it was freed: the process dies later, in an unrelated allocation.
 * Promises and ticks of a test may run at that time, so clients in the test process reset streams and destroy
 * sessions later. The service does so, too; see `src/serve/listener/http2-connection.ts`.
 */
function resettingLater(connect: typeof http2.connect): typeof http2.connect {
  return ((...args: Parameters<typeof connect>) => {
    const session = connect(...args);
    const request = session.request.bind(session);
    const destroy = session.destroy.bind(session);
    session.destroy = (...reason) => {
      if (isCalledByNode()) return destroy(...reason);
      // As of now the caller expects no event any more.
      session.on('error', () => {});
      setImmediate(() => destroy(...reason));
    };
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
}

if (!Object.hasOwn(http2.connect, CHANGED)) {
  http2.connect = Object.assign(resettingLater(http2.connect), { [CHANGED]: true });
  syncBuiltinESMExports();
}
