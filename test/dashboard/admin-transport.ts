import type { Transport } from '@connectrpc/connect';
import { createGrpcTransport } from '@connectrpc/connect-node';
import { ADMIN_KEY } from './dashboard-service.js';

/** Calls with the admin key, to change what a page shows from outside of it. */
export function adminTransport(baseUrl: string): Transport {
  return createGrpcTransport({
    baseUrl,
    interceptors: [
      (next) => (request) => {
        request.header.set('x-api-key', ADMIN_KEY);
        return next(request);
      },
    ],
  });
}
