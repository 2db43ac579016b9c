import { demandAgent } from '../../contract/call/agent-limit.js';
import type { AgentKey, TargetName } from '../../contract/call/namespace.js';
import { demandTarget } from '../../contract/call/target-limit.js';
import { keptMetadata } from '../../kernel/core/decided-result.js';
import type { SchemaMismatch, StepComparison } from '../../kernel/core/step-schemas.js';
import type { ControlResult, Detail, Stage, Step, Verdict } from '../../kernel/core/types.js';
import { type HaltCheck, type HaltNotice, haltSentence, noticeOf } from '../halts/halt.js';
import type { ApprovalNotice } from './approval-gate.js';
import { type ComparedStep, comparedStep, compareStep, withComparison } from './compared-step.js';
import type { EvaluateRequest } from './evaluate-request.js';
import type { EvaluationCaller, KnownCaller, LimitedCaller } from './evaluation-caller.js';
import type { EvaluationOptions, VerdictOutcome } from './evaluation-options.js';
import type { HeldStep } from './held-step.js';
import type { LiftedVerdict, StepModification } from './lifted-step.js';
import { createLifting, identityOf, type LiftingOptions } from './lifting.js';
import type { LoadedProgram } from './loaded-program.js';
import type { RandomId } from './random-id.js';
import type { RevisionWatch } from './revision-watch.js';
import type { DemandFresh } from './staleness.js';
import { TimedCaller } from './timed-caller.js';

/** A step to evaluate. `agentName` is normalised. */
export interface EvaluationRequest {
  readonly agentName: string;
  readonly step: Step;
  readonly stage: Stage;
  readonly options: EvaluationOptions | null;
  /** What the agent works on; absent and null for nothing. */
  readonly target?: TargetName | null;
  /** Set when the data of the step are in another thread; `step` has its type and name only. */
  readonly held?: HeldStep;
}

/** A verdict with the revision of its controls. */
export interface RevisedVerdict extends Verdict {
  readonly revision: number;
  /**
   * Set when the controls are those of the last known good file: whole seconds, rounded up, since they were certainly
   * the latest.
   */
  readonly staleness_seconds: number | null;
  /** How the step differs from its registered schemas; null if it does not, or if they are not compared. */
  readonly schema_mismatch: SchemaMismatch | null;
  /** `allow` if and only if the step is safe. */
  readonly outcome: VerdictOutcome;
  /** Unique; a UUID, or what makes the text of one. */
  readonly decision_id: string | RandomId;
  /** The halt that denied the step, whatever its controls say: they were not evaluated. Absent without one. */
  readonly halt?: HaltNotice;
  /** The approval that the step waits for, or that let it pass. Absent without one. */
  readonly approval?: ApprovalNotice;
  /** The step that may run instead. Present if and only if the outcome is `modify`. */
  readonly modification?: StepModification;
}

/** Summary of a verdict in one word, for the metrics. */
export type VerdictLabel = 'deny' | 'steer' | 'observe' | 'allow' | 'error' | 'ask' | 'modify';

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
  /** Called for every verdict by controls of the last known good file. */
  readonly onKeptVerdict?: () => void;
  /** Called for every verdict about an agent without enabled controls. */
  readonly onUncontrolled?: (agent: AgentKey) => void;
  /** Called for every step that differs from its registered schemas. */
  readonly onMismatch?: (
    request: EvaluationRequest,
    mismatch: SchemaMismatch,
    mode: StepComparison['mode'],
    agent: AgentKey,
  ) => void;
  /** Called for every verdict. */
  readonly onVerdict: (label: VerdictLabel, stage: Stage, protocol: string) => void;
  /** Counts every verdict that is answered, if configured. */
  readonly counter?: VerdictCounter | undefined;
  /** Told of every step with a verdict that is answered, if configured. */
  readonly sightings?: StepSightings | undefined;
  readonly newDecisionId: () => string | RandomId;
  /** Records every verdict, if configured. */
  readonly recorder?: VerdictRecorder | undefined;
}

/** Counts verdicts by what came of them. It is called for every one, so it must take next to no time. */
export interface VerdictCounter {
  /** `differs`: the step is denied because it differs from its registered schemas, whatever the controls say. */
  count(
    agent: AgentKey,
    outcome: VerdictOutcome,
    verdict: Pick<Verdict, 'matches' | 'errors'>,
    differs: boolean,
  ): void;
}

/** Notes which steps were evaluated where. It is called for every one, so it must take next to no time. */
export interface StepSightings {
  /** `point`: where the evaluation comes from: the adapter of the caller, or else its protocol. */
  see(agent: AgentKey, step: Pick<Step, 'type' | 'name'>, stage: Stage, point: string): void;
}

/** Records verdicts. */
export interface VerdictRecorder {
  /** Whether it also needs the non-matches, whatever the caller requested. */
  readonly nonMatches: boolean;
  /**
   * Records the results of a verdict of any detail. A verdict that nothing awaits any more, because its caller
   * disconnected or its time was up, may lack the results of external evaluators.
   */
  record(request: EvaluationRequest, verdict: RevisedVerdict, caller: EvaluationCaller): void;
}

