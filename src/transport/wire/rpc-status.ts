import type { DescMessage } from '@bufbuild/protobuf';
import { Code, ConnectError } from '@connectrpc/connect';

/** A message that a status carries: its type, and its fields as `create` of protobuf-es takes them. */
export interface StatusDetail {
  readonly desc: DescMessage;
  readonly value: Record<string, unknown>;
}

/** A status of gRPC, before a protocol has given it its form. It is no Error, because those cost more to make. */
export class RpcStatus {
  readonly code: Code;
  readonly message: string;
  readonly details: readonly StatusDetail[];

  constructor(code: Code, message: string, details: readonly StatusDetail[] = []) {
    this.code = code;
    this.message = message;
    this.details = details;
  }
}

/** A status as Connect throws it. */
export function connectErrorOf({ code, message, details }: RpcStatus): ConnectError {
  return new ConnectError(message, code, undefined, details as ConstructorParameters<typeof ConnectError>[3]);
}

/** The status that Connect has thrown. */
export function statusOfConnectError(error: ConnectError): RpcStatus {
  const details = error.details.filter((detail): detail is StatusDetail & typeof detail => 'desc' in detail);
  return new RpcStatus(error.code, error.rawMessage, details);
}

const WORDS = new Map(
  Object.entries(Code)
    .filter((entry): entry is [string, Code] => typeof entry[1] === 'number')
    .map(([name, code]) => [code, name.replace(/(?<=[a-z])[A-Z]/g, (letter) => `_${letter}`).toLowerCase()]),
);

/** A status as the metrics name it, for example `invalid_argument`. */
export function codeWord(code: Code): string {
  return WORDS.get(code) ?? 'unknown';
}
