import type { JsonObject } from '../../../packages/exact-json/src/index.js';
import type { EvaluateRequest } from '../../decide/decisions/evaluate-request.js';
import type { RevisedVerdict } from '../../decide/decisions/revised-verdict.js';
import type { MappingError } from './mapping-error.js';
import type { RpcStatus } from './rpc-status.js';

/** One EvaluateRequest, its fields as sent: only checked as far as protobuf does. */
export interface EvaluationFields {
  /** Empty when absent. */
  readonly agentName: string;
  /** Number of the Stage; 0 when absent. */
  readonly stage: number;
  /** Number of the Detail; 0 when absent. */
  readonly detail: number;
  /** The required revision; 0 when absent. Not exact beyond 2^53, where it is refused anyway. */
  readonly minRevision: number;
  /** Undefined when absent; so is the other half of the target. */
  readonly targetType: string | undefined;
  readonly targetId: string | undefined;
  /** Null without any of them, the usual case. */
  readonly options: OptionFields | null;
  /**
   * The step sent as a message, as plain JSON with the members of Step; or the reason why it cannot be plain
   * JSON, including its path, so that one bad step does not fail a whole batch. Undefined if the other form
   * or none was sent.
   */
  readonly step: JsonObject | MappingError | undefined;
  /**
   * The step sent as JSON text, a view of the decoded bytes. Undefined if the other form or none was sent.
   */
  readonly stepJson: Uint8Array | undefined;
  /** Set when the message was read in another thread; the other members but `detail` are empty then. */
  readonly read?: ReadEvaluation;
}

/** An evaluation that was read in another thread: its request, whose step is held there, or why it is none. */
export type ReadEvaluation = { readonly request: EvaluateRequest } | { readonly error: Error };

/** The optional fields of one EvaluateRequest; undefined where absent. */
export interface OptionFields {
  readonly sessionId: string | undefined;
  readonly stepId: string | undefined;
  readonly traceparent: string | undefined;
  /** Milliseconds; NaN for a Duration beyond the range of that type. */
  readonly timeoutMs: number | undefined;
  /** Numbers of Outcome; undefined when there are none. */
  readonly accepts: readonly number[] | undefined;
  readonly stepError: string | undefined;
}

/** One EvaluateStreamRequest. */
export interface StreamFields {
  /** Empty when absent. */
  readonly id: string;
  readonly evaluations: readonly EvaluationFields[];
  /** Whether it cancels the pending messages with this id. */
  readonly cancel: boolean;
}

/** Result of one evaluation of a batch or stream: the verdict, or an error status. */
export type EvaluationOutcome = RevisedVerdict | RpcStatus;

/** One EvaluateStreamResponse. */
export interface StreamReply {
  readonly id: string;
  readonly outcomes: readonly EvaluationOutcome[];
}

/**
 * One form of the messages of unary evaluations: binary or JSON. `decode…` takes the bytes of one message and throws an
 * Error, whose message is sent to the caller, or the ConnectError of the call, if they are invalid. `frame…` returns a
 * complete envelope: a zero byte, the length in four bytes, the message. The caller owns the buffer.
 */
export interface MessageForm {
  /** How large messages of this form are read in another thread. */
  readonly heavy: 'grpc' | 'json';
  decodeEvaluate(bytes: Uint8Array): EvaluationFields;
  decodeBatch(bytes: Uint8Array): readonly EvaluationFields[];
  frameVerdict(verdict: RevisedVerdict): Buffer;
  frameBatch(outcomes: readonly EvaluationOutcome[]): Buffer;
}

/**
 * Reads and writes the messages of the evaluation in the binary form of protobuf. It accepts and rejects the
 * same input as protobuf-es, with the Error of protobuf-es, and writes the same bytes.
 */
export interface EvaluationCodec extends MessageForm {
  decodeStream(bytes: Uint8Array): StreamFields;
  /** Several messages, one after the other. */
  frameStream(replies: readonly StreamReply[]): Buffer;
  /** The notice that a stream ends, within whole milliseconds. */
  frameNotice(drainWithinMs: number): Buffer;
}
