import type { ControlResult, Detail, Stage, Step, Verdict } from '../core/types.js';
import type { EvaluateRequest } from './evaluate-request.js';
import type { LoadedProgram } from './loaded-program.js';
import type { RevisionWatch } from './revision-watch.js';
import type { DemandFresh } from './staleness.js';

/** A step to evaluate. `agentName` is normalised. */
export interface EvaluationRequest {
  readonly agentName: string;
  readonly step: Step;
  readonly stage: Stage;
}

/** A verdict with the revision of its controls. */
export interface RevisedVerdict extends Verdict {
  readonly revision: number;
  /**
   * Set when the controls are those of the last known good file: whole seconds, rounded up, since they were certainly
   * the latest.
   */
  readonly staleness_seconds: number | null;
}

/** Summary of a verdict in one word, for the metrics. */
export type VerdictLabel = 'deny' | 'steer' | 'observe' | 'allow' | 'error';

/** Caller of an evaluation. */
export interface EvaluationCaller {
  readonly protocol: string;
  /** Returns a header, or an entry of the metadata; its name is in lower case. */
  header(name: string): string | undefined;
  /**
   * Aborted when the answer is no longer awaited: the caller disconnected, its deadline passed, or the server
   * shuts down. Read only by code that waits: reading it may start the time limit of the call.
   */
  readonly signal: AbortSignal;
  /** Counts evaluations beyond the first of a call. Fails with RATE_LIMITED above the caller's limit. */
  spend(evaluations: number): void;
}

/** Evaluates steps with the controls of their agents. */
export interface EvaluationService {
  /**
   * Returns a promise only when the agent has to be loaded, a required revision is not known yet, or an
   * evaluator is asynchronous. Rejects, or throws, with AGENT_NOT_FOUND or SERVICE_UNAVAILABLE, and with the
   * reason of the caller's signal when that is aborted before a revision is reached.
   */
  evaluate(
    request: EvaluateRequest,
    detail: Detail,
    caller: EvaluationCaller,
  ): RevisedVerdict | Promise<RevisedVerdict>;
}

export interface EvaluationServiceOptions {
  readonly programs: Pick<RevisionWatch, 'programOf' | 'progress'>;
  /** Rejects programs that may be too old, if configured. */
  readonly demandFresh?: DemandFresh | undefined;
  /** Milliseconds of the clock of the programs. */
  readonly now: () => number;
  /** Called for every verdict by controls of the last known good file. */
  readonly onKeptVerdict?: () => void;
  /** Called for every verdict. */
  readonly onVerdict: (label: VerdictLabel, stage: Stage, protocol: string) => void;
  /** Records every verdict, if configured. */
  readonly recorder?: VerdictRecorder | undefined;
}

/** Records verdicts. */
export interface VerdictRecorder {
  /** Whether it also needs the non-matches, whatever the caller requested. */
  readonly nonMatches: boolean;
  record(request: EvaluationRequest, verdict: Verdict, caller: EvaluationCaller): void;
}

export function createEvaluationService(options: EvaluationServiceOptions): EvaluationService {
  const { programs, demandFresh, onVerdict, recorder } = options;
  const stalenessOf = (loaded: LoadedProgram): number => {
    options.onKeptVerdict?.();
    return Math.max(0, Math.ceil((options.now() - loaded.currentAtMs(programs.progress)) / 1000));
  };
  const needed = (detail: Detail): Detail => (recorder?.nonMatches === true ? 'full' : detail);
  return {
    evaluate(request, detail, caller) {
      const { agentName, step, stage, minRevision } = request;
      const judge = (loaded: LoadedProgram) => {
        demandFresh?.(loaded.currentAtMs(programs.progress));
        // Read before evaluating: the program may fall behind during a slow evaluation.
        const revision = loaded.revision(programs.progress);
        const staleness = loaded.isKept ? stalenessOf(loaded) : null;
        const tell = (verdict: Verdict): RevisedVerdict => {
          onVerdict(verdictLabel(verdict), stage, caller.protocol);
          recorder?.record(request, verdict, caller);
          return revised(needed(detail) === detail ? verdict : withoutDetail(verdict), revision, staleness);
        };
        const verdict = loaded.program.evaluate(step, stage, needed(detail));
        return verdict instanceof Promise ? verdict.then(tell) : tell(verdict);
      };
      const loaded = programs.programOf(agentName, minRevision, caller);
      return loaded instanceof Promise ? loaded.then(judge) : judge(loaded);
    },
  };
}

/** Member by member, for speed: this runs for every verdict. */
function revised(verdict: Verdict, revision: number, staleness_seconds: number | null): RevisedVerdict {
  const { is_safe, confidence, reason, matches, errors, non_matches } = verdict;
  return { is_safe, confidence, reason, matches, errors, non_matches, revision, staleness_seconds };
}

/** A full verdict reduced to the detail `verdict`. */
function withoutDetail(verdict: Verdict): Verdict {
  const bare = (one: ControlResult): ControlResult => ({ ...one, result: { ...one.result, metadata: null } });
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
  return matches.length > 0 ? 'observe' : 'allow';
}
