/** The client for Node.js: index.ts with a gRPC transport. */
import { Code, ConnectError } from '@connectrpc/connect';
import { createGrpcTransport, Http2SessionManager } from '@connectrpc/connect-node';
import { checkedBaseUrl } from './base-url.js';
import { createClient as createClientOver } from './create-client.js';
import type { Client, ClientSettings, TransportOptions } from './types.js';

export * from './index.js';

/** A connection in use and silent for this long is pinged ... */
const PING_INTERVAL_MS = 5_000;
/** ... and closed after this long without an answer. */
const PING_TIMEOUT_MS = 3_000;

/** Settings of a client with its own gRPC connection. */
export interface AddressOptions extends ClientSettings {
  /** Scheme, host and port, for example `http://localhost:8000`; with https the connection is encrypted. */
  readonly baseUrl: string;
  /**
   * Certificates to trust instead of those that Node.js trusts, in PEM form: the authority that signed the certificate of
   * the service, or that certificate itself when it is self-signed.
   */
  readonly ca?: string | Buffer | undefined;
}

/**
 * Creates a client for an address, over gRPC, or over a given transport of Connect. Throws a TypeError when
 * the address is not `http://host:port` or `https://host:port`.
 */
export function createClient(options: AddressOptions | TransportOptions): Client {
  if ('transport' in options) return createClientOver(options);
  const { baseUrl: given, ca, ...settings } = options;
  const baseUrl = checkedBaseUrl(given);
  const sessionManager = new Http2SessionManager(
    baseUrl,
    { pingIntervalMs: PING_INTERVAL_MS, pingTimeoutMs: PING_TIMEOUT_MS },
    ca === undefined ? {} : { ca },
  );
  const abort = (message: string, code: Code): void => sessionManager.abort(new ConnectError(message, code));
  const transport = createGrpcTransport({ baseUrl, sessionManager, acceptCompression: [] });
  return createClientOver(
    { ...settings, transport, streaming: true },
    {
      resetConnection() {
        if (sessionManager.state() === 'connecting') abort('connecting took too long', Code.Unavailable);
      },
      close: () => abort('the client is closed', Code.Canceled),
    },
  );
}
