import { Code, ConnectError, type Interceptor } from '@connectrpc/connect';
import { createGrpcWebTransport } from '@connectrpc/connect-web';

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
  // Components are tested without a page.
  baseUrl: typeof window === 'undefined' ? '' : window.location.origin,
  interceptors: [reportsSignOut],
});
