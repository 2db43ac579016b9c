import { Code, ConnectError } from '@connectrpc/connect';
import type { Services } from './services.js';

/** What a service can do. */
export interface ServerInfo {
  /** Version of the service; undefined for one that does not tell. */
  readonly version: string | undefined;
  /** Features of the API that older services lack; empty for a service before version 7.6. */
  readonly features: ReadonlySet<string>;
  /** Largest request message, in bytes; undefined for a service that does not tell. */
  readonly maxMessageBytes: number | undefined;
}

/** Reads once what the service can do. */
export interface ServerInfoReader {
  /** Rejects with a ConnectError when the service does not answer; then the next call asks again. */
  read(): Promise<ServerInfo>;
  /** Whether the service is known to have a feature. Asks when nothing is known yet, without waiting. */
  has(feature: string): boolean;
}

const OLD_SERVER: ServerInfo = { version: undefined, features: new Set(), maxMessageBytes: undefined };

export function createServerInfoReader(server: Services['server']): ServerInfoReader {
  let known: ServerInfo | undefined;
  let reading: Promise<ServerInfo> | undefined;

  async function ask(): Promise<ServerInfo> {
    try {
      const { version, features, maxMessageBytes } = await server.getServerInfo({}, { timeoutMs: 5_000 });
      return { version, features: new Set(features), maxMessageBytes: Number(maxMessageBytes) };
    } catch (error) {
      if (ConnectError.from(error).code === Code.Unimplemented) return OLD_SERVER;
      throw error;
    }
  }

  function read(): Promise<ServerInfo> {
    if (known !== undefined) return Promise.resolve(known);
    reading ??= ask().then(
      (info) => {
        reading = undefined;
        known = info;
        return info;
      },
      (error) => {
        reading = undefined;
        throw error;
      },
    );
    return reading;
  }

  return {
    read,
    has(feature) {
      if (known === undefined) void read().catch(() => {});
      return known?.features.has(feature) === true;
    },
  };
}
