import type { JsonValue } from '../../../packages/exact-json/src/index.js';
import type { Step } from './step.js';

/**
 * Deny controls whose match does not end the matter: a person may approve the step (`action.approval`), or the step is changed
 * (`action.modify`). The core says which controls of a verdict these are and makes the changed step; who approved what is
 * passed in.
 */

/** Data of a step that an approval is bound to. */
export type ApprovalBinding = 'step' | readonly string[];

/** How often an approval may be used. */
export type ApprovalReuse = 'once' | 'session' | { readonly seconds: number };

/** Who decides about the steps that a control matches; see ApprovalRule of the proto. Defaults are filled in. */
export interface ApprovalRule {
  readonly approvers: readonly string[];
  readonly quorum: number;
  readonly expiresSeconds: number;
  readonly bind: ApprovalBinding;
  readonly reuse: ApprovalReuse;
  readonly question: string | null;
  readonly separate: boolean;
}

/** A change of a step; see StepChange of the proto. */
export type StepChange =
  | { readonly path: string; readonly replace: 'matches' | 'value'; readonly with: string }
  | { readonly path: string; readonly remove: true };

/** What a definition says about the lifting of its match. */
export interface LiftView {
  /** Null for a control that changes steps. */
  readonly approval: ApprovalRule | null;
  /** Empty for a control that asks. */
  readonly changes: readonly StepChange[];
}

/** The same, with the hash of the definition. */
export interface PreparedLift extends LiftView {
  /** See `LiftableControl`. */
  readonly definitionHash: string;
}

/** An operation of JSON Patch (RFC 6902). */
export type PatchOperation =
  | { readonly op: 'replace'; readonly path: string; readonly value: JsonValue }
  | { readonly op: 'remove'; readonly path: string };

/** A step after changes. */
export interface ChangedStep {
  readonly step: Step;
  /** From the step before. Not empty. */
  readonly patch: readonly PatchOperation[];
}

/** A control whose match may be lifted. */
export interface LiftableControl {
  readonly id: number;
  readonly name: string;
  /** SHA-256 of the canonical JSON of its definition, in hexadecimal digits: another definition is another control. */
  readonly definitionHash: string;
  /** Null for a control that changes steps. */
  readonly approval: ApprovalRule | null;
}

/** What is left to do about a verdict that only liftable controls make unsafe. */
export interface Lifts {
  /** The controls that ask for an approval, by id ascending. */
  readonly asking: readonly LiftableControl[];
  /** The controls that change the step, by id ascending. */
  readonly changing: readonly LiftableControl[];
}

/** A step that cannot be changed as its controls say, such as one whose match has no place. It is denied. */
export interface UnchangeableStep {
  readonly problem: string;
}
