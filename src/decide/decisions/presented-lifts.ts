import { type JsonObject, stringifyJson } from '../../../packages/exact-json/src/index.js';
import { timeText } from './applied-limits.js';
import type { ApprovalNotice } from './approval-gate.js';
import type { StepModification } from './lifted-step.js';

/** An approval with the members of ApprovalNotice, in the form of JSON. */
export function presentApproval(notice: ApprovalNotice): JsonObject {
  return {
    id: notice.id,
    state: notice.state,
    expires_at: timeText(notice.expiresAtMs),
    step_sha256: notice.stepSha256,
    controls: notice.controls.map(({ id, name }) => ({ control_id: id, control_name: name })),
  };
}

/** A modification with the members of StepModification, in the form of JSON. */
export function presentModification({ step, patch, controlIds }: StepModification): JsonObject {
  const { type, name, input, output, context } = step;
  return {
    patch: patch.map((operation) => ({ ...operation })),
    step_json: stringifyJson({ type, name, input, output, context }),
    control_ids: [...controlIds],
  };
}
