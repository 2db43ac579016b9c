import type { JsonObject } from '../../../packages/exact-json/src/index.js';
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
 * A control result that knows which leaf decided it, and which of its metadata are given with any detail. Both are private, because verdicts are printed, copied and
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
  readonly #kept: JsonObject | null;

  constructor(
    id: string,
    control: ControlLabel,
    result: EvaluatorResult,
    leaf: LeafLabel | null,
    kept: JsonObject | null,
  ) {
    this.control_execution_id = id;
    this.control_id = control.id;
    this.control_name = control.name;
    this.action = control.decision;
    this.result = result;
    this.steering_context = control.steeringContext;
    this.#leaf = leaf;
    this.#kept = kept;
  }

  static leafOf(result: ControlResult): LeafLabel | null {
    return #leaf in result ? result.#leaf : null;
  }

  static keptOf(result: ControlResult): JsonObject | null {
    return #kept in result ? result.#kept : null;
  }
}

/** The leaf that decided a result; null if it is unknown. */
export function leafOfResult(result: ControlResult): LeafLabel | null {
  return DecidedResult.leafOf(result);
}

/** The metadata of a result that are given with any detail: those of checks with memory; null for none. */
export function keptMetadata(result: ControlResult): JsonObject | null {
  return DecidedResult.keptOf(result);
}
