import type { JsonObject, JsonValue } from '../../../packages/exact-json/src/index.js';
import type { LazyCheckCall } from './check-call.js';
import { type ConditionNode, fullResult } from './condition.js';
import type { Evaluation } from './evaluation.js';
import type { LeafPlace } from './evaluator.js';
import type { EvaluatorPart } from './evaluator-part.js';
import { describeThrown, failureText, MISSING_DATA_TEXT } from './failure.js';
import type { Outcome } from './outcome.js';
import type { SelectorSlot } from './selector-table.js';
import { standing } from './standing-results.js';
import type { TextScan } from './text-scan.js';
import type { LeafLabel, TraceMaker } from './trace.js';
import type { EvaluatorResult } from './types.js';

/** Limits the time of a promise: rejects with a message that contains "timeout" after `milliseconds`. */
export type WithTimeout = <T>(promise: Promise<T>, milliseconds: number) => Promise<T>;

/** Input of `compileLeaf`. */
export interface LeafParts {
  readonly selector: SelectorSlot;
  /** See `LeafView`. */
  readonly required: boolean;
  readonly part: EvaluatorPart;
  /** See `LeafPlace`. */
  readonly negated: boolean;
  /** Slot of the outcome in an evaluation; null when the leaf occurs only once in the program. */
  readonly slot: number | null;
  /** The scan for the literals of this search, and the index of the search there. */
  readonly search: { readonly scan: TextScan; readonly index: number } | null;
  readonly withTimeout?: WithTimeout | undefined;
  readonly traces: TraceMaker;
}

/** Compiles a leaf. Any fault of the evaluator becomes an error of the leaf. */
export function compileLeaf(parts: LeafParts): ConditionNode {
  const { selector, required, part, negated, slot, search, withTimeout, traces } = parts;
  const { compiled, evaluatorName, timeoutMs } = part;
  const place: LeafPlace = { path: selector.path, negated };
  const label: LeafLabel = { path: selector.path, evaluatorName };
  const miss = compiled.prefilter?.miss;
  const usual = miss ?? compiled.usual;
  /** The outcome of `usual` with its trace, created once. */
  let tracedUsual: Outcome | null = null;

  /** `problem` is for the operator. */
  const failed = (
    evaluation: Evaluation,
    error: string,
    metadata: JsonObject | null,
    problem?: string,
  ): Outcome => {
    const told = problem === undefined ? {} : { problem };
    const outcome: Outcome = {
      matched: false,
      confidence: 0,
      message: error,
      metadata,
      error,
      leaf: label,
      ...told,
    };
    return evaluation.full ? { ...outcome, trace: traces.leaf(label, outcome) } : outcome;
  };
  const fail = (evaluation: Evaluation, what: string, metadata: JsonObject | null): Outcome =>
    failed(evaluation, failureText(what), metadata, `evaluator ${evaluatorName}: ${what}`);
  const refuse = (evaluation: Evaluation): Outcome =>
    fail(evaluation, 'the evaluator returned a malformed result', null);
  const conclude = (evaluation: Evaluation, result: EvaluatorResult): Outcome => {
    if (result.error !== null) return fail(evaluation, result.error, result.metadata);
    return evaluation.full ? traced(result) : result;
  };
  const traced = (result: EvaluatorResult): Outcome => {
    const { matched, confidence, message, metadata } = result;
    return { matched, confidence, message, metadata, error: null, trace: traces.leaf(label, result) };
  };
  const asUsual = (evaluation: Evaluation, result: EvaluatorResult): Outcome => {
    if (!evaluation.full) return result;
    if (tracedUsual === null) {
      const outcome = traced(result);
      tracedUsual = { ...outcome, result: standing(fullResult(outcome)) };
    }
    return tracedUsual;
  };
  const wait = (evaluation: Evaluation, call: LazyCheckCall, result: PromiseLike<unknown>) => {
    const promise = Promise.resolve(result);
    const limited = withTimeout === undefined ? promise : withTimeout(promise, timeoutMs);
    return limited
      .then((settled) => (isEvaluatorResult(settled) ? conclude(evaluation, settled) : refuse(evaluation)))
      .catch((thrown: unknown) => {
        // The check may have timed out while still running: it is no longer awaited.
        call.abort();
        return fail(evaluation, describeThrown(thrown), null);
      });
  };
  const check = (
    evaluation: Evaluation,
    data: JsonValue,
    call: LazyCheckCall,
  ): Outcome | Promise<Outcome> => {
    const result: unknown = compiled.evaluate(data, call);
    if (result === usual && usual !== undefined) return asUsual(evaluation, usual);
    if (isEvaluatorResult(result)) return conclude(evaluation, result);
    if (!isThenable(result)) return refuse(evaluation);
    call.claimed = true;
    if (!part.external) evaluation.waitsForLocal = true;
    return wait(evaluation, call, result);
  };
  const checkSafely = (evaluation: Evaluation, call: LazyCheckCall): Outcome | Promise<Outcome> => {
    try {
      const data = selector.read(evaluation);
      // No failure of the evaluator, of which the operator would be told.
      if (required && data === null) return failed(evaluation, MISSING_DATA_TEXT, null);
      if (search !== null && miss !== undefined && data !== null) {
        if (search.scan.rulesOut(search.index, data, evaluation)) return asUsual(evaluation, miss);
      }
      return check(evaluation, data, call);
    } catch (thrown) {
      return fail(evaluation, describeThrown(thrown), null);
    }
  };

  const runNow = (evaluation: Evaluation) => {
    if (evaluation.account.isExhausted) return fail(evaluation, 'the step costs too much to evaluate', null);
    return checkSafely(evaluation, evaluation.nextCall(place));
  };
  const runHere = (evaluation: Evaluation) => {
    if (!evaluation.account.mustWait) return runNow(evaluation);
    evaluation.waitsForLocal = true;
    return evaluation.account.later(() => runNow(evaluation));
  };
  const runElsewhere = (evaluation: Evaluation) =>
    evaluation.runExternally(place, (call) => checkSafely(evaluation, call));
  const run = part.external ? runElsewhere : runHere;
  return {
    leaf: label,
    run: slot === null ? run : onceIn(slot, run),
    skipped: (reason) => traces.skippedLeaf(label, reason),
  };
}

/** Runs once per evaluation, however often it is called. */
function onceIn(slot: number, run: ConditionNode['run']): ConditionNode['run'] {
  return (evaluation) => {
    const known = evaluation.outcomes.get(slot);
    if (known !== undefined) return known;
    const outcome = run(evaluation);
    evaluation.outcomes.put(slot, outcome);
    if (outcome instanceof Promise) keepSettled(evaluation, slot, outcome);
    return outcome;
  };
}

/** A check that has answered is no longer awaited: what runs afterwards need not wait again. */
function keepSettled({ outcomes }: Evaluation, slot: number, outcome: Promise<Outcome>): void {
  void outcome.then((settled) => outcomes.replace(slot, settled));
}

function isThenable(value: unknown): value is PromiseLike<unknown> {
  return typeof value === 'object' && value !== null && 'then' in value && typeof value.then === 'function';
}

/** Evaluators may be third-party code, so their answers are validated, not trusted. */
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
