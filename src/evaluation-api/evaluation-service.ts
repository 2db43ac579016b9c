import type { ControlProgram, Detail, Stage, Step, Verdict } from '../evaluation/types.js';
import type { Snapshot } from '../snapshot/snapshot.js';

/** A step to be judged. `agentName` is normalised. */
export interface EvaluationRequest {
  readonly agentName: string;
  readonly step: Step;
  readonly stage: Stage;
}

/** What the service did with a step, in one word, for the metrics. */
export type VerdictLabel = 'deny' | 'steer' | 'observe' | 'allow' | 'error';

/** Judges steps by the controls of their agents. */
export interface EvaluationService {
  /**
   * A promise only when the agent has to be loaded or an evaluator is asynchronous. Rejects, or throws, with
   * AGENT_NOT_FOUND or SERVICE_UNAVAILABLE.
   */
  evaluate(request: EvaluationRequest, detail: Detail, protocol: string): Verdict | Promise<Verdict>;
}

export interface EvaluationServiceOptions {
  readonly snapshot: Pick<Snapshot, 'programOf'>;
  /** Told of every verdict. */
  readonly onVerdict: (label: VerdictLabel, stage: Stage, protocol: string) => void;
}

export function createEvaluationService(options: EvaluationServiceOptions): EvaluationService {
  const { snapshot, onVerdict } = options;
  const tell = (verdict: Verdict, stage: Stage, protocol: string): Verdict => {
    onVerdict(verdictLabel(verdict), stage, protocol);
    return verdict;
  };
  const judge = (program: ControlProgram, request: EvaluationRequest, detail: Detail, protocol: string) => {
    const verdict = program.evaluate(request.step, request.stage, detail);
    if (verdict instanceof Promise) return verdict.then((late) => tell(late, request.stage, protocol));
    return tell(verdict, request.stage, protocol);
  };
  return {
    evaluate(request, detail, protocol) {
      const program = snapshot.programOf(request.agentName);
      if (program instanceof Promise)
        return program.then((loaded) => judge(loaded, request, detail, protocol));
      return judge(program, request, detail, protocol);
    },
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
