import type { ConnectError } from '@connectrpc/connect';
import type { CallHost } from '../call/call-host.js';
import type { LongStreams } from '../call/long-streams.js';
import type { EvaluationCalls } from '../evaluation/evaluation-calls.js';
import type { HeavySteps } from '../evaluation/heavy-steps.js';
import type { EvaluationCodec } from '../wire/evaluation-codec.js';

/** A call that can be ended from outside. */
export interface StoppableCall {
  stop(reason: ConnectError): void;
}

/** Dependencies of every call of the lane. */
export interface LaneEnvironment extends CallHost {
  readonly calls: EvaluationCalls;
  readonly heavySteps: HeavySteps;
  readonly codec: EvaluationCodec;
  /** Sent with every reply. */
  readonly version: string;
  /** Largest request message, in bytes. */
  readonly maxMessageBytes: number;
  /** Calls to be stopped when the server shuts down. */
  readonly running: Set<StoppableCall>;
  readonly longStreams: LongStreams;
}
