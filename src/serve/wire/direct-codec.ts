import { BackwardWriter } from './backward-writer.js';
import type { EvaluationCodec } from './evaluation-codec.js';
import { protobufEsCodec } from './protobuf-es-codec.js';
import { readBatchRequest, readRequestMessage, readStreamRequest } from './request-reader.js';
import { writeBatchReply, writeNotice, writeStreamReply, writeVerdict } from './verdict-writer.js';
import { UNUSUAL } from './wire-reader.js';

/**
 * Codec without intermediate message objects: from bytes to request fields, from a verdict to bytes. It reads
 * the usual form of protobuf writers; everything else, valid or not, is left to protobuf-es, so that both
 * accept and refuse the same input with the same errors. It is synchronous, so one writer is enough.
 */
export const directCodec: EvaluationCodec = {
  heavy: 'grpc',
  decodeEvaluate: orElse(readRequestMessage, protobufEsCodec.decodeEvaluate),
  decodeBatch: orElse(readBatchRequest, protobufEsCodec.decodeBatch),
  decodeStream: orElse(readStreamRequest, protobufEsCodec.decodeStream),
  frameVerdict(verdict) {
    writer.start();
    writeVerdict(writer, verdict);
    writer.frame(0);
    return writer.finish();
  },
  frameBatch(outcomes) {
    writer.start();
    writeBatchReply(writer, outcomes);
    writer.frame(0);
    return writer.finish();
  },
  frameStream(replies) {
    writer.start();
    for (let index = replies.length - 1; index >= 0; index -= 1) {
      const before = writer.length;
      writeStreamReply(writer, replies[index] as (typeof replies)[number]);
      writer.frame(before);
    }
    return writer.finish();
  },
  frameNotice(drainWithinMs) {
    writer.start();
    writeNotice(writer, drainWithinMs);
    writer.frame(0);
    return writer.finish();
  },
};

const writer = new BackwardWriter();

function orElse<Fields>(
  read: (bytes: Uint8Array) => Fields,
  fallback: (bytes: Uint8Array) => Fields,
): (bytes: Uint8Array) => Fields {
  return (bytes) => {
    try {
      return read(bytes);
    } catch (error) {
      if (error === UNUSUAL) return fallback(bytes);
      throw error;
    }
  };
}
