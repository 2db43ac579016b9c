import type { ConnectError, Transport } from '@connectrpc/connect';
import type { EvaluateResponse } from '../../../gen/proto/enforcement/v1/evaluation_service_pb.js';

/** `pre` before a step runs, `post` after it ran. */
export type Stage = 'pre' | 'post';

/** Result for an evaluation that the service did not answer. */
export type OnUnavailable = 'deny' | 'allow';

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

/** Options of one evaluation. */
export interface EvaluationOptions {
  /** Longest time from the call to the answer, in milliseconds, retries included: 1 to 2^31 - 1. */
  readonly timeoutMs?: number | undefined;
  /** Use the controls of this revision or a later one, 0 to 2^53 - 1. See also {@link Client.atLeast}. */
  readonly minRevision?: number | bigint | undefined;
  /** `full` adds the controls that did not match, metadata and traces. `verdict` when absent. */
  readonly detail?: 'verdict' | 'full' | undefined;
  /** Result for an evaluation that the service did not answer in time. */
  readonly onUnavailable?: OnUnavailable | undefined;
  /** Aborts the evaluation: the call rejects with the reason of the signal. */
  readonly signal?: AbortSignal | undefined;
}

/** The service evaluated the step. */
export interface Evaluated {
  readonly evaluated: true;
  /** Whether the step may proceed unchanged. */
  readonly isSafe: boolean;
  /** Why not; undefined when it is safe. */
  readonly reason: string | undefined;
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

/** Result of one {@link Client.evaluateStream} request: an evaluation, or the error of `evaluate`. */
export type StreamResult =
  | { readonly index: number; readonly request: EvaluationRequest; readonly evaluation: Evaluation }
  | { readonly index: number; readonly request: EvaluationRequest; readonly error: unknown };

/** Settings of a client that are independent of the transport. */
export interface ClientSettings {
  /** API key, sent as `x-api-key`. */
  readonly apiKey?: string | undefined;
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
export interface GuardOptions<Args extends readonly unknown[], Result>
  extends Omit<EvaluationOptions, 'detail'> {
  readonly agent?: string | undefined;
  /** Name of the step. */
  readonly step: string;
  /** Type of the step; `tool` when absent. */
  readonly type?: string | undefined;
  /** Stages of the checks; before and after the tool runs when absent. */
  readonly stages?: readonly Stage[] | undefined;
  /**
   * Input of the step made from the arguments. When absent, the only argument if it is a plain object, else
   * `{ arguments: [...] }`.
   */
  readonly input?: ((...args: Args) => unknown) | undefined;
  /** Output of the step made from the result; the result when absent. */
  readonly output?: ((result: Result) => unknown) | undefined;
  /** Further facts for controls. */
  readonly context?: Readonly<Record<string, unknown>> | ((...args: Args) => Step['context']) | undefined;
}

/** A client of the evaluation service. It shares one stream among all its evaluations. */
export interface Client {
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
   * a SteerError according to the controls, and with the errors of `evaluate` or the tool itself.
   */
  guard<Args extends readonly unknown[], Result>(
    tool: (...args: Args) => Result,
    options: GuardOptions<Args, Awaited<Result>>,
  ): (...args: Args) => Promise<Awaited<Result>>;
  /** Ends the streams. Pending and later evaluations reject. */
  close(): void;
}
