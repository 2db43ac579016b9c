import type { EvaluateRequest } from './evaluate-request.js';
import type { EvaluationCaller } from './evaluation-caller.js';
import type { EvaluationService, RevisedVerdict } from './evaluation-service.js';

/** The span of one evaluation. One of its methods is called once. */
export interface EvaluationSpan {
  decided(verdict: RevisedVerdict): void;
  failed(error: unknown): void;
}

/** Follows evaluations in traces. */
export interface EvaluationTracer {
  /** Undefined for an evaluation that is not sampled. */
  start(request: EvaluateRequest, caller: EvaluationCaller): EvaluationSpan | undefined;
}

/** Evaluations with spans. What is not sampled costs the decision about that and nothing else. */
export function tracedEvaluations(evaluate: EvaluationService['evaluate'], tracer: EvaluationTracer) {
  return ((request, detail, caller) => {
    const span = tracer.start(request, caller);
    if (span === undefined) return evaluate(request, detail, caller);
    const failed = (error: unknown): never => {
      span.failed(error);
      throw error;
    };
    const decided = (verdict: RevisedVerdict): RevisedVerdict => {
      span.decided(verdict);
      return verdict;
    };
    let verdict: RevisedVerdict | Promise<RevisedVerdict>;
    try {
      verdict = evaluate(request, detail, caller);
    } catch (error) {
      return failed(error);
    }
    return verdict instanceof Promise ? verdict.then(decided, failed) : decided(verdict);
  }) satisfies EvaluationService['evaluate'];
}
