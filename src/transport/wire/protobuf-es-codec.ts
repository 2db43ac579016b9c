import { type DescMessage, fromBinary, type Message, type MessageShape, toBinary } from '@bufbuild/protobuf';
import {
  EvaluateBatchRequestSchema,
  EvaluateBatchResponseSchema,
  EvaluateRequestSchema,
  EvaluateResponseSchema,
  EvaluateStreamRequestSchema,
  EvaluateStreamResponseSchema,
} from '../../../gen/proto/enforcement/v1/evaluation_service_pb.js';
import type { EvaluationCodec } from './evaluation-codec.js';
import {
  batchMessage,
  evaluationFieldsOf,
  noticeMessage,
  streamFieldsOf,
  streamReplyMessage,
  verdictMessage,
} from './evaluation-messages.js';
import { MESSAGE_RECURSION_LIMIT } from './free-form-mapper.js';

/** Bytes before each gRPC message: a flag and the length. */
const PREFIX_LENGTH = 5;

/** The codec based on protobuf-es messages: the reference for tests and benchmarks of other codecs. */
export const protobufEsCodec: EvaluationCodec = {
  heavy: 'grpc',
  decodeEvaluate: (bytes) => evaluationFieldsOf(read(EvaluateRequestSchema, bytes)),
  decodeBatch: (bytes) => read(EvaluateBatchRequestSchema, bytes).evaluations.map(evaluationFieldsOf),
  decodeStream: (bytes) => streamFieldsOf(read(EvaluateStreamRequestSchema, bytes)),
  frameVerdict: (verdict) => frame(EvaluateResponseSchema, verdictMessage(verdict)),
  frameBatch: (outcomes) => frame(EvaluateBatchResponseSchema, batchMessage(outcomes)),
  frameStream(replies) {
    const frames = replies.map((reply) => frame(EvaluateStreamResponseSchema, streamReplyMessage(reply)));
    const [only] = frames;
    return frames.length === 1 && only !== undefined ? only : Buffer.concat(frames);
  },
  frameNotice: (drainWithinMs) => frame(EvaluateStreamResponseSchema, noticeMessage(drainWithinMs)),
};

function read<Desc extends DescMessage>(desc: Desc, bytes: Uint8Array): MessageShape<Desc> {
  return fromBinary(desc, bytes, { recursionLimit: MESSAGE_RECURSION_LIMIT });
}

function frame(desc: DescMessage, message: Message): Buffer {
  const bytes = toBinary(desc, message);
  const framed = Buffer.allocUnsafe(PREFIX_LENGTH + bytes.length);
  framed[0] = 0;
  framed.writeUInt32BE(bytes.length, 1);
  framed.set(bytes, PREFIX_LENGTH);
  return framed;
}
