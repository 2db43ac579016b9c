import type { Transport } from '@connectrpc/connect';
import type { Approval } from './approvals.js';
import type { StepError } from './errors.js';
import type { ApiKey } from './key-source.js';
import type { LocalControls } from './local-controls.js';
import type { EventPublisher, PublishOptions } from './publish-events.js';
import type { ServerInfo } from './server-info.js';
import type { Services } from './services.js';
import type {
  Evaluation,
  EvaluationOptions,
  EvaluationRequest,
  EvaluationSettings,
  OnAsk,
  Stage,
  Step,
  StreamResult,
  WaitForLimits,
} from './types.js';
import type { WatchedControls, WatchOptions } from './watch-controls.js';

/** Settings of a client that are independent of the transport. */
export interface ClientSettings extends EvaluationSettings {
  /**
   * API key, sent as `x-api-key`, or a function that returns the present one. The function is called for each new stream,
   * and again when the service refuses the key: what was refused is sent once more with the new key.
   */
  readonly apiKey?: ApiKey | undefined;
  /** Returns the position in the active trace for evaluations without a `traceparent`; undefined outside of traces. */
  readonly traceparent?: (() => string | undefined) | undefined;
  /**
   * Evaluates the controls with execution `sdk` in this process, in addition to those that the service evaluates; see
   * `localControls` of `@control-enforcement/client/local`.
   */
  readonly local?: LocalControls | undefined;
}

/** Settings of a client with a transport created by the caller. */
export interface TransportOptions extends ClientSettings {
  /** Any transport of Connect: gRPC, gRPC-Web or Connect. */
  readonly transport: Transport;
  /**
   * Whether the transport can read and write simultaneously, as gRPC and Connect over HTTP/2 can in Node.js.
   * Off by default, because gRPC-Web, HTTP/1.1 and browsers cannot: then batches are sent as calls of
   * EvaluateBatch.
   */
  readonly streaming?: boolean | undefined;
}

/** Options of a guarded tool. */
export interface GuardOptions<Args extends readonly unknown[], Result, Refused = never>
  extends Omit<
    EvaluationOptions,
    'detail' | 'accepts' | 'stepId' | 'stepError' | 'sessionId' | 'signal' | 'traceparent' | 'waitForApproval'
  > {
  readonly agent?: string | undefined;
  /** Name of the step. */
  readonly step: string;
  /** Type of the step; `tool` when absent. */
  readonly type?: string | undefined;
  /** Stages of the checks; before and after the tool runs when absent. */
  readonly stages?: readonly Stage[] | undefined;
  /**
   * Input of the step made from the arguments. When absent, the first argument, which must be a plain object; the others
   * are not part of the step: frameworks pass options and the conversation in them. A call with another first argument is
   * refused with a StepDataError before the tool runs.
   */
  readonly input?: ((...args: Args) => unknown) | undefined;
  /**
   * Output of the step made from the result; the result when absent. In a session with the stages `['pre']`, what is sent with
   * the end of the step, for budgets that it settles; nothing when absent.
   */
  readonly output?: ((result: Result) => unknown) | undefined;
  /** Further facts for controls. */
  readonly context?: Readonly<Record<string, unknown>> | ((...args: Args) => Step['context']) | undefined;
  /** Id of the step made from the arguments, see {@link EvaluationOptions.stepId}. */
  readonly stepId?: ((...args: Args) => string | undefined) | undefined;
  /** Id of the session, or a function that makes it from the arguments of a call. */
  readonly sessionId?: string | ((...args: Args) => string | undefined) | undefined;
  /** Aborts the evaluations of a call; or a function that returns it for the arguments of a call. */
  readonly signal?: AbortSignal | ((...args: Args) => AbortSignal | undefined) | undefined;
  /** Position in a trace, or a function that makes it from the arguments of a call. */
  readonly traceparent?: string | ((...args: Args) => string | undefined) | undefined;
  /**
   * Called when no control checked any stage of a call: the name of the step may be misspelled, or the agent has no
   * control. What it throws, the call throws: after the tool has run, unless `stages` is `['pre']`. By default the first
   * such call of the tool writes a warning to the console. Not called for servers before 7.11, which do not tell it.
   */
  readonly onUnchecked?: ((step: UncheckedStep) => void | Promise<void>) | undefined;
  /**
   * What a call does whose step a person must approve: `wait` for the decision, and run only if the step then passes; or
   * `throw` an ApprovalRequiredError, which is the default; or a function that decides it for each approval. What that throws,
   * the call throws. A call that waits and is aborted cancels the approval.
   */
  readonly onAsk?: OnAsk | ((approval: Approval, step: Step) => OnAsk | Promise<OnAsk>) | undefined;
  /**
   * Longest time that a call waits for an approval, in milliseconds; then it throws an ApprovalRequiredError. When absent, it
   * waits until the approval expires.
   */
  readonly maxWaitMs?: number | undefined;
  /**
   * The arguments for a changed input, when controls or an approver change the step; needed together with `input`. Without
   * either, the first argument is replaced. Without it, a step with `input` whose input would be changed is denied.
   */
  readonly changedArgs?: ((input: unknown, ...args: Args) => NoInfer<Args>) | undefined;
  /**
   * Makes what a call returns that is denied, steered or not evaluated, for frameworks that tell a model the result of a
   * tool and not its error: `(error) => error.message`. Without it such a call rejects. Other errors are not passed to it.
   */
  readonly onRefused?: ((error: StepError) => Refused | Promise<Refused>) | undefined;
}

