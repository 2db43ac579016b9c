import type { ConnectError } from '@connectrpc/connect';
import type { EvaluateResponse } from '../../../gen/proto/enforcement/v1/evaluation_service_pb.js';
import type { Approval } from './approvals.js';
import { type Halt, haltOf, type Limit, limitsOf, retryAfterMsOf } from './limits.js';
import type { Stage } from './types.js';

/** The checked step and the stage of the check. */
export interface CheckedStep {
  /** Undefined for the agent of the client. */
  readonly agent: string | undefined;
  /** Name of the step. */
  readonly step: string;
  readonly stage: Stage;
}

/** A step must not proceed unchanged. After a check with stage `post` nothing in here quotes the output. */
export abstract class StepError extends Error {
  readonly agent: string | undefined;
  readonly step: string;
  readonly stage: Stage;
  /** Names of the controls that caused it. */
  readonly controls: readonly string[];
  /**
   * Undefined when the service did not answer. After the step ran, without explanations of evaluators. Not enumerable,
   * because it quotes patterns: what prints or serializes the error does not show it.
   */
  declare readonly verdict: EvaluateResponse | undefined;
  /**
   * The full reason, for logs and people: names of controls, patterns, errors. Not enumerable. The `message` is what a
   * model may see: what happened and what to do differently, never how a control decides.
   */
  declare readonly reason: string | undefined;
  /** State of the limits that were applied to the step. Not enumerable. */
  declare readonly limits: readonly Limit[];
  /** The halt that denied the step; undefined without one. */
  readonly halt: Halt | undefined;
  /** Milliseconds after which the step may be repeated with a chance to pass; undefined if time alone does not help. */
  readonly retryAfterMs: number | undefined;

  constructor(
    message: string,
    checked: CheckedStep,
    controls: readonly string[],
    verdict?: EvaluateResponse,
    options?: ErrorOptions,
  ) {
    super(message, options);
    this.agent = checked.agent;
    this.step = checked.step;
    this.stage = checked.stage;
    this.controls = controls;
    hidden(this, 'verdict', verdict);
    hidden(this, 'reason', verdict?.reason);
    hidden(this, 'limits', verdict === undefined ? [] : limitsOf(verdict));
    this.halt = verdict === undefined ? undefined : haltOf(verdict);
    this.retryAfterMs = verdict === undefined ? undefined : retryAfterMsOf(verdict);
  }
}

function hidden(error: StepError, name: 'verdict' | 'reason' | 'limits', value: unknown): void {
  Object.defineProperty(error, name, { value, enumerable: false, configurable: true, writable: false });
}

/** A deny control matched, or could not be evaluated. */
export class DeniedError extends StepError {
  override readonly name: string = 'DeniedError';
}

/** The service did not evaluate the step, and without an answer nothing may proceed. Has a cause. */
export class NotEvaluatedError extends DeniedError {
  override readonly name = 'NotEvaluatedError';
  declare readonly cause: ConnectError;

  constructor(message: string, checked: CheckedStep, cause: ConnectError) {
    super(message, checked, [], undefined, { cause });
    hidden(this, 'reason', `The step was not evaluated: ${cause.rawMessage}`);
  }
}

/** A step that has to do with an approval. */
abstract class ApprovalError extends DeniedError {
  readonly approval: Approval;

  constructor(
    message: string,
    checked: CheckedStep,
    controls: readonly string[],
    verdict: EvaluateResponse,
    approval: Approval,
  ) {
    super(message, checked, controls, verdict);
    this.approval = approval;
  }
}

/** A person must approve the step before it runs: once that is done, the same call passes. */
export class ApprovalRequiredError extends ApprovalError {
  override readonly name = 'ApprovalRequiredError';
}

/** A person did not approve the step. `approval.reason` is what the person says about it. */
export class ApprovalDeniedError extends ApprovalError {
  override readonly name = 'ApprovalDeniedError';
}

/** The approval of the step has expired, or was cancelled: see `approval.state` and `approval.reason`. */
export class ApprovalExpiredError extends ApprovalError {
  override readonly name = 'ApprovalExpiredError';
}

/** A steer control matched: the step may be retried after the required actions. */
export class SteerError extends StepError {
  override readonly name = 'SteerError';
  /** What the agent should do differently. */
  readonly steering: string;
  /** Actions required of the agent before a retry. */
  readonly requiredActions: readonly string[];

  constructor(
    message: string,
    checked: CheckedStep,
    controls: readonly string[],
    verdict: EvaluateResponse,
    steering: { readonly message: string; readonly requiredActions: readonly string[] },
  ) {
    super(message, checked, controls, verdict);
    this.steering = steering.message;
    this.requiredActions = steering.requiredActions;
  }
}

/**
 * The input or the output of a guarded tool cannot be checked as it is. With stage `pre` the tool did not run; with
 * stage `post` it ran, and its result is withheld. The message names the option that mends it.
 */
export class StepDataError extends TypeError {
  override readonly name = 'StepDataError';
  readonly step: string;
  readonly stage: Stage;

  constructor(message: string, step: string, stage: Stage) {
    super(message);
    this.step = step;
    this.stage = stage;
  }
}
