import type { EvaluateRequest } from './evaluate-request.js';
import type { EvaluationCaller } from './evaluation-caller.js';
import type { EvaluationService } from './evaluation-service.js';
import type { RevisedVerdict } from './revised-verdict.js';

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

/** Evaluations with spans. */
export function tracedEvaluations(service: EvaluationService, tracer: EvaluationTracer): EvaluationService {
  return {
    evaluate(request, detail, caller) {
      const span = tracer.start(request, caller);
      if (span === undefined) return service.evaluate(request, detail, caller);
      const decided = (verdict: RevisedVerdict): RevisedVerdict => {
        span.decided(verdict);
        return verdict;
      };
      const failed = (error: unknown): never => {
        span.failed(error);
        throw error;
      };
      let verdict: RevisedVerdict | Promise<RevisedVerdict>;
      try {
        verdict = service.evaluate(request, detail, caller);
      } catch (error) {
        return failed(error);
      }
      return verdict instanceof Promise ? verdict.then(decided, failed) : decided(verdict);
    },
  };
}
