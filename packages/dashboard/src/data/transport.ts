import { Code, ConnectError, type Interceptor } from '@connectrpc/connect';
import { createGrpcWebTransport } from '@connectrpc/connect-web';
import { serverAddress } from './rest-address.js';

/** Name of the event that is dispatched on `window` when the server no longer accepts the session. */
export const SIGNED_OUT_EVENT = 'signed-out';

const reportsSignOut: Interceptor = (next) => async (request) => {
  try {
    return await next(request);
  } catch (error) {
    if (ConnectError.from(error).code === Code.Unauthenticated) {
      window.dispatchEvent(new Event(SIGNED_OUT_EVENT));
    }
    throw error;
  }
};

/** All RPCs go to the server of the page, over gRPC-Web, with the cookie of the session. */
export const transport = createGrpcWebTransport({
  baseUrl: serverAddress,
  interceptors: [reportsSignOut],
});
