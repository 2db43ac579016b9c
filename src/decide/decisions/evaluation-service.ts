import { demandAgent } from '../../contract/call/agent-limit.js';
import type { AgentKey } from '../../contract/call/namespace.js';
import { demandTarget } from '../../contract/call/target-limit.js';
import type { Detail, Verdict } from '../../kernel/core/types.js';
import type { HaltCheck } from '../halts/halt.js';
import { type ComparedStep, comparedStep, compareStep } from './compared-step.js';
import type { EvaluateRequest } from './evaluate-request.js';
import type { EvaluationCaller, KnownCaller, LimitedCaller } from './evaluation-caller.js';
import type { HeldStep } from './held-step.js';
import { createLifting, identityOf, type LiftingOptions } from './lifting.js';
import type { LoadedProgram } from './loaded-program.js';
import type { RandomId } from './random-id.js';
import {
  concluded,
  haltedBy,
  type RevisedVerdict,
  shownTo,
  withLifts,
  withoutDetail,
} from './revised-verdict.js';
import type { RevisionWatch } from './revision-watch.js';
import type { DemandFresh } from './staleness.js';
import { TimedCaller } from './timed-caller.js';
import { observersOf, type VerdictObserver } from './verdict-observer.js';

/** Evaluates steps with the controls of their agents. */
export interface EvaluationService {
  /**
   * Returns a promise only when the agent has to be loaded, a required revision is not known yet, or an
   * evaluator is asynchronous. Rejects, or throws, with AUTH_INSUFFICIENT_PRIVILEGES for an agent that is not one of
   * the caller's, or a target that is not the one of its token, with AGENT_NOT_FOUND or SERVICE_UNAVAILABLE, with
   * DEADLINE_EXCEEDED after the timeout of the request, and with the reason of the caller's signal when that is
   * aborted while the evaluation waits.
   */
  evaluate(
    request: EvaluateRequest,
    detail: Detail,
    caller: LimitedCaller,
  ): RevisedVerdict | Promise<RevisedVerdict>;
}

export interface EvaluationServiceOptions extends LiftingOptions {
  readonly programs: Pick<RevisionWatch, 'programOf' | 'progress'>;
  /** Rejects programs that may be too old, if configured. */
  readonly demandFresh?: DemandFresh | undefined;
  /** Steps of halts are denied without asking the controls. */
  readonly halts?: HaltCheck | undefined;
  /** Milliseconds of the clock of the programs. */
  readonly now: () => number;
  readonly newDecisionId: () => string | RandomId;
  /** Are told of every verdict, in this order. */
  readonly observers: readonly VerdictObserver[];
}

type Observers = ReturnType<typeof observersOf>;

