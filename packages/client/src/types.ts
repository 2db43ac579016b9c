import type { ConnectError } from '@connectrpc/connect';
import type { EvaluateResponse } from '../../../gen/proto/enforcement/v1/evaluation_service_pb.js';
import type { Approval } from './approvals.js';
import type { Halt, Limit } from './limits.js';

/** Headers of a call: an object, a list of pairs, or Headers. */
export type HeaderValues = ConstructorParameters<typeof Headers>[0];

/** `pre` before a step runs, `post` after it ran. */
export type Stage = 'pre' | 'post';

/** Result for an evaluation that the service did not answer. */
export type OnUnavailable = 'deny' | 'allow';

/**
 * The verdict in one word: `allow` when the step may proceed unchanged. `ask` and `modify` are for callers that accept
 * them (`accepts`); everything that this client does not know is `deny`.
 */
export type Outcome = 'allow' | 'deny' | 'steer' | 'ask' | 'modify';

/** A step an agent takes. Its data are sent as JSON; a bigint keeps all its digits. */
export interface Step {
  /** Step type, for example `llm`; `tool` when absent. */
  readonly type?: string | undefined;
  readonly name: string;
  /** Input of the step; an object for a tool. */
  readonly input: unknown;
  /** Output of the step, after it ran. */
  readonly output?: unknown;
  /** Further facts for controls. */
  readonly context?: Readonly<Record<string, unknown>> | null | undefined;
}

/** A step to evaluate. */
export interface EvaluationRequest {
  /** Agent name; the `agent` of the client when absent. */
  readonly agent?: string | undefined;
  readonly stage: Stage;
  readonly step: Step;
}

/** How an evaluation waits for a limit that its step has reached. */
export interface WaitForLimits {
  /** Longest time of all waits of one evaluation, in milliseconds: 1 to 2^31 - 1. It does not wait for what takes longer. */
  readonly maxWaitMs: number;
  /** Most times that the step is evaluated again, 1 to 1,000; 10 when absent. */
  readonly maxRetries?: number | undefined;
}

/** How an evaluation waits for the decision of a person about its step. */
export interface WaitForApproval {
  /**
   * Longest time that it waits, in milliseconds: 1 to 2^31 - 1. Then the outcome is `ask`, and the approval is still pending.
   * When absent, it waits until the approval expires.
   */
  readonly maxWaitMs?: number | undefined;
  /** Called for each approval before it waits. Only with the answer `wait` it does; what it throws, the evaluation throws. */
  readonly onAsk?: ((approval: Approval, step: Step) => OnAsk | Promise<OnAsk>) | undefined;
}

/** What a call whose step needs an approval does: it waits for the decision, or throws an `ApprovalRequiredError`. */
export type OnAsk = 'wait' | 'throw';

/** Options of one evaluation. */
export interface EvaluationOptions {
  /** Longest time from the call to the answer, in milliseconds, retries included: 1 to 2^31 - 1. */
  readonly timeoutMs?: number | undefined;
  /** Use the controls of this revision or a later one, 0 to 2^53 - 1. See also `atLeast`. */
  readonly minRevision?: number | bigint | undefined;
  /** `full` adds the controls that did not match, metadata and traces. `verdict` when absent. */
  readonly detail?: 'verdict' | 'full' | undefined;
  /** Result for an evaluation that the service did not answer in time. */
  readonly onUnavailable?: OnUnavailable | undefined;
  /** Aborts the evaluation: the call rejects with the reason of the signal. */
  readonly signal?: AbortSignal | undefined;
  /** Headers of the call. The evaluation is then sent in a call of its own, because a stream has its headers once. */
  readonly headers?: HeaderValues | undefined;
  /**
   * Position in a trace as in the header of W3C Trace Context; that of the `traceparent` of the client when absent. It
   * is recorded with the events of the evaluation.
   */
  readonly traceparent?: string | undefined;
  /** Id of the session (conversation, run, task) that the step belongs to, 1 to 255 characters. */
  readonly sessionId?: string | undefined;
  /** Id of the step, the same before and after it ran and when the call is repeated, 1 to 255 characters. */
  readonly stepId?: string | undefined;
  /** Why the step failed, at most 4,096 characters; only with the stage `post`. */
  readonly stepError?: string | undefined;
  /**
   * Waits as long as the service says, and evaluates the step again, if nothing but limits denies or steers it. Each attempt
   * has the time limit `timeoutMs`. Off when absent.
   */
  readonly waitForLimits?: WaitForLimits | undefined;
  /**
   * Waits while a person decides about the step, if it needs an approval, and evaluates it again: that verdict is the result. If
   * it was not approved, the result has the outcome `deny` and the approval. When `signal` is aborted meanwhile, the approval
   * is cancelled. Each evaluation has the time limit `timeoutMs`. Off when absent.
   */
  readonly waitForApproval?: WaitForApproval | undefined;
  /** Outcomes that the caller can act on, besides `allow` and `deny`; `steer` when absent. */
  readonly accepts?: readonly Outcome[] | undefined;
}

