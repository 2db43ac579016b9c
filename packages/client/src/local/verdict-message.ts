import { create } from '@bufbuild/protobuf';
import { Decision } from '../../../../gen/proto/enforcement/v1/control_pb.js';
import {
  type EvaluateResponse,
  EvaluateResponseSchema,
  Outcome,
} from '../../../../gen/proto/enforcement/v1/evaluation_service_pb.js';
import type { ControlResult, Verdict } from '../../../../src/kernel/core/types.js';
import { type JsonObject, stringifyJson } from '../../../exact-json/src/index.js';
import { outcomeOf } from '../verdict.js';

const DECISIONS = { deny: Decision.DENY, steer: Decision.STEER, observe: Decision.OBSERVE } as const;

/** A verdict of the core as the message that the service would send. */
export function verdictMessage(verdict: Verdict, revision: bigint): EvaluateResponse {
  const message = create(EvaluateResponseSchema, {
    isSafe: verdict.is_safe,
    confidence: verdict.confidence,
    matches: verdict.matches.map(resultMessage),
    errors: verdict.errors.map(resultMessage),
    nonMatches: verdict.non_matches.map(resultMessage),
    revision,
    selectedControls: verdict.selected_controls,
    evaluatedControls: verdict.evaluated_controls,
    skippedControls: verdict.skipped_controls,
    ...(verdict.reason === null ? {} : { reason: verdict.reason }),
  });
  message.outcome =
    { allow: Outcome.ALLOW, steer: Outcome.STEER }[outcomeOf(message) as string] ?? Outcome.DENY;
  return message;
}

/** A verdict for a step that cannot be decided here: not safe. */
export function undecided(reason: string, revision = 0n): EvaluateResponse {
  return create(EvaluateResponseSchema, {
    isSafe: false,
    confidence: 0,
    reason,
    revision,
    outcome: Outcome.DENY,
  });
}

function resultMessage(control: ControlResult) {
  const { message, metadata, error, matched, confidence } = control.result;
  return {
    controlExecutionId: control.control_execution_id,
    controlId: control.control_id,
    controlName: control.control_name,
    action: DECISIONS[control.action],
    result: {
      matched,
      confidence,
      ...(message === null ? {} : { message }),
      ...(error === null ? {} : { error }),
      ...(metadata === null ? {} : { metadata: asDoubles(metadata) }),
    },
    ...(control.steering_context === null
      ? {}
      : {
          steeringContext: {
            message: control.steering_context.message,
            requiredActions: [...(control.steering_context.required_actions ?? [])],
          },
        }),
  };
}

/** Messages have numbers as doubles only. */
function asDoubles(metadata: JsonObject) {
  return JSON.parse(stringifyJson(metadata));
}
