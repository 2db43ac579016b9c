import type { ConnectError } from '@connectrpc/connect';
import type { Admission } from '../admission/admission.js';
import type { ClassifiedMethod } from '../admission/call-class.js';
import type { Entrance } from '../admission/entrance.js';
import type { CallMeter } from '../call/call-meter.js';
import type { RpcLogs } from '../connect/unary.js';
import type { EvaluationCalls } from '../evaluation/evaluation-calls.js';
import type { EvaluationCodec } from '../wire/evaluation-codec.js';

/** A call that can be ended from outside. */
export interface StoppableCall {
  stop(reason: ConnectError): void;
}

/** What every call of the lane needs. */
export interface LaneEnvironment extends RpcLogs {
  readonly calls: EvaluationCalls;
  readonly codec: EvaluationCodec;
  readonly metrics: CallMeter;
  /** Whether anybody reads a log line for each call. */
  readonly logsCalls: boolean;
  /** Told on every reply. */
  readonly version: string;
  /** Longest time of a unary call: for its request to arrive, and then for its answer. In milliseconds. */
  readonly requestTimeoutMs: number;
  /** Largest message of a caller, in bytes. */
  readonly maxMessageBytes: number;
  readonly admission: Pick<Admission, 'ticket' | 'peerOf'>;
  readonly entrance: Pick<Entrance, 'enterWithKey'>;
  /** Calls that want to be told when the server shuts down. */
  readonly running: Set<StoppableCall>;
}

/** An RPC of the lane. */
export interface LaneMethod extends ClassifiedMethod {
  /** `package.Service/Method`. */
  readonly name: string;
  readonly path: string;
}
