import type { StepIdentity } from '../../kernel/core/memory.js';
import type { SchemaMismatch, StepComparison } from '../../kernel/core/step-schemas.js';
import type { AgentFacts, ControlProgram, Detail, Stage, Step, Verdict } from '../../kernel/core/types.js';

/** What another thread makes of a step. */
export interface HeldVerdict {
  readonly verdict: Verdict;
  readonly mismatch: SchemaMismatch | null;
}

/** A step that another thread has read and keeps, so that it is evaluated there. */
export interface HeldStep {
  /**
   * Evaluates the step by the controls of `program`, as `ControlProgram.evaluate` does, and compares it with its
   * registered schemas, if it is to be compared. `identity` is set for a program with memory. Rejects with SERVICE_UNAVAILABLE when the thread is lost.
   */
  evaluate(
    program: ControlProgram,
    comparison: StepComparison | null,
    stage: Stage,
    detail: Detail,
    caller: { readonly signal: AbortSignal },
    agent: AgentFacts | null,
    identity: StepIdentity | null,
  ): Promise<HeldVerdict>;
  /** The whole step. Rejects as `evaluate` does. */
  read(): Promise<Step>;
}
