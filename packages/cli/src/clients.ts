import type { DescService } from '@bufbuild/protobuf';
import type { Client } from '@connectrpc/connect';
import type { GetServerInfoResponse } from '../../../gen/proto/enforcement/v1/server_service_pb.js';
import type { Connection } from './connection.js';
import { CliError, messageOf } from './errors.js';
import { createRest, type Rest, unreachable } from './rest.js';

const RPC_TIMEOUT_MS = 30_000;

/** Clients of one server. */
export interface Clients {
  readonly connection: Connection;
  readonly rest: Rest;
  /** A client over gRPC, for what has no JSON route. */
  rpc<S extends DescService>(service: S): Promise<Client<S>>;
}

export function createClients(connection: Connection, signal: AbortSignal): Clients {
  const { server, headers } = connection;
  return {
    connection,
    rest: createRest(server, headers, signal),
    async rpc(service) {
      const [{ createClient }, { createGrpcTransport }] = await Promise.all([
        import('@connectrpc/connect'),
        import('@connectrpc/connect-node'),
      ]);
      const transport = createGrpcTransport({
        baseUrl: server,
        interceptors: [
          (next) => (request) => {
            for (const [name, value] of Object.entries(headers)) request.header.set(name, value);
            return next(request);
          },
        ],
      });
      return createClient(service, transport);
    },
  };
}

/** Throws a `CliError` if the credential is of another namespace. */
export async function demandNamespace(clients: Clients, namespace: string): Promise<void> {
  const info = await serverInfo(clients);
  if (info.namespace === namespace) return;
  throw new CliError(
    `the key is of the namespace ${info.namespace}, not of ${namespace}`,
    'A key decides about the namespace: use one of that namespace, or its --context.',
  );
}

/** What the server tells about itself and the caller. */
export async function serverInfo(clients: Clients): Promise<GetServerInfoResponse> {
  const { ServerService } = await import('../../../gen/proto/enforcement/v1/server_service_pb.js');
  try {
    return await (await clients.rpc(ServerService)).getServerInfo({}, { timeoutMs: RPC_TIMEOUT_MS });
  } catch (error) {
    throw rpcError(clients.connection.server, error);
  }
}

/** What a call over gRPC has thrown, as an error of the command. */
export function rpcError(server: string, error: unknown): CliError {
  if (error instanceof CliError) return error;
  const text = messageOf(error).replace(/^\[\w+\] /, '');
  return /^\[unavailable\]|ECONN|ENOTFOUND/.test(messageOf(error))
    ? unreachable(server, new Error(text))
    : new CliError(text);
}