/** Options of a session. */
export interface SessionOptions {
  /** Id of the session, 1 to 255 characters; a new one when absent. */
  readonly sessionId?: string | undefined;
  /** For every evaluation of the session that has no other; see {@link EvaluationOptions.waitForLimits}. */
  readonly waitForLimits?: WaitForLimits | undefined;
}

/** Options of a tool that is guarded in a session. */
export type SessionGuardOptions<Args extends readonly unknown[], Result, Refused = never> = Omit<
  GuardOptions<Args, Result, Refused>,
  'agent' | 'sessionId'
>;

/** A conversation, run or task of an agent: controls with memory count its steps together. */
export interface ToolSession {
  /** Id of the session. */
  readonly id: string;
  /** `evaluate` of the client, for a step of the session. */
  evaluate(request: EvaluationRequest, options?: Omit<EvaluationOptions, 'sessionId'>): Promise<Evaluation>;
  /**
   * `guard` of the client, for steps of the session. Each call has a step id of its own, the same before and after it runs.
   * The end of a step is always sent, also without the stage `post`, when the tool throws, and when the signal of the call
   * is aborted: it settles what the step reserved, and frees its slot. The error of a tool is not replaced by one of the
   * service, only by that of a verdict about it.
   */
  guard<Args extends readonly unknown[], Result, Refused = never>(
    tool: (...args: Args) => Result,
    options: SessionGuardOptions<Args, Awaited<Result>, Refused>,
  ): (...args: Args) => Promise<Awaited<Result> | Refused>;
}

/** A step that no control checked. */
export interface UncheckedStep {
  /** The agent of the guard, if it has one of its own. */
  readonly agent: string | undefined;
  readonly step: string;
}

/** A client of the service. All its evaluations share one stream for each connection. */
export interface Client extends Services {
  /**
   * Evaluates a step. Concurrent calls share messages; unanswered ones are resent until the timeout when the
   * service is unavailable or the stream broke.
   *
   * Rejects with a ConnectError when the service rejects the request (unknown agent, invalid step, wrong
   * key), with one of code `FailedPrecondition` when http and https are mixed up or the certificate of the
   * service is not accepted, with a TypeError when the step cannot be written as JSON, with the reason of the
   * signal when that is aborted, and with a ConnectError of code `Canceled` when the client is closed. A
   * rejection never allows the step: only the result states that a step may proceed.
   */
  evaluate(request: EvaluationRequest, options?: EvaluationOptions): Promise<Evaluation>;
  /**
   * Evaluates steps as they arrive and yields the results in completion order, each with the index of its
   * request. Reads ahead no further than `maxInFlight` of the client. Leaving the loop aborts unanswered
   * evaluations.
   */
  evaluateStream(
    requests: Iterable<EvaluationRequest> | AsyncIterable<EvaluationRequest>,
    options?: EvaluationOptions,
  ): AsyncGenerator<StreamResult, void, undefined>;
  /** Makes every later evaluation require this revision or a later one. Lower revisions change nothing. */
  atLeast(revision: number | bigint): void;
  /**
   * Wraps a tool with a check before it runs and one after it. The wrapped tool rejects with a DeniedError or
   * a SteerError according to the controls, with a StepDataError for data that controls cannot look at, and with the
   * errors of `evaluate` or the tool itself; the latter are checked like an output. With `onRefused`, a refused call
   * returns what that makes of the error. Throws a TypeError for an unknown option and for a generator.
   */
  guard<Args extends readonly unknown[], Result, Refused = never>(
    tool: (...args: Args) => Result,
    options: GuardOptions<Args, Awaited<Result>, Refused>,
  ): (...args: Args) => Promise<Awaited<Result> | Refused>;
  /**
   * A session of an agent, by default that of the client: its tools and evaluations have the id of the session. Nothing is
   * sent to begin or to end it.
   */
  session(agent?: string, options?: SessionOptions): ToolSession;
  /**
   * The controls of an agent as they are now, and again after each change and each confirmation that nothing changed.
   * Continues after failures of the connection or the service. The loop ends when the signal is aborted or the client
   * closed, and rejects with a ConnectError when the service refuses the call, for example because the agent is unknown.
   */
  watchControls(agent?: string, options?: WatchOptions): AsyncGenerator<WatchedControls, void, undefined>;
  /** Publishes events about controls that the caller evaluates, in batches. */
  publishEvents(options?: PublishOptions): EventPublisher;
  /** What the service can do. Asked once. */
  serverInfo(): Promise<ServerInfo>;
  /** Ends the streams. Pending and later evaluations reject. */
  close(): void;
}
