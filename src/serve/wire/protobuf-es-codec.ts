import { type DescMessage, fromBinary, type Message, type MessageShape, toBinary } from '@bufbuild/protobuf';
import {
  EvaluateBatchRequestSchema,
  EvaluateBatchResponseSchema,
  EvaluateRequestSchema,
  EvaluateResponseSchema,
  EvaluateStreamRequestSchema,
  EvaluateStreamResponseSchema,
} from '../../../gen/proto/enforcement/v1/evaluation_service_pb.js';
import { inEnvelope } from './envelope.js';
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
  return inEnvelope(0, toBinary(desc, message));
}
