import type { ControlProgram, ControlResult, Detail, Stage, Step, Verdict } from '../evaluation/types.js';
import type { Snapshot } from '../snapshot/snapshot.js';

/** A step to be judged. `agentName` is normalised. */
export interface EvaluationRequest {
  readonly agentName: string;
  readonly step: Step;
  readonly stage: Stage;
}

/** What the service did with a step, in one word, for the metrics. */
export type VerdictLabel = 'deny' | 'steer' | 'observe' | 'allow' | 'error';

/** Who asks, as far as it matters. */
export interface EvaluationCaller {
  readonly protocol: string;
  /** Reads a header, or an entry of the metadata; its name is in lower case. */
  header(name: string): string | undefined;
}

/** Judges steps by the controls of their agents. */
export interface EvaluationService {
  /**
   * A promise only when the agent has to be loaded or an evaluator is asynchronous. Rejects, or throws, with
   * AGENT_NOT_FOUND or SERVICE_UNAVAILABLE.
   */
  evaluate(request: EvaluationRequest, detail: Detail, caller: EvaluationCaller): Verdict | Promise<Verdict>;
}

export interface EvaluationServiceOptions {
  readonly snapshot: Pick<Snapshot, 'programOf'>;
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
  const { snapshot, onVerdict, recorder } = options;
  const needed = (detail: Detail): Detail => (recorder?.nonMatches === true ? 'full' : detail);
  return {
    evaluate(request, detail, caller) {
      const { agentName, step, stage } = request;
      const tell = (verdict: Verdict): Verdict => {
        onVerdict(verdictLabel(verdict), stage, caller.protocol);
        recorder?.record(request, verdict, caller);
        return needed(detail) === detail ? verdict : withoutDetail(verdict);
      };
      const judge = (program: ControlProgram) => {
        const verdict = program.evaluate(step, stage, needed(detail));
        return verdict instanceof Promise ? verdict.then(tell) : tell(verdict);
      };
      const program = snapshot.programOf(agentName);
      return program instanceof Promise ? program.then(judge) : judge(program);
    },
  };
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
