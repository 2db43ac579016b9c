import type { ControlResult, Detail, Stage, Step, Verdict } from '../core/types.js';
import type { EvaluateRequest } from './evaluate-request.js';
import type { LoadedProgram } from './loaded-program.js';
import type { RevisionWatch } from './revision-watch.js';
import type { DemandFresh } from './staleness.js';

/** A step to be judged. `agentName` is normalised. */
export interface EvaluationRequest {
  readonly agentName: string;
  readonly step: Step;
  readonly stage: Stage;
}

/** A verdict, and the revision of the controls it was made by. */
export interface RevisedVerdict extends Verdict {
  readonly revision: number;
  /**
   * Set when the controls are those of the last known good file: whole seconds, rounded up, since they were certainly
   * the latest.
   */
  readonly staleness_seconds: number | null;
}

/** What the service did with a step, in one word, for the metrics. */
export type VerdictLabel = 'deny' | 'steer' | 'observe' | 'allow' | 'error';

/** Who asks, as far as it matters. */
export interface EvaluationCaller {
  readonly protocol: string;
  /** Reads a header, or an entry of the metadata; its name is in lower case. */
  header(name: string): string | undefined;
  /**
   * Aborted when nobody waits for the answer any more: the caller went away, its deadline passed, or the server shuts
   * down. Asked for only by what waits, because most evaluations need no signal.
   */
  signal(): AbortSignal;
  /** Counts more evaluations than the one a call stands for. Fails with RATE_LIMITED when the caller makes too many. */
  spend(evaluations: number): void;
}

/** Judges steps by the controls of their agents. */
export interface EvaluationService {
  /**
   * A promise only when the agent has to be loaded, a revision is demanded that is not known yet, or an evaluator is
   * asynchronous. Rejects, or throws, with AGENT_NOT_FOUND or SERVICE_UNAVAILABLE, and with the reason of the caller's
   * signal when that is aborted before a revision is reached.
   */
  evaluate(
    request: EvaluateRequest,
    detail: Detail,
    caller: EvaluationCaller,
  ): RevisedVerdict | Promise<RevisedVerdict>;
}

export interface EvaluationServiceOptions {
  readonly programs: Pick<RevisionWatch, 'programOf' | 'progress'>;
  /** Refuses programs that may be too old, if that is wanted. */
  readonly demandFresh?: DemandFresh | undefined;
  /** Milliseconds of the clock of the programs. */
  readonly now: () => number;
  /** Told of every verdict by controls of the last known good file. */
  readonly onKeptVerdict?: () => void;
  /** Told of every verdict. */
  readonly onVerdict: (label: VerdictLabel, stage: Stage, protocol: string) => void;
  /** Keeps every verdict, if it is wanted. */
  readonly recorder?: VerdictRecorder | undefined;
}

/** Keeps verdicts. */
export interface VerdictRecorder {
  /** Whether it needs the non-matches too, whatever the caller asked for. */
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
        // Asked for now: while an evaluator takes its time the program may fall behind.
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

/** Member by member, because this is done for every verdict. */
function revised(verdict: Verdict, revision: number, staleness_seconds: number | null): RevisedVerdict {
  const { is_safe, confidence, reason, matches, errors, non_matches } = verdict;
  return { is_safe, confidence, reason, matches, errors, non_matches, revision, staleness_seconds };
}

/** A full verdict as it is with detail `verdict`. */
function withoutDetail(verdict: Verdict): Verdict {
  const bare = (one: ControlResult): ControlResult => ({ ...one, result: { ...one.result, metadata: null } });
  return {
    ...verdict,
    matches: verdict.matches.map(bare),
    errors: verdict.errors.map(bare),
    non_matches: [],
  };
}

/** The strongest thing that happened: a deny wins over everything, an error over whatever else is safe. */
export function verdictLabel(verdict: Verdict): VerdictLabel {
  const { matches } = verdict;
  if (matches.some((match) => match.action === 'deny')) return 'deny';
  if (verdict.errors.some((error) => error.action === 'deny') && !verdict.is_safe) return 'error';
  if (matches.some((match) => match.action === 'steer')) return 'steer';
  if (verdict.errors.length > 0) return 'error';
  return matches.length > 0 ? 'observe' : 'allow';
}
