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

/** Dependencies of every call of the lane. */
export interface LaneEnvironment extends RpcLogs {
  readonly calls: EvaluationCalls;
  readonly codec: EvaluationCodec;
  readonly metrics: CallMeter;
  /** Whether request log lines are enabled. */
  readonly logsCalls: boolean;
  /** Sent with every reply. */
  readonly version: string;
  /** Time limit of a unary call, in milliseconds: for its request to arrive, and then for its answer. */
  readonly requestTimeoutMs: number;
  /** Largest request message, in bytes. */
  readonly maxMessageBytes: number;
  readonly admission: Pick<Admission, 'ticket' | 'peerOf'>;
  readonly entrance: Pick<Entrance, 'enterWithKey'>;
  /** Calls to be stopped when the server shuts down. */
  readonly running: Set<StoppableCall>;
}

/** An RPC of the lane. */
export interface LaneMethod extends ClassifiedMethod {
  /** `package.Service/Method`. */
  readonly name: string;
  readonly path: string;
}
