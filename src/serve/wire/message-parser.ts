import type { DescMethod, DescMethodStreaming, DescMethodUnary, Message } from '@bufbuild/protobuf';
import { createMethodSerializationLookup } from '@connectrpc/connect/protocol';
import { toConnectError } from './error-status.js';
import { correctedStatus } from './message-errors.js';
import { MESSAGE_OPTIONS } from './message-options.js';

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
