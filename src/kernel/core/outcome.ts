import type { JsonObject } from '../../../packages/exact-json/src/index.js';
import type { LeafLabel } from './trace.js';
import type { EvaluatorResult } from './types.js';

/** Result of a node. The trace is present exactly when the evaluation is a full one. */
export interface Outcome extends EvaluatorResult {
  readonly trace?: JsonObject;
  /** The control result for exactly this outcome, for recurring outcomes: then it is created once. */
  readonly result?: EvaluatorResult;
  /** The actual cause, for the operator, where `error` has the fixed text for callers. */
  readonly problem?: string;
  /** Set when a check was skipped or aborted because the step is already denied. `error` is set too. */
  readonly cancelled?: true;
  /** Metadata of a check with memory: they are part of the result of the control whatever detail is requested. */
  readonly kept?: JsonObject;
  /** The leaf that decided a composite, or that failed. Without it, the outcome is that of a leaf itself. */
  readonly leaf?: LeafLabel | null;
}
