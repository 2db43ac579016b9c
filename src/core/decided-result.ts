import type { LeafLabel } from './trace.js';
import type { ControlResult, Decision, EvaluatorResult, SteeringContext } from './types.js';

/** Properties of a control in a verdict besides its outcome. */
export interface ControlLabel {
  readonly id: number;
  readonly name: string;
  readonly decision: Decision;
  readonly steeringContext: SteeringContext | null;
}

/**
 * A control result that knows which leaf decided it. The leaf is private, because verdicts are printed, copied and
 * compared by their members, which are those of the wire.
 */
export class DecidedResult implements ControlResult {
  readonly control_execution_id: string;
  readonly control_id: number;
  readonly control_name: string;
  readonly action: Decision;
  readonly result: EvaluatorResult;
  readonly steering_context: SteeringContext | null;
  readonly #leaf: LeafLabel | null;

  constructor(id: string, control: ControlLabel, result: EvaluatorResult, leaf: LeafLabel | null) {
    this.control_execution_id = id;
    this.control_id = control.id;
    this.control_name = control.name;
    this.action = control.decision;
    this.result = result;
    this.steering_context = control.steeringContext;
    this.#leaf = leaf;
  }

  static leafOf(result: ControlResult): LeafLabel | null {
    return #leaf in result ? result.#leaf : null;
  }
}

/** The leaf that decided a result; null if it is unknown. */
export function leafOfResult(result: ControlResult): LeafLabel | null {
  return DecidedResult.leafOf(result);
}
