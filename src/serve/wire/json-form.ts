import { type DescMessage, type Message, toJsonString } from '@bufbuild/protobuf';
import {
  type EvaluateBatchRequest,
  EvaluateBatchResponseSchema,
  type EvaluateRequest,
  EvaluateResponseSchema,
  EvaluationService,
} from '../../../gen/proto/enforcement/v1/evaluation_service_pb.js';
import { textInEnvelope } from './envelope.js';
import type { MessageForm } from './evaluation-codec.js';
import { batchMessage, evaluationFieldsOf, verdictMessage } from './evaluation-messages.js';
import { withExactSteps } from './exact-steps.js';
import { createMessageParser, MESSAGE_OPTIONS } from './message-parser.js';

/** The JSON form of the messages of the evaluation, as protobuf-es reads and writes it. */
export function createJsonForm(): MessageForm {
  const { evaluate, evaluateBatch } = EvaluationService.method;
  const parseEvaluate = createMessageParser(evaluate);
  const parseBatch = createMessageParser(evaluateBatch);
  return {
    heavy: 'json',
    decodeEvaluate: (bytes) =>
      evaluationFieldsOf(parseEvaluate(withExactSteps(bytes) ?? bytes, false) as EvaluateRequest),
    decodeBatch: (bytes) =>
      (parseBatch(withExactSteps(bytes) ?? bytes, false) as EvaluateBatchRequest).evaluations.map(
        evaluationFieldsOf,
      ),
    frameVerdict: (verdict) => frame(EvaluateResponseSchema, verdictMessage(verdict)),
    frameBatch: (outcomes) => frame(EvaluateBatchResponseSchema, batchMessage(outcomes)),
  };
}

function frame(desc: DescMessage, message: Message): Buffer {
  return textInEnvelope(0, toJsonString(desc, message, MESSAGE_OPTIONS.jsonOptions));
}
