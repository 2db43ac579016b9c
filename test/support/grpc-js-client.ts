import {
  type ChannelCredentials,
  Client,
  credentials,
  loadPackageDefinition,
  type Metadata,
  type ServiceClientConstructor,
  type ServiceError,
} from '@grpc/grpc-js';
import { loadSync } from '@grpc/proto-loader';
import { PROTO_LOADER_OPTIONS } from './protocol-clients.js';

/** A gRPC client that shares no code with the service: made from .proto files at run time. */
export function grpcJsClient(
  service: { readonly host: string; readonly port: number },
  protoFile: string,
  serviceName: string,
  channel: ChannelCredentials = credentials.createInsecure(),
): Client & Record<string, (...parameters: unknown[]) => unknown> {
  const loaded = loadPackageDefinition(loadSync(protoFile, { ...PROTO_LOADER_OPTIONS, oneofs: true }));
  let found: unknown = loaded;
  for (const part of serviceName.split('.')) found = (found as Record<string, unknown>)[part];
  const Constructor = found as ServiceClientConstructor;
  return new Constructor(`${service.host}:${service.port}`, channel) as never;
}

/** How a call ended. */
export interface GrpcOutcome {
  /** gRPC status code; 0 is OK. */
  readonly code: number;
  readonly details: string;
  readonly reply: Buffer | undefined;
  readonly trailers: Metadata | undefined;
}

type Address = { readonly host: string; readonly port: number };

/** A client for calls of any bytes, which holds its connection until it is closed. */
export const rawGrpcClient = ({ host, port }: Address): Client =>
  new Client(`${host}:${port}`, credentials.createInsecure());

/** A unary call with the bytes of a message, whatever they are, over a connection of its own. */
export function rawGrpcCall(
  service: Address,
  rpc: string,
  message: Buffer,
  metadata: Metadata,
): Promise<GrpcOutcome> {
  const client = rawGrpcClient(service);
  return rawGrpcCallOver(client, rpc, message, metadata).finally(() => client.close());
}

/** The same over the connection of a client. */
export function rawGrpcCallOver(
  client: Client,
  rpc: string,
  message: Buffer,
  metadata: Metadata,
): Promise<GrpcOutcome> {
  return new Promise<GrpcOutcome>((done) => {
    const asIs = (bytes: Buffer) => bytes;
    client.makeUnaryRequest(
      `/${rpc}`,
      asIs,
      asIs,
      message,
      metadata,
      (error: ServiceError | null, reply?: Buffer) =>
        done({
          code: error?.code ?? 0,
          details: error?.details ?? '',
          reply,
          trailers: error?.metadata,
        }),
    );
  });
}
