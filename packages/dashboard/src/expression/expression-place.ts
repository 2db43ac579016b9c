import type { Scope } from '@gen/enforcement/v1/control_pb.js';

/** Where an expression stands: what decides about the types of its variables. */
export interface ExpressionPlace {
  /** The scope of the control; undefined for all steps. */
  readonly scope: Scope | undefined;
  /** Path of the selector, whose data are the variable `value`. */
  readonly selectorPath: string;
}
