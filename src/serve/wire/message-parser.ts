import {
  createRegistry,
  type DescMethod,
  type DescMethodStreaming,
  type DescMethodUnary,
  type Message,
} from '@bufbuild/protobuf';
import { createMethodSerializationLookup } from '@connectrpc/connect/protocol';
import {
  BadRequestSchema,
  ErrorInfoSchema,
  RetryInfoSchema,
} from '../../../gen/proto/google/rpc/error_details_pb.js';
import { toConnectError } from './error-status.js';
import { MESSAGE_RECURSION_LIMIT } from './free-form-mapper.js';
import { correctedStatus } from './message-errors.js';

/** Messages used as status details. */
const DETAIL_TYPES = createRegistry(ErrorInfoSchema, BadRequestSchema, RetryInfoSchema);

/** How protobuf-es reads and writes messages, wherever it does. */
export const MESSAGE_OPTIONS = {
  binaryOptions: { recursionLimit: MESSAGE_RECURSION_LIMIT },
  // A status inside a reply carries its details as Any, whose JSON form requires their types.
  jsonOptions: { recursionLimit: MESSAGE_RECURSION_LIMIT, registry: DETAIL_TYPES },
};

/** Sizes were limited where the message arrived. */
const NO_LIMITS = { readMaxBytes: 0xffffffff, writeMaxBytes: 0xffffffff };

/** Parses messages of a method as Connect does, with the same errors; for threads that read large ones. */
export function createMessageParser(desc: DescMethod): (bytes: Uint8Array, isBinary: boolean) => Message {
  const { binaryOptions, jsonOptions } = MESSAGE_OPTIONS;
  const method = desc as DescMethodUnary | DescMethodStreaming;
  const serialization = createMethodSerializationLookup(method, binaryOptions, jsonOptions, NO_LIMITS);
  return (bytes, isBinary) => {
    try {
      return serialization.getI(isBinary).parse(bytes);
    } catch (error) {
      const { code, rawMessage } = toConnectError(error);
      // In a stream, invalid JSON is reported as protobuf-es words it.
      const json = desc.methodKind === 'unary' && !isBinary ? { text: () => decodeUtf8(bytes) } : null;
      throw correctedStatus(code, rawMessage, json) ?? error;
    }
  };
}

function decodeUtf8(bytes: Uint8Array): string {
  return Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength).toString('utf8');
}
