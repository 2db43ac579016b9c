import type { ControlProgram, Detail, Stage, Verdict } from '../core/types.js';

/** A step that another thread has read and keeps, so that it is evaluated there. */
export interface HeldStep {
  /**
   * Evaluates the step by the controls of `program`, as `ControlProgram.evaluate` does. Rejects with SERVICE_UNAVAILABLE
   * when the thread is lost.
   */
  evaluate(
    program: ControlProgram,
    stage: Stage,
    detail: Detail,
    caller: { readonly signal: AbortSignal },
  ): Promise<Verdict>;
}
