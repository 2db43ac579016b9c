import { isObject, type JsonValue } from '../../../packages/exact-json/src/index.js';
import type { Sealing } from '../../contract/secrets/sealing.js';
import type { Step } from '../../kernel/core/types.js';
import { stepSha256 } from '../decisions/step-hash.js';
import { approvalConflict, wrongMember } from './approval-errors.js';
import type { ApprovalRow } from './approval-row.js';
import type { ApprovalStore } from './approval-store.js';
import { bindingOf } from './binding.js';
import { isMaskProblem, restoredInput } from './shown-step.js';
import { sealedStep, stepIn } from './stored-step.js';

/** A step that an approver put in the place of the one that waits. */
export interface NarrowedStep {
  readonly step: Step;
  /** Its members that are stored. */
  readonly stored: {
    readonly stepSha256: string;
    readonly narrowedBinding: string;
    /** Sealed. */
    readonly narrowedStep: string;
  };
}

/**
 * The step with another input; null if it is the same step. Throws VALIDATION_ERROR for an input that cannot be one of the step, and
 * APPROVAL_CONFLICT if the step is not kept any more.
 */
export async function narrowedStep(
  store: Pick<ApprovalStore, 'evidence'>,
  sealing: Sealing,
  row: ApprovalRow,
  sent: JsonValue,
): Promise<NarrowedStep | null> {
  const original = await storedStep(store, sealing, row);
  if (original === null) throw approvalConflict(row.id, 'has a step that cannot be read any more');
  const input = restoredInput(sent, original.input);
  if (isMaskProblem(input)) {
    const place = ['input', ...input.path].join('.');
    const message = `has a mask at ${place} that stands for nothing: keep masked texts where they were`;
    throw wrongMember('narrowed_input_json', 'value_error', message);
  }
  if (original.type === 'tool' && !isObject(input)) {
    throw wrongMember('narrowed_input_json', 'value_error', 'the input of a tool step must be an object');
  }
  const step: Step = { ...original, input };
  const digest = stepSha256(step);
  if (digest === row.stepSha256) return null;
  const stored = {
    stepSha256: digest,
    narrowedBinding: bindingOf(row, row.controls, step),
    narrowedStep: sealedStep(sealing, step, row.namespace, digest),
  };
  return { step, stored };
}

/** The step that waits; null if it was removed or cannot be read. */
export async function storedStep(
  store: Pick<ApprovalStore, 'evidence'>,
  sealing: Sealing,
  row: ApprovalRow,
): Promise<Step | null> {
  const kept = await store.evidence(row.id);
  const stored = row.narrowedBinding === null ? kept?.step : kept?.narrowedStep;
  return typeof stored === 'string' ? stepIn(sealing, stored, row.namespace, row.stepSha256) : null;
}
