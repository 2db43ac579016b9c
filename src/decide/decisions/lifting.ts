import type { Namespace } from '../../contract/call/namespace.js';
import type { StepIdentity, StepMemory } from '../../kernel/core/memory.js';
import type { Detail, ProgramLifts, RememberedStep, Step, Verdict } from '../../kernel/core/types.js';
import type { ApprovalGate } from './approval-gate.js';
import type { EvaluateRequest } from './evaluate-request.js';
import type { KnownCaller } from './evaluation-caller.js';
import { type LiftableStep, type LiftedVerdict, liftStep } from './lifted-step.js';
import type { LoadedProgram } from './loaded-program.js';

export interface LiftingOptions {
  /** What is kept of earlier steps, for controls with memory. Without it, such controls are errors. */
  readonly memory?: StepMemory | undefined;
  /** Asks people about steps. Without it, steps of controls that ask are denied. */
  readonly approvals?: ApprovalGate | undefined;
}

/** Whose step it is. */
export function identityOf(
  { agentName, options }: EvaluateRequest,
  { name: namespace }: Namespace,
): StepIdentity {
  const { sessionId = null, stepId = null, stepError: error = null } = options ?? {};
  return { namespace, agent: agentName, sessionId, stepId, error };
}

/** Evaluates steps with what is kept of earlier ones, and with liftable controls. */
export function createLifting({ memory, approvals }: LiftingOptions) {
  /**
   * With what a program with memory is evaluated; null for any other. A program with liftable controls is evaluated as a trial
   * first. `isDenied`: see `RememberedStep`.
   */
  function rememberedStep(
    { program }: LoadedProgram,
    request: EvaluateRequest,
    { namespace }: { readonly namespace: Namespace },
    isDenied: boolean,
    isTrial: boolean,
  ): RememberedStep | null {
    if (!program.remembers || memory === undefined) return null;
    return { memory, identity: identityOf(request, namespace), isTrial, isDenied };
  }

  function liftable(
    loaded: LoadedProgram,
    request: EvaluateRequest,
    detail: Detail,
    caller: KnownCaller,
  ): LiftableStep {
    const { program } = loaded;
    const { step, stage, agentName, target, options } = request;
    const agent = loaded.agentNamed(agentName);
    const evaluate = (one: Step, isDenied: boolean, isTrial: boolean, lifted?: ReadonlySet<number>) => {
      const remembered = rememberedStep(loaded, request, caller, isDenied, isTrial);
      return program.evaluate(one, stage, detail, caller, 0, agent, remembered, lifted);
    };
    return {
      program,
      step,
      stage,
      agent,
      signal: caller.signal,
      accepts: options?.accepts,
      tried: (one, lifted) => evaluate(one, false, true, lifted),
      foreseen: (one, lifted, known) => (program.remembers ? evaluate(one, false, true, lifted) : known),
      counted: (one, lifted, known) => (program.remembers ? evaluate(one, false, false, lifted) : known),
      async refused() {
        if (program.remembers) await evaluate(step, true, false);
      },
      async ask(one, controls) {
        if (approvals === undefined) return { kind: 'refused', notice: null, reason: NO_APPROVALS };
        const { sessionId = null, stepId = null } = options ?? {};
        return approvals.ask({ agentName, sessionId, stepId, target, step: one, controls, caller });
      },
    };
  }

  /**
   * What comes of a step by a program with liftable controls. `first` is the verdict about it, that of a trial if the program
   * remembers. Without an outcome, it is the one of the verdict.
   */
  async function lift(
    first: Verdict | Promise<Verdict>,
    lifts: ProgramLifts,
    loaded: LoadedProgram,
    request: EvaluateRequest,
    detail: Detail,
    caller: KnownCaller,
  ): Promise<LiftedVerdict | { readonly verdict: Verdict; readonly outcome: null }> {
    const verdict = await first;
    // It is not awaited any more, and may lack controls.
    if (first instanceof Promise && caller.signal.aborted) return { verdict, outcome: null };
    const one = liftable(loaded, request, detail, caller);
    const left = lifts.of(verdict);
    if (left !== null) return liftStep(one, verdict, left);
    const counted = await one.counted(request.step, NOTHING_LIFTED, verdict);
    // A match that could be lifted leaves out the controls with memory; the trial has asked them, and tells what prevents a lift.
    const isWhole = verdict.is_safe || counted.skipped_controls <= verdict.skipped_controls;
    return { verdict: isWhole ? counted : verdict, outcome: null };
  }

  return { rememberedStep, lift };
}

const NOTHING_LIFTED: ReadonlySet<number> = new Set();
const NO_APPROVALS = 'the step needs an approval, and this service cannot ask for one';
