import { BackwardWriter } from './backward-writer.js';
import type { EvaluationCodec } from './evaluation-codec.js';
import { protobufEsCodec } from './protobuf-es-codec.js';
import { readBatchRequest, readRequestMessage, readStreamRequest } from './request-reader.js';
import { writeBatchReply, writeStreamReply, writeVerdict } from './verdict-writer.js';
import { UNUSUAL } from './wire-reader.js';

/**
 * The codec without message objects in between: from bytes to the fields of a request, from a verdict to bytes. It
 * reads what writers of protobuf write; everything else, valid or not, goes to protobuf-es, so that both accept and
 * refuse the same, with the same words. Nothing here waits, so one writer serves all.
 */
export const directCodec: EvaluationCodec = {
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
