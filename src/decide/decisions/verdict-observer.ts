import type { AgentKey } from '../../contract/call/namespace.js';
import type { EvaluationCaller } from './evaluation-caller.js';
import type { LoadedProgram } from './loaded-program.js';
import type { EvaluationRequest, RevisedVerdict } from './revised-verdict.js';

/** A verdict as its observers are told of it. */
export interface ToldVerdict {
  readonly request: EvaluationRequest;
  /** Of the detail that the caller requested, or of a higher one that an observer needs. */
  readonly verdict: RevisedVerdict;
  readonly caller: EvaluationCaller;
  readonly agent: AgentKey;
  /** The controls that decided; null if a halt did. */
  readonly loaded: LoadedProgram | null;
  /** Whether the step is denied because it differs from its registered schemas, whatever the controls say. */
  readonly differs: boolean;
  /**
   * False when nothing awaits the verdict any more, because its caller disconnected or its time was up: it may lack the results
   * of external evaluators.
   */
  readonly isAnswered: boolean;
}

/** Is told of every verdict, once. */
export interface VerdictObserver {
  /** Whether verdicts must have their non-matches, whatever the caller requested. Absent for an observer that never needs them. */
  readonly nonMatches?: boolean;
  /** It is called before the caller is answered, so it must take next to no time, and must not throw. */
  told(told: ToldVerdict): void;
}

/** Tells all observers. */
export interface VerdictObservers extends VerdictObserver {
  readonly nonMatches: boolean;
}

export function observersOf(observers: readonly VerdictObserver[]): VerdictObservers {
  const demanding = observers.filter((observer) => 'nonMatches' in observer);
  return {
    get nonMatches() {
      for (const observer of demanding) if (observer.nonMatches === true) return true;
      return false;
    },
    told(told) {
      for (const observer of observers) observer.told(told);
    },
  };
}