export function createEvaluationService(options: EvaluationServiceOptions): EvaluationService {
  const { programs, demandFresh, halts, onVerdict, newDecisionId, counter, sightings, recorder } = options;
  const { rememberedStep, lift } = createLifting(options);
  const stalenessOf = (loaded: LoadedProgram): number => {
    options.onKeptVerdict?.();
    return Math.max(0, Math.ceil((options.now() - loaded.currentAtMs(programs.progress)) / 1000));
  };

  function tell(
    compared: ComparedStep,
    { mode }: StepComparison,
    request: EvaluateRequest,
    agent: AgentKey,
  ): ComparedStep {
    if (compared.mismatch !== null) options.onMismatch?.(request, compared.mismatch, mode, agent);
    return compared;
  }

  /** The verdict about a step that a halt denies; null if none does. */
  function haltedVerdict(request: EvaluateRequest, caller: EvaluationCaller): RevisedVerdict | null {
    if (halts === undefined || halts.isEmpty) return null;
    const { agentName, step } = request;
    const { namespace } = caller;
    const sessionId = request.options?.sessionId;
    const halt = halts.of({ namespace, agentName, sessionId, stepName: step.name });
    if (halt === null) return null;
    const verdict = { ...DENIED, reason: haltSentence(halt) };
    const { revision } = programs.progress;
    return { ...revised(verdict, revision, null, 'deny', newDecisionId(), null), halt: noticeOf(halt) };
  }

  /** Records and counts a verdict as that of a deny. */
  function told(made: RevisedVerdict, request: EvaluateRequest, caller: EvaluationCaller): RevisedVerdict {
    recorder?.record(request, made, caller);
    const agent = caller.namespace.agentKey(request.agentName);
    counter?.count(agent, made.outcome, made, false);
    sightings?.see(agent, request.step, request.stage, caller.adapter ?? caller.protocol);
    onVerdict('deny', request.stage, caller.protocol);
    return made;
  }

  /** Evaluates a step that another thread holds. */
  async function judgeHeld(
    held: HeldStep,
    loaded: LoadedProgram,
    request: EvaluateRequest,
    agent: AgentKey,
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
    const compared = comparison && tell(comparedStep(comparison, mismatch), comparison, request, agent);
    return { verdict, compared };
  }

  /** The reply to a caller that has waited. */
  function awaited(
    made: RevisedVerdict,
    compared: ComparedStep | null,
    request: EvaluateRequest,
    agent: AgentKey,
    caller: EvaluationCaller,
    isWhole: boolean,
  ): RevisedVerdict {
    // It may have begun meanwhile.
    const halted = haltedVerdict(request, caller);
    if (halted !== null) return told(halted, request, caller);
    recorder?.record(request, made, caller);
    // It is incomplete if nothing awaited it any more before its evaluators had answered.
    caller.signal.throwIfAborted();
    counter?.count(agent, made.outcome, made, compared?.denies === true);
    sightings?.see(agent, request.step, request.stage, caller.adapter ?? caller.protocol);
    onVerdict(labelOf(made, compared), request.stage, caller.protocol);
    return isWhole ? made : withoutDetail(made);
  }

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
    const needed = recorder?.nonMatches === true ? 'full' : detail;
    const { step, stage } = request;
    const { lifts } = loaded.program;
    if (loaded.program.isEmpty) options.onUncontrolled?.(agent);
    const { held } = request;
    if (held !== undefined) {
      // What is kept of earlier steps must not be asked twice.
      if (lifts !== null && loaded.program.remembers) return readAndJudged(held);
      return judgeHeld(held, loaded, request, agent, needed, caller).then(({ verdict, compared }) => {
        if (lifts !== null && compared?.denies !== true && lifts.of(verdict) !== null)
          return readAndJudged(held);
        const made = concluded(verdict, compared, request, revision, staleness, newDecisionId());
        return awaited(made, compared, request, agent, caller, needed === detail);
      });
    }
    async function readAndJudged(one: HeldStep): Promise<RevisedVerdict> {
      const { held: _held, ...read } = { ...request, step: await one.read() };
      return judge(loaded, read, agent, detail, caller);
    }
    const { comparison } = loaded;
    const compared =
      comparison === null ? null : tell(compareStep(comparison, step, stage), comparison, request, agent);
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
        return shownTo(request, awaited(whole, compared, request, agent, caller, needed === detail));
      });
    }
    if (!(verdict instanceof Promise)) {
      const made = concluded(verdict, compared, request, revision, staleness, newDecisionId());
      recorder?.record(request, made, caller);
      counter?.count(agent, made.outcome, made, compared?.denies === true);
      sightings?.see(agent, step, stage, caller.adapter ?? caller.protocol);
      onVerdict(labelOf(made, compared), stage, caller.protocol);
      return needed === detail ? made : withoutDetail(made);
    }
    return verdict.then((settled) => {
      const made = concluded(settled, compared, request, revision, staleness, newDecisionId());
      return awaited(made, compared, request, agent, caller, needed === detail);
    });
  }

  function decide(
    request: EvaluateRequest,
    detail: Detail,
    caller: KnownCaller,
  ): RevisedVerdict | Promise<RevisedVerdict> {
    const halted = haltedVerdict(request, caller);
    if (halted !== null) return told(halted, request, caller);
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
    return Promise.resolve(loaded).then(async (late) => {
      if (mayWait) await halts.reading;
      const halt = haltedVerdict(request, caller);
      return halt === null ? judge(late, request, agent, detail, caller) : told(halt, request, caller);
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

/** What a verdict has besides its reason when a halt denies the step. */
const DENIED = {
  is_safe: false,
  confidence: 1,
  matches: [],
  errors: [],
  non_matches: [],
  selected_controls: 0,
  evaluated_controls: 0,
  skipped_controls: 0,
} satisfies Omit<Verdict, 'reason'>;

/** The outcome of a verdict for a caller that accepts these outcomes besides allow and deny. */
export function outcomeOf(verdict: Verdict, accepts: EvaluationOptions['accepts']): VerdictOutcome {
  if (verdict.is_safe) return 'allow';
  if (accepts !== undefined && !accepts.includes('steer')) return 'deny';
  if (verdict.matches.some(isDeny) || verdict.errors.some(isDeny)) return 'deny';
  // Without a cause, an agent without controls is denied.
  return verdict.matches.length > 0 ? 'steer' : 'deny';
}

const isDeny = ({ action }: ControlResult): boolean => action === 'deny';

/** The verdict of the controls, together with what came of the comparison with the schemas. */
function concluded(
  verdict: Verdict,
  compared: ComparedStep | null,
  { step, options }: EvaluateRequest,
  revision: number,
  staleness: number | null,
  decisionId: string | RandomId,
): RevisedVerdict {
  const denies = compared?.denies === true;
  const outcome = denies ? 'deny' : outcomeOf(verdict, options?.accepts);
  const made = denies ? withComparison(verdict, compared, step) : verdict;
  return revised(
    made,
    revision,
    staleness,
    outcome,
    decisionId,
    compared === null ? null : compared.mismatch,
  );
}

function withLifts(made: RevisedVerdict, lifted: LiftedVerdict | { readonly outcome: null }): RevisedVerdict {
  if (lifted.outcome === null) return made;
  const { outcome, approval, modification } = lifted;
  return {
    ...made,
    outcome,
    ...(approval === null ? {} : { approval }),
    ...(modification === null ? {} : { modification }),
  };
}

/**
 * A verdict as its caller knows such verdicts: to deployed clients a match of a deny control means that the step must not
 * proceed, whatever else is said. An approved step has such matches, which are recorded.
 */
function shownTo({ options }: EvaluateRequest, verdict: RevisedVerdict): RevisedVerdict {
  if (!verdict.is_safe || verdict.approval === undefined || options?.accepts?.includes('ask') === true)
    return verdict;
  return { ...verdict, matches: verdict.matches.filter((match) => !isDeny(match)) };
}

function labelOf(verdict: RevisedVerdict, compared: ComparedStep | null): VerdictLabel {
  if (compared?.denies === true) return 'deny';
  const { outcome, approval } = verdict;
  if (outcome === 'ask' || outcome === 'modify') return outcome;
  return approval === undefined ? verdictLabel(verdict) : outcome === 'allow' ? 'allow' : 'deny';
}

/** Member by member, for speed: this runs for every verdict. */
function revised(
  verdict: Verdict,
  revision: number,
  staleness_seconds: number | null,
  outcome: VerdictOutcome,
  decision_id: string | RandomId,
  schema_mismatch: SchemaMismatch | null,
): RevisedVerdict {
  const { is_safe, confidence, reason, matches, errors, non_matches } = verdict;
  const { selected_controls, evaluated_controls, skipped_controls } = verdict;
  const made: RevisedVerdict = {
    is_safe,
    confidence,
    reason,
    matches,
    errors,
    non_matches,
    selected_controls,
    evaluated_controls,
    skipped_controls,
    revision,
    staleness_seconds,
    schema_mismatch,
    outcome,
    decision_id,
  };
  return verdict.limits === undefined ? made : { ...made, limits: verdict.limits };
}

/** A full verdict reduced to the detail `verdict`. */
function withoutDetail(verdict: RevisedVerdict): RevisedVerdict {
  const bare = (one: ControlResult): ControlResult => ({
    ...one,
    result: { ...one.result, metadata: keptMetadata(one) },
  });
  return {
    ...verdict,
    matches: verdict.matches.map(bare),
    errors: verdict.errors.map(bare),
    non_matches: [],
  };
}

/** The strongest result: a deny takes precedence over everything, an error over every safe result. */
export function verdictLabel(verdict: Verdict): VerdictLabel {
  const { matches } = verdict;
  if (matches.some((match) => match.action === 'deny')) return 'deny';
  if (verdict.errors.some((error) => error.action === 'deny') && !verdict.is_safe) return 'error';
  if (matches.some((match) => match.action === 'steer')) return 'steer';
  if (verdict.errors.length > 0) return 'error';
  if (matches.length > 0) return 'observe';
  return verdict.is_safe ? 'allow' : 'deny';
}
