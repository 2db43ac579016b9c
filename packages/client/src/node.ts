/** The client for Node.js: over gRPC with connections of its own. web.ts is the one for other runtimes. */
import { createGrpcTransport } from '@connectrpc/connect-node';
import type { Client, TransportOptions } from './client-types.js';
import { createClientOver } from './create-client.js';
import { type AddressSettings, clientOverTransport } from './index.js';
import { createSessions } from './sessions.js';
import { checkedBaseUrl, whole } from './settings.js';
import type { Connection } from './stream-pool.js';

export * from './index.js';

/** Most connections of one client. */
const MAX_CONNECTIONS = 100;

/** Settings of a client with its own gRPC connections. */
export interface AddressOptions extends AddressSettings {
  /**
   * Certificates to trust instead of those that Node.js trusts, in PEM form: the authority that signed the certificate of
   * the service, or that certificate itself when it is self-signed.
   */
  readonly ca?: string | Uint8Array | undefined;
  /** Certificate of this client, in PEM form, for a service that asks for one. Needs `key`. */
  readonly cert?: string | Uint8Array | undefined;
  /** Private key of `cert`, in PEM form. */
  readonly key?: string | Uint8Array | undefined;
  /** Passphrase of `key`, if it is encrypted. */
  readonly passphrase?: string | undefined;
  /**
   * Number of connections, 1 to 100; 1 when absent. Evaluations are spread over them. Several reach several replicas
   * behind a balancer of connections; they are opened on demand and one after the other.
   */
  readonly connections?: number | undefined;
}

/**
 * Creates a client for an address, over gRPC, or over a given transport of Connect. Throws a TypeError when
 * the address is not `http://host:port` or `https://host:port`.
 */
export function createClient(options: AddressOptions | TransportOptions): Client {
  if ('transport' in options) return clientOverTransport(options);
  const {
    baseUrl: given,
    ca,
    cert,
    key,
    passphrase,
    interceptors = [],
    connections = 1,
    ...settings
  } = options;
  const baseUrl = checkedBaseUrl(given);
  if ((cert === undefined) !== (key === undefined))
    throw new TypeError('cert and key need each other: give both');
  const tls = Object.fromEntries(
    Object.entries({ ca, cert, key, passphrase })
      .filter(([, value]) => value !== undefined)
      .map(([name, value]) => [name, typeof value === 'string' ? value : Buffer.from(value as Uint8Array)]),
  );
  const sessions = Array.from({ length: whole('connections', connections, MAX_CONNECTIONS) }, () =>
    createSessions(baseUrl, tls),
  );
  const all = sessions.map((session): Connection => {
    const { manager, renew, resetConnection } = session;
    const transport = createGrpcTransport({
      baseUrl,
      sessionManager: manager,
      acceptCompression: [],
      interceptors: [...interceptors],
    });
    const onGoaway = (callback: () => void): void => {
      session.onGoaway = callback;
    };
    return { transport, renew, resetConnection, onGoaway };
  });
  return createClientOver(settings, {
    all: all as [Connection, ...Connection[]],
    streaming: true,
    close() {
      for (const session of sessions) session.close();
    },
  });
}
