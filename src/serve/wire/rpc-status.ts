import type { DescMessage, MessageInitShape } from '@bufbuild/protobuf';
import { Code, ConnectError } from '@connectrpc/connect';
import { RetryInfoSchema } from '../../../gen/proto/google/rpc/error_details_pb.js';
import { CHALLENGE_HEADER } from './reply-headers.js';

/** A status detail: its message type, and its fields as accepted by `create` of protobuf-es. */
export interface StatusDetail {
  readonly desc: DescMessage;
  readonly value: Record<string, unknown>;
}

/** A gRPC status, independent of protocol. Not an Error, because those are more expensive to create. */
export class RpcStatus {
  readonly code: Code;
  readonly message: string;
  readonly details: readonly StatusDetail[];
  /** The value of the trailer www-authenticate; undefined for none. */
  readonly challenge: string | undefined;

  constructor(code: Code, message: string, details: readonly StatusDetail[] = [], challenge?: string) {
    this.code = code;
    this.message = message;
    this.details = details;
    this.challenge = challenge;
  }
}

/** Trailer with the time after which a client of gRPC tries a failed call again (gRPC proposal A6). */
export const PUSHBACK_TRAILER = 'grpc-retry-pushback-ms';

/** The value of that trailer; undefined if the status does not say when a retry is useful. */
export function pushbackOf({ details }: RpcStatus): string | undefined {
  for (const { desc, value } of details) {
    if (desc !== RetryInfoSchema) continue;
    const { retryDelay } = value as MessageInitShape<typeof RetryInfoSchema>;
    return String(Number(retryDelay?.seconds ?? 0n) * 1_000 + Math.ceil((retryDelay?.nanos ?? 0) / 1e6));
  }
  return undefined;
}

/** Converts a status to a ConnectError. */
export function connectErrorOf(status: RpcStatus): ConnectError {
  const { code, message, details, challenge } = status;
  const pushback = pushbackOf(status);
  const metadata = {
    ...(pushback === undefined ? {} : { [PUSHBACK_TRAILER]: pushback }),
    ...(challenge === undefined ? {} : { [CHALLENGE_HEADER]: challenge }),
  };
  return new ConnectError(message, code, metadata, details as ConstructorParameters<typeof ConnectError>[3]);
}

/** Converts a ConnectError to a status. */
export function statusOfConnectError(error: ConnectError): RpcStatus {
  const details = error.details.filter((detail): detail is StatusDetail & typeof detail => 'desc' in detail);
  const challenge = error.metadata.get(CHALLENGE_HEADER) ?? undefined;
  return new RpcStatus(error.code, error.rawMessage, details, challenge);
}

const WORDS = new Map(
  Object.entries(Code)
    .filter((entry): entry is [string, Code] => typeof entry[1] === 'number')
    .map(([name, code]) => [code, name.replace(/(?<=[a-z])[A-Z]/g, (letter) => `_${letter}`).toLowerCase()]),
);

/** The name of a status in the metrics, for example `invalid_argument`. */
export function codeWord(code: Code): string {
  return WORDS.get(code) ?? 'unknown';
}

/** Whether a status is a server fault, which is logged. */
export function isUnexpected({ code }: { readonly code: Code }): boolean {
  return code === Code.Internal || code === Code.Unknown || code === Code.DataLoss;
}
