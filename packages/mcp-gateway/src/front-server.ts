import { type Implementation, Server, type ServerCapabilities } from '@modelcontextprotocol/server';
import { type ConnectionFacts, callerOf } from './caller.js';
import type { GatewayConfig } from './config.js';
import type { Relay } from './relay.js';
import { NO_VALIDATOR } from './upstream-client.js';

/** Makes the server of a connection or of one request. */
export type FrontServers = (facts: ConnectionFacts) => Server;

interface FrontOptions {
  readonly mapping: GatewayConfig['mapping'];
  readonly relay: Relay;
  readonly info: Implementation;
  /** What all upstreams are able to do now. */
  readonly capabilities: () => ServerCapabilities;
  readonly instructions: () => string | undefined;
  readonly onError: (error: Error) => void;
}

/**
 * Servers that answer the requests of the protocol itself, and pass on all others as they were sent: a server of the SDK with
 * handlers for methods would drop the members that it does not know.
 */
export function createFrontServers({
  mapping,
  relay,
  info,
  capabilities,
  instructions,
  onError,
}: FrontOptions): FrontServers {
  return (facts) => {
    const text = instructions();
    const server = new Server(info, {
      capabilities: capabilities(),
      jsonSchemaValidator: NO_VALIDATOR,
      ...(text === undefined ? {} : { instructions: text }),
    });
    server.onerror = onError;
    server.fallbackRequestHandler = async (request, ctx) =>
      relay(request, callerOf(mapping, server, ctx, facts), ctx);
    return server;
  };
}
