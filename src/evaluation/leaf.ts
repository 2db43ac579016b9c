import type { CompiledEvaluator } from '../evaluators/types.js';
import type { JsonObject } from '../json/json-value.js';
import type { ConditionNode, EvaluationContext, Outcome } from './condition.js';
import { describeThrown, failureText } from './failure.js';
import type { SelectorSlot } from './selector-table.js';
import { type LeafLabel, skippedLeaf, tracedLeaf } from './trace.js';
import type { EvaluatorResult } from './types.js';

/** Limits the time of a promise: rejects with a message that contains "timeout" after `milliseconds`. */
export type WithTimeout = <T>(promise: Promise<T>, milliseconds: number) => Promise<T>;

/** What a leaf is made of. */
export interface LeafParts {
  readonly label: LeafLabel;
  readonly selector: SelectorSlot;
  readonly evaluator: CompiledEvaluator;
  /** Time limit of a check that returns a promise. */
  readonly timeoutMs: number;
  readonly withTimeout?: WithTimeout | undefined;
  /** Told what really went wrong; the outcome has a fixed text only. */
  readonly onFailure: (problem: string) => void;
}

/** A leaf. Whatever the evaluator does wrong becomes an error of the leaf. */
export function compileLeaf(parts: LeafParts): ConditionNode {
  const { label, selector, evaluator, timeoutMs, withTimeout, onFailure } = parts;

  const fail = (context: EvaluationContext, problem: string, metadata: JsonObject | null): Outcome => {
    onFailure(problem);
    const error = failureText(problem);
    const failed: Outcome = { matched: false, confidence: 0, message: error, metadata, error };
    return context.full ? { ...failed, trace: tracedLeaf(label, failed) } : failed;
  };
  const conclude = (context: EvaluationContext, result: EvaluatorResult): Outcome => {
    if (result.error !== null) return fail(context, result.error, result.metadata);
    if (!context.full) return result;
    const { matched, confidence, message, metadata } = result;
    return { matched, confidence, message, metadata, error: null, trace: tracedLeaf(label, result) };
  };
  const refuse = (context: EvaluationContext): Outcome =>
    fail(context, 'the evaluator returned a malformed result', null);
  const wait = (context: EvaluationContext, result: PromiseLike<unknown>): Promise<Outcome> => {
    const promise = Promise.resolve(result);
    const limited =
      withTimeout === undefined ? promise : withTimeout(promise, evaluator.timeoutMs ?? timeoutMs);
    return limited
      .then((settled) => (isEvaluatorResult(settled) ? conclude(context, settled) : refuse(context)))
      .catch((thrown: unknown) => fail(context, describeThrown(thrown), null));
  };

  return {
    run(context) {
      try {
        const result: unknown = evaluator.evaluate(selector.read(context), context.call);
        if (isEvaluatorResult(result)) return conclude(context, result);
        return isThenable(result) ? wait(context, result) : refuse(context);
      } catch (thrown) {
        return fail(context, describeThrown(thrown), null);
      }
    },
    skipped: (reason) => skippedLeaf(label, reason),
  };
}

function isThenable(value: unknown): value is PromiseLike<unknown> {
  return typeof value === 'object' && value !== null && 'then' in value && typeof value.then === 'function';
}

/** Evaluators may be installed from elsewhere, so their answers are checked, not believed. */
function isEvaluatorResult(value: unknown): value is EvaluatorResult {
  if (typeof value !== 'object' || value === null) return false;
  const { matched, confidence, message, metadata, error } = value as Partial<EvaluatorResult>;
  return (
    typeof matched === 'boolean' &&
    typeof confidence === 'number' &&
    confidence >= 0 &&
    confidence <= 1 &&
    (message === null || typeof message === 'string') &&
    (error === null || typeof error === 'string') &&
    typeof metadata === 'object' &&
    !Array.isArray(metadata)
  );
}