/** An operation of JSON Patch (RFC 6902) on a step. */
export type PatchOperation =
  | { readonly op: 'replace'; readonly path: string; readonly value: unknown }
  | { readonly op: 'remove'; readonly path: string };

/**
 * How a step is changed so that it may proceed. Integers beyond 2^53 are bigints; a number that no double holds is an object
 * whose `toString` gives its digits.
 */
export interface Modification {
  /** The changes from the step that was evaluated to the one that may proceed. Not empty. */
  readonly patch: readonly PatchOperation[];
  /** The whole step that may proceed. */
  readonly step: Step;
  /** The controls that changed it, by id; empty if an approver did. */
  readonly controlIds: readonly number[];
}

/** The service evaluated the step. */
export interface Evaluated {
  readonly evaluated: true;
  /** Whether the step may proceed unchanged. */
  readonly isSafe: boolean;
  /** The verdict in one word; `allow` exactly when it is safe. */
  readonly outcome: Outcome;
  /** Why not; undefined when it is safe. */
  readonly reason: string | undefined;
  /** Id of the verdict, which events of the evaluation have, too; empty from services before version 7.6. */
  readonly decisionId: string;
  /** State of the limits that were applied to the step, the one with the smallest remaining share first. */
  readonly limits: readonly Limit[];
  /** The halt that denied the step; undefined without one. */
  readonly halt: Halt | undefined;
  /** The approval that the step waits for, that let it pass, or that was denied; undefined without one. */
  readonly approval: Approval | undefined;
  /** The step that may proceed instead; present with the outcome `modify` only. */
  readonly modification: Modification | undefined;
  /**
   * Milliseconds after which the step may be evaluated again with a chance to pass; undefined when it is safe, and if time
   * alone does not help.
   */
  readonly retryAfterMs: number | undefined;
  readonly verdict: EvaluateResponse;
}

/** The service did not evaluate the step: it was unavailable until the timeout. */
export interface NotEvaluated {
  readonly evaluated: false;
  /** True only with `onUnavailable: 'allow'`. */
  readonly isSafe: boolean;
  readonly reason: string;
  /** The last error. */
  readonly error: ConnectError;
}

export type Evaluation = Evaluated | NotEvaluated;

/** Result of one `evaluateStream` request: an evaluation, or the error of `evaluate`. */
export type StreamResult =
  | { readonly index: number; readonly request: EvaluationRequest; readonly evaluation: Evaluation }
  | { readonly index: number; readonly request: EvaluationRequest; readonly error: unknown };

/** Settings of the evaluations of a client. */
export interface EvaluationSettings {
  /** Agent of requests without one. */
  readonly agent?: string | undefined;
  /** Time limit of an evaluation without one, in milliseconds; 5,000 when absent. */
  readonly timeoutMs?: number | undefined;
  /** `deny` when absent: without an answer nothing may proceed. */
  readonly onUnavailable?: OnUnavailable | undefined;
  /** Longest time an evaluation waits for others to share its message, in milliseconds; 1 when absent. */
  readonly batchWindowMs?: number | undefined;
  /**
   * Most evaluations of one message, 1 to 1,000; 32 when absent. Evaluations of one message are answered together:
   * 1 suits an agent with slow evaluators.
   */
  readonly maxBatch?: number | undefined;
  /** Most evaluations sent and not answered; 1,024 when absent. Further ones wait. */
  readonly maxInFlight?: number | undefined;
}
