import { type DescMessage, ScalarType } from '@bufbuild/protobuf';
import {
  DurationSchema,
  ListValueSchema,
  StructSchema,
  TimestampSchema,
  ValueSchema,
} from '@bufbuild/protobuf/wkt';
import { describe, expect, it } from 'vitest';
import { SteeringContextSchema } from '../../../gen/proto/enforcement/v1/control_pb.js';
import {
  ControlResultSchema,
  EvaluateBatchRequestSchema,
  EvaluateBatchResponseSchema,
  EvaluateRequestSchema,
  EvaluateResponseSchema,
  EvaluateStreamRequestSchema,
  EvaluateStreamResponseSchema,
  EvaluateStreamResultSchema,
  EvaluatorResultSchema,
  HaltNoticeSchema,
  LimitStatusSchema,
  SchemaMismatchSchema,
  StepSchema,
  StreamNoticeSchema,
} from '../../../gen/proto/enforcement/v1/evaluation_service_pb.js';

/** The tags that the direct codec has in its code. A field that is added to a message has to be added there too. */
const TAGS: [DescMessage, string][] = [
  [
    EvaluateRequestSchema,
    '0a agent_name, 10 stage, 1a step, 22 step_json, 28 detail, 30 min_revision, 3a target_type, 42 target_id, 4a session_id, 52 step_id, 62 traceparent, 6a timeout, 72 accepts, 7a step_error',
  ],
  [StepSchema, '0a type, 12 name, 1a input, 22 output, 2a context'],
  [EvaluateBatchRequestSchema, '0a evaluations'],
  [EvaluateStreamRequestSchema, '0a id, 12 evaluations, 18 cancel'],
  [
    EvaluateResponseSchema,
    '08 is_safe, 11 confidence, 1a reason, 22 matches, 2a errors, 32 non_matches, 38 revision, 40 staleness_seconds, 48 outcome, 52 decision_id, 58 selected_controls, 60 evaluated_controls, 6a schema_mismatch, 70 skipped_controls, 7a limits, 82 halt, 8a approval, 92 modification',
  ],
  [
    LimitStatusSchema,
    '08 control_id, 12 control_name, 1a evaluator_name, 21 limit, 29 remaining, 32 resets_after, 3a retry_after, 42 window, 4a degraded, 52 key, 5a counts_since',
  ],
  [HaltNoticeSchema, '08 halt_id, 12 reason, 1a expires_at'],
  [TimestampSchema, '08 seconds, 10 nanos'],
  [SchemaMismatchSchema, '0a part, 12 path, 1a problem, 20 not_compared'],
  [
    ControlResultSchema,
    '0a control_execution_id, 10 control_id, 1a control_name, 20 action, 2a result, 32 steering_context',
  ],
  [EvaluatorResultSchema, '08 matched, 11 confidence, 1a message, 22 metadata, 2a error'],
  [SteeringContextSchema, '0a message, 12 required_actions'],
  [EvaluateBatchResponseSchema, '0a results'],
  [EvaluateStreamResponseSchema, '0a id, 12 results, 1a notice'],
  [StreamNoticeSchema, '0a drain_within'],
  [DurationSchema, '08 seconds, 10 nanos'],
  [EvaluateStreamResultSchema, '0a verdict, 12 error'],
  [
    ValueSchema,
    '08 null_value, 11 number_value, 1a string_value, 20 bool_value, 2a struct_value, 32 list_value',
  ],
  [StructSchema, '0a fields'],
  [DurationSchema, '08 seconds, 10 nanos'],
  [ListValueSchema, '0a values'],
];

describe('the fields that the direct codec supports', () => {
  it.each(TAGS)('are those of %s', (desc, tags) => {
    const found = [...desc.fields]
      .sort((a, b) => a.number - b.number)
      .map(({ name, number, scalar, message, fieldKind }) => {
        const isDelimited =
          fieldKind === 'map' ||
          // Packed.
          (fieldKind === 'list' && message === undefined) ||
          message !== undefined ||
          scalar === ScalarType.STRING ||
          scalar === ScalarType.BYTES;
        const wireType = isDelimited ? 2 : scalar === ScalarType.DOUBLE ? 1 : 0;
        return `${((number << 3) | wireType).toString(16).padStart(2, '0')} ${name}`;
      });
    expect(found.join(', ')).toBe(tags);
  });
});