export function createEvaluationService(options: EvaluationServiceOptions): EvaluationService {
  const { programs, demandFresh, halts, newDecisionId } = options;
  const observers = observersOf(options.observers);
  const { haltedVerdict, halted, awaited } = createAnswers(options, observers);
  const { rememberedStep, lift } = createLifting(options);
  const stalenessOf = (loaded: LoadedProgram): number =>
    Math.max(0, Math.ceil((options.now() - loaded.currentAtMs(programs.progress)) / 1000));

  function judge(
    loaded: LoadedProgram,
    request: EvaluateRequest,
    agent: AgentKey,
    detail: Detail,
    caller: KnownCaller,
  ): RevisedVerdict | Promise<RevisedVerdict> {
    demandFresh?.(loaded.currentAtMs(programs.progress));
    // Read before evaluating: the program may fall behind during a slow evaluation.
    const revision = loaded.revision(programs.progress);
    const staleness = loaded.isKept ? stalenessOf(loaded) : null;
    const needed = observers.nonMatches ? 'full' : detail;
    const { step, stage } = request;
    const { lifts } = loaded.program;
    const { held } = request;
    if (held !== undefined) {
      // What is kept of earlier steps must not be asked twice.
      if (lifts !== null && loaded.program.remembers) return readAndJudged(held);
      return judgeHeld(held, loaded, request, needed, caller).then(({ verdict, compared }) => {
        if (lifts !== null && compared?.denies !== true && lifts.of(verdict) !== null)
          return readAndJudged(held);
        const made = concluded(verdict, compared, request, revision, staleness, newDecisionId());
        return awaited(made, compared, loaded, request, agent, caller, needed === detail);
      });
    }
    async function readAndJudged(one: HeldStep): Promise<RevisedVerdict> {
      const { held: _held, ...read } = { ...request, step: await one.read() };
      return judge(loaded, read, agent, detail, caller);
    }
    const { comparison } = loaded;
    const compared = comparison === null ? null : compareStep(comparison, step, stage);
    const mayLift = lifts !== null && compared?.denies !== true;
    const verdict = loaded.program.evaluate(
      step,
      stage,
      needed,
      caller,
      compared === null ? 0 : compared.spent,
      loaded.agentNamed(request.agentName),
      rememberedStep(loaded, request, caller, compared?.denies === true, mayLift),
    );
    if (mayLift && (loaded.program.remembers || verdict instanceof Promise || lifts.of(verdict) !== null)) {
      return lift(verdict, lifts, loaded, request, needed, caller).then((lifted) => {
        const made = concluded(lifted.verdict, compared, request, revision, staleness, newDecisionId());
        const whole = withLifts(made, lifted);
        return shownTo(request, awaited(whole, compared, loaded, request, agent, caller, needed === detail));
      });
    }
    if (!(verdict instanceof Promise)) {
      const made = concluded(verdict, compared, request, revision, staleness, newDecisionId());
      const differs = compared?.denies === true;
      observers.told({ request, verdict: made, caller, agent, loaded, differs, isAnswered: true });
      return needed === detail ? made : withoutDetail(made);
    }
    return verdict.then((settled) => {
      const made = concluded(settled, compared, request, revision, staleness, newDecisionId());
      return awaited(made, compared, loaded, request, agent, caller, needed === detail);
    });
  }

  function decide(
    request: EvaluateRequest,
    detail: Detail,
    caller: KnownCaller,
  ): RevisedVerdict | Promise<RevisedVerdict> {
    const denied = haltedVerdict(request, caller);
    if (denied !== null) return halted(denied, request, caller);
    const { namespace } = caller;
    const { minRevision } = request;
    const agent = namespace.agentKey(request.agentName);
    const target = request.target === null ? null : namespace.targetKey(request.target);
    const loaded = programs.programOf(agent, target, minRevision, caller);
    // A revision that is demanded may be that of a halt.
    const mayWait = minRevision > 0 && halts !== undefined;
    if (!(loaded instanceof Promise) && !(mayWait && halts.reading !== null)) {
      return judge(loaded, request, agent, detail, caller);
    }
    return Promise.resolve(loaded).then(async (program) => {
      if (mayWait) await halts.reading;
      const late = haltedVerdict(request, caller);
      return late === null ? judge(program, request, agent, detail, caller) : halted(late, request, caller);
    });
  }

  return {
    evaluate(request, detail, caller) {
      demandAgent(caller.agents, request.agentName);
      demandTarget(caller.target, request.target);
      const timeoutMs = request.options?.timeoutMs;
      if (timeoutMs === undefined) return decide(request, detail, caller);
      const timed = new TimedCaller(caller, timeoutMs);
      return timed.bound(decide(request, detail, timed));
    },
  };
}

/** What callers get of verdicts and halts, and observers are told. */
function createAnswers({ programs, halts, newDecisionId }: EvaluationServiceOptions, observers: Observers) {
  /** The verdict about a step that a halt denies; null if none does. */
  function haltedVerdict(request: EvaluateRequest, caller: EvaluationCaller): RevisedVerdict | null {
    if (halts === undefined || halts.isEmpty) return null;
    const { agentName, step } = request;
    const { namespace } = caller;
    const sessionId = request.options?.sessionId;
    const halt = halts.of({ namespace, agentName, sessionId, stepName: step.name });
    return halt === null ? null : haltedBy(halt, programs.progress.revision, newDecisionId());
  }

  /** Tells of the verdict of a halt. */
  function halted(
    verdict: RevisedVerdict,
    request: EvaluateRequest,
    caller: EvaluationCaller,
  ): RevisedVerdict {
    const agent = caller.namespace.agentKey(request.agentName);
    observers.told({ request, verdict, caller, agent, loaded: null, differs: false, isAnswered: true });
    return verdict;
  }

  /** The reply to a caller that has waited. */
  function awaited(
    verdict: RevisedVerdict,
    compared: ComparedStep | null,
    loaded: LoadedProgram,
    request: EvaluateRequest,
    agent: AgentKey,
    caller: EvaluationCaller,
    isWhole: boolean,
  ): RevisedVerdict {
    // It may have begun meanwhile.
    const denied = haltedVerdict(request, caller);
    if (denied !== null) return halted(denied, request, caller);
    const differs = compared?.denies === true;
    const isAnswered = !caller.signal.aborted;
    observers.told({ request, verdict, caller, agent, loaded, differs, isAnswered });
    // It is incomplete if nothing awaited it any more before its evaluators had answered.
    caller.signal.throwIfAborted();
    return isWhole ? verdict : withoutDetail(verdict);
  }

  return { haltedVerdict, halted, awaited };
}

/** Evaluates a step that another thread holds. */
async function judgeHeld(
  held: HeldStep,
  loaded: LoadedProgram,
  request: EvaluateRequest,
  detail: Detail,
  caller: EvaluationCaller,
): Promise<{ readonly verdict: Verdict; readonly compared: ComparedStep | null }> {
  const { program, comparison } = loaded;
  const facts = loaded.agentNamed(request.agentName);
  const { verdict, mismatch } = await held.evaluate(
    program,
    comparison,
    request.stage,
    detail,
    caller,
    facts,
    program.remembers ? identityOf(request, caller.namespace) : null,
  );
  return { verdict, compared: comparison && comparedStep(comparison, mismatch) };
}
