import type { TargetName } from '../../contract/call/namespace.js';
import type { LiftableControl } from '../../kernel/core/lift.js';
import type { Step } from '../../kernel/core/types.js';
import type { KnownCaller } from './evaluation-caller.js';

/** States of an approval, as in the proto. */
export const APPROVAL_STATES = ['pending', 'approved', 'denied', 'expired', 'cancelled', 'used'] as const;
export type ApprovalState = (typeof APPROVAL_STATES)[number];

/** An approval as callers of evaluations see it. */
export interface ApprovalNotice {
  readonly id: number;
  readonly state: ApprovalState;
  /** Milliseconds since 1970. */
  readonly expiresAtMs: number;
  /** See ExplainResponse.step_sha256. */
  readonly stepSha256: string;
  readonly controls: readonly { readonly id: number; readonly name: string }[];
}

/** A step at the stage pre that nothing but these controls denies. */
export interface AskedStep {
  /** Normalised. */
  readonly agentName: string;
  readonly sessionId: string | null;
  readonly stepId: string | null;
  readonly target: TargetName | null;
  /** The step that would run: after the changes of controls, if there are any. */
  readonly step: Step;
  /** By id ascending; not empty. */
  readonly controls: readonly LiftableControl[];
  /** Whose call it is. */
  readonly caller: KnownCaller;
}

/** What is known of the approval of a step. */
export type ApprovalAnswer =
  /** It waits for a decision. */
  | { readonly kind: 'waits'; readonly notice: ApprovalNotice; readonly reason: string }
  /** It must not run: it was denied, or cannot be asked. */
  | { readonly kind: 'refused'; readonly notice: ApprovalNotice | null; readonly reason: string }
  | {
      readonly kind: 'approved';
      readonly notice: ApprovalNotice;
      /** The step that may run instead, if the approver changed it and it is not this one. */
      readonly narrowed: Step | null;
      /**
       * Uses the approval, in one transaction; called when nothing else prevents the step, before it is counted. Answers as `ask`
       * does if it can no longer be used: another evaluation was faster, or it has ended. Never rejects but with the reason of
       * the signal.
       */
      use(): Promise<UsedApproval | Exclude<ApprovalAnswer, { kind: 'approved' }>>;
    };

/** An approval that was used for a step. */
export interface UsedApproval {
  readonly notice: ApprovalNotice;
  /**
   * Makes it usable again, because the step does not run after all. Never rejects: if it cannot be done, the approval stays used.
   */
  giveBack(): Promise<void>;
}

/** Asks people about steps. */
export interface ApprovalGate {
  /** Never rejects but with the reason of the caller's signal: without a database, the step is refused. */
  ask(asked: AskedStep): Promise<ApprovalAnswer>;
}
