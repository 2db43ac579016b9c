import type { Detail, EvaluateResponse } from '../../../gen/proto/enforcement/v1/evaluation_service_pb.js';
import type { Stage } from './types.js';
import type { WatchedControls, WatchOptions } from './watch-controls.js';

/** What a client asks of its local controls. */
export interface LocalQuestion {
  readonly agent: string;
  readonly stage: Stage;
  /** The step as UTF-8 JSON. */
  readonly stepJson: Uint8Array;
  readonly detail: Detail;
  /** The controls must be of this revision or a later one. */
  readonly minRevision: bigint;
  /** Milliseconds to wait for controls at most. */
  readonly timeoutMs: number;
}

/** Evaluates the controls of agents in this process. */
export interface LocalDecider {
  /** Never rejects: what cannot be decided is a verdict that is not safe. */
  decide(question: LocalQuestion): Promise<EvaluateResponse>;
  close(): void;
}

/** Where a decider gets the controls from. */
export interface LocalHost {
  watchControls(agent: string, options: WatchOptions): AsyncGenerator<WatchedControls, void, undefined>;
}

/** Setting `local` of a client. */
export interface LocalControls {
  open(host: LocalHost): LocalDecider;
}
