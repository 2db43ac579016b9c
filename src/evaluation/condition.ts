import type { CheckCall } from '../evaluators/types.js';
import type { JsonObject, JsonValue } from '../json/json-value.js';
import { type SkipReason, skippedComposite, tracedComposite } from './trace.js';
import type { EvaluatorResult, Step } from './types.js';

/** One evaluation of a step, handed down the trees of all controls. */
export interface EvaluationContext {
  readonly step: Step;
  /** Whether metadata and traces are wanted. */
  readonly full: boolean;
  /** What evaluators are told. */
  readonly call: CheckCall;
  /** What the selectors of the program selected so far, by slot; undefined where none has looked yet. */
  readonly selected: (JsonValue | undefined)[];
}

/** What a node said. The trace is there exactly when the context asks for it. */
export interface Outcome extends EvaluatorResult {
  readonly trace?: JsonObject;
}

/** A compiled node of a condition tree. Never throws and never rejects. */
export interface ConditionNode {
  run(context: EvaluationContext): Outcome | Promise<Outcome>;
  /** Trace of the node where an earlier sibling made it superfluous. */
  skipped(reason: SkipReason): JsonObject;
}

const MATCHED_TEXT = 'Condition matched';
const NOT_MATCHED_TEXT = 'Condition did not match';
const MATCHED = composed(true, 1, null);
const NOT_MATCHED = composed(false, 1, null);

/** `and`, `or`: children in order, until one decides or fails. */
export function compileSequence(kind: 'and' | 'or', children: readonly ConditionNode[]): ConditionNode {
  /** A child that says this settles the node. */
  const deciding = kind === 'or';
  const decidedBy: SkipReason = kind === 'or' ? 'or_matched' : 'and_failed';

  const conclude = (
    matched: boolean,
    confidence: number,
    source: Outcome | null,
    traces: JsonObject[] | null,
  ): Outcome => {
    if (traces === null) return constantOr(matched, confidence);
    const reason = matched === deciding ? decidedBy : null;
    const outcome = composed(matched, confidence, source?.metadata ?? null);
    return { ...outcome, trace: tracedComposite(kind, matched, withSkipped(traces, reason), reason) };
  };
  const fail = (child: Outcome, traces: JsonObject[] | null): Outcome =>
    traces === null
      ? child
      : { ...child, trace: tracedComposite(kind, null, withSkipped(traces, 'error'), 'error') };
  const withSkipped = (traces: JsonObject[], reason: SkipReason | null): JsonObject[] => {
    if (reason === null) return traces;
    return [...traces, ...children.slice(traces.length).map((child) => child.skipped(reason))];
  };

  /** Goes on at child `start`, whose outcome is `settled` when it had to be waited for. */
  const walk = (
    context: EvaluationContext,
    start: number,
    settled: Outcome | null,
    lowestSoFar: number,
    firstSoFar: Outcome | null,
    traces: JsonObject[] | null,
  ): Outcome | Promise<Outcome> => {
    let lowest = lowestSoFar;
    let first = firstSoFar;
    let given = settled;
    let index = start;
    for (const child of start === 0 ? children : children.slice(start)) {
      const outcome = given ?? child.run(context);
      given = null;
      if (outcome instanceof Promise) return later(outcome, context, index, lowest, first, traces);
      if (traces !== null && outcome.trace !== undefined) traces.push(outcome.trace);
      if (outcome.error !== null) return fail(outcome, traces);
      if (outcome.confidence < lowest) lowest = outcome.confidence;
      if (outcome.matched === deciding) return conclude(deciding, lowest, outcome, traces);
      first ??= outcome;
      index += 1;
    }
    return conclude(!deciding, lowest, first, traces);
  };
  /** Apart from `walk`, so that a walk without promises creates no closure. */
  const later = (
    outcome: Promise<Outcome>,
    context: EvaluationContext,
    index: number,
    lowest: number,
    first: Outcome | null,
    traces: JsonObject[] | null,
  ): Promise<Outcome> => outcome.then((settled) => walk(context, index, settled, lowest, first, traces));

  return {
    run: (context) => walk(context, 0, null, 1, null, context.full ? [] : null),
    skipped: (reason) =>
      skippedComposite(
        kind,
        reason,
        children.map((child) => child.skipped(reason)),
      ),
  };
}

/** `not`: the inverse of its child, as sure as the child. */
export function compileNot(child: ConditionNode): ConditionNode {
  const invert = (outcome: Outcome): Outcome => {
    const { error, metadata, confidence, trace } = outcome;
    const matched = error === null && !outcome.matched;
    if (trace === undefined) return error === null ? constantOr(matched, confidence) : outcome;
    const inverted = error === null ? composed(matched, confidence, metadata) : outcome;
    return { ...inverted, trace: tracedComposite('not', error === null ? matched : null, [trace], null) };
  };
  return {
    run(context) {
      const outcome = child.run(context);
      return outcome instanceof Promise ? outcome.then(invert) : invert(outcome);
    },
    skipped: (reason) => skippedComposite('not', reason, [child.skipped(reason)]),
  };
}

function composed(matched: boolean, confidence: number, metadata: JsonObject | null): Outcome {
  return { matched, confidence, message: matched ? MATCHED_TEXT : NOT_MATCHED_TEXT, metadata, error: null };
}

function constantOr(matched: boolean, confidence: number): Outcome {
  if (confidence === 1) return matched ? MATCHED : NOT_MATCHED;
  return composed(matched, confidence, null);
}
