import { create, type MessageInitShape } from '@bufbuild/protobuf';
import { Decision } from '../../gen/proto/enforcement/v1/control_pb.js';
import {
  EvaluateResponseSchema,
  type LimitStatusSchema,
  Outcome,
} from '../../gen/proto/enforcement/v1/evaluation_service_pb.js';
import { evaluatedBy } from '../../packages/client/src/combined.js';
import type { Evaluation } from '../../packages/client/src/node.js';

export const ALLOWED = evaluatedBy(
  create(EvaluateResponseSchema, { isSafe: true, outcome: Outcome.ALLOW, selectedControls: 1 }),
);

/** A match of the control with this id. */
export const matchOf = (controlId: number, action = Decision.DENY) => ({
  controlId,
  controlName: `control-${controlId}`,
  action,
  result: { matched: true },
});

/** An evaluation of a step that controls deny, with limits. */
export function denied(more: MessageInitShape<typeof EvaluateResponseSchema>): Evaluation {
  return evaluatedBy(create(EvaluateResponseSchema, { isSafe: false, outcome: Outcome.DENY, ...more }));
}

/** A limit of a control that is reached, and has room again after this time. */
export function reached(controlId: number, retryMs: number): MessageInitShape<typeof LimitStatusSchema> {
  const retryAfter = { seconds: BigInt(Math.floor(retryMs / 1_000)), nanos: (retryMs % 1_000) * 1_000_000 };
  return { controlId, controlName: `control-${controlId}`, evaluatorName: 'rate', limit: 3, retryAfter };
}

/** An evaluation of a step that a limit denies. */
export const limited = (retryMs: number): Evaluation =>
  denied({ matches: [matchOf(1)], limits: [reached(1, retryMs)] });
