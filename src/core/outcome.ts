import type { JsonObject } from '../json/json-value.js';
import type { EvaluatorResult } from './types.js';

/** What a node said. The trace is there exactly when the evaluation is a full one. */
export interface Outcome extends EvaluatorResult {
  readonly trace?: JsonObject;
  /** The result of a control that says just this, for outcomes that come again and again: then it is made once. */
  readonly result?: EvaluatorResult;
  /** What really went wrong, for the operator, where `error` has the fixed text for callers. */
  readonly problem?: string;
  /** Set when a check was left out or given up because the step is denied already. `error` is set too. */
  readonly cancelled?: true;
}
