/**
 * The client for browsers, Deno, workers and others with `fetch`: `import { createClient } from
 * '@control-enforcement/client/web'`, or from the package itself where the runtime selects this part. node.ts is the
 * one for Node.js.
 */
import { createGrpcWebTransport } from '@connectrpc/connect-web';
import type { Client, TransportOptions } from './client-types.js';
import { createClientOver } from './create-client.js';
import { endingFetch } from './ending-fetch.js';
import { type AddressSettings, clientOverTransport } from './index.js';
import { checkedBaseUrl } from './settings.js';

export * from './index.js';

/** Settings of a client with an address. */
export interface AddressOptions extends AddressSettings {
  /** Replaces the `fetch` of the runtime. */
  readonly fetch?: typeof globalThis.fetch | undefined;
}

/**
 * Creates a client for an address, over gRPC-Web with `fetch`, or over a given transport of Connect. Evaluations are sent
 * as calls of EvaluateBatch. Throws a TypeError when the address is not `http://host:port` or `https://host:port`.
 */
export function createClient(options: AddressOptions | TransportOptions): Client {
  if ('transport' in options) return clientOverTransport(options);
  const { baseUrl: given, fetch, interceptors = [], ...settings } = options;
  const transport = createGrpcWebTransport({
    baseUrl: checkedBaseUrl(given),
    interceptors: [...interceptors],
    fetch: endingFetch(fetch ?? ((...request) => globalThis.fetch(...request))),
  });
  return createClientOver(settings, { all: [{ transport }], streaming: false, close() {} });
}
