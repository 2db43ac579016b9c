import type { JsonObject } from '../../../packages/exact-json/src/index.js';
import type { Evaluation } from './evaluation.js';
import type { Outcome } from './outcome.js';
import type { CompositeKind, LeafLabel, SkipReason, TraceMaker } from './trace.js';
import type { EvaluatorResult } from './types.js';

/** A compiled node of a condition tree. Never throws and never rejects. */
export interface ConditionNode {
  run(evaluation: Evaluation): Outcome | Promise<Outcome>;
  /** Trace of the node when an earlier sibling made it superfluous. */
  skipped(reason: SkipReason): JsonObject;
  /** The leaf, if the node is one. */
  readonly leaf: LeafLabel | null;
}

/**
 * The leaf that decided an outcome of a node: the leaf that failed, the first one that matched in `or` or that did not
 * in `and`, else the first one. Null if the definition is damaged.
 */
export function decidingLeaf(node: ConditionNode, outcome: Outcome): LeafLabel | null {
  return outcome.leaf ?? node.leaf;
}

/** Result of a control from the outcome of its condition, which includes the trace. */
export function fullResult({
  matched,
  confidence,
  message,
  metadata,
  error,
  trace,
}: Outcome): EvaluatorResult {
  const traced = trace === undefined ? null : { ...metadata, condition_trace: trace };
  return { matched, confidence, message, metadata: traced, error };
}

const MATCHED_TEXT = 'Condition matched';
const NOT_MATCHED_TEXT = 'Condition did not match';

/** An `and` or `or` node, with everything a walk through its children needs. */
interface Sequence {
  readonly kind: 'and' | 'or';
  readonly children: readonly ConditionNode[];
  readonly traces: TraceMaker;
  readonly recent: RecentOutcomes;
  /** The places of the children in the definition; null if they run in its order. */
  readonly places: readonly number[] | null;
}

/** Progress of a walk. */
interface Progress {
  /** Index of the next child. */
  readonly next: number;
  readonly lowest: number;
  readonly first: Outcome | null;
  /** Null when no traces are requested. */
  readonly traces: JsonObject[] | null;
}

/**
 * `and`, `or`: runs children in order until one decides or fails. `places`: see `Sequence`; traces have the order of the
 * definition.
 */
export function compileSequence(
  kind: 'and' | 'or',
  children: readonly ConditionNode[],
  traces: TraceMaker,
  places: readonly number[] | null = null,
): ConditionNode {
  const sequence: Sequence = { kind, children, traces, recent: new RecentOutcomes(), places };
  return {
    leaf: null,
    run: (evaluation) => walk(sequence, evaluation, 0, null, 1, null, evaluation.full ? [] : null),
    skipped: (reason) => traces.skippedComposite(kind, reason, placed(skippedAll(children, reason), places)),
  };
}

/** Continues at child `start`, with `settled` as its outcome if it had to be awaited. */
function walk(
  sequence: Sequence,
  evaluation: Evaluation,
  start: number,
  settled: Outcome | null,
  lowestSoFar: number,
  firstSoFar: Outcome | null,
  traces: JsonObject[] | null,
): Outcome | Promise<Outcome> {
  const { children } = sequence;
  /** A child with this result settles the node. */
  const deciding = sequence.kind === 'or';
  let lowest = lowestSoFar;
  let first = firstSoFar;
  let given = settled;
  for (let index = start; index < children.length; index += 1) {
    const outcome = given ?? (children[index] as ConditionNode).run(evaluation);
    given = null;
    if (outcome instanceof Promise) {
      return walkLater(sequence, evaluation, outcome, { next: index, lowest, first, traces });
    }
    if (traces !== null && outcome.trace !== undefined) traces.push(outcome.trace);
    if (outcome.error !== null) return failed(sequence, outcome, traces);
    if (outcome.confidence < lowest) lowest = outcome.confidence;
    if (outcome.matched === deciding) return concluded(sequence, deciding, lowest, outcome, index, traces);
    first ??= outcome;
  }
  return concluded(sequence, !deciding, lowest, first, 0, traces);
}

/** Separate from `walk`, so that a walk without promises creates no closure. */
function walkLater(
  sequence: Sequence,
  evaluation: Evaluation,
  outcome: Promise<Outcome>,
  { next, lowest, first, traces }: Progress,
): Promise<Outcome> {
  return outcome.then((settled) => walk(sequence, evaluation, next, settled, lowest, first, traces));
}

/** `source` is the outcome of the child at `index`, which decided or is the first of all. */
function concluded(
  sequence: Sequence,
  matched: boolean,
  confidence: number,
  source: Outcome | null,
  index: number,
  traces: JsonObject[] | null,
): Outcome {
  const child = sequence.children[index];
  const leaf = source === null || child === undefined ? null : decidingLeaf(child, source);
  if (traces === null) return sequence.recent.outcome(matched, confidence, leaf);
  const { kind } = sequence;
  const decided = matched === (kind === 'or');
  const reason: SkipReason | null = decided ? (kind === 'or' ? 'or_matched' : 'and_failed') : null;
  const trace = tracedSequence(sequence, matched, traces, reason);
  return composedWithTrace(matched, confidence, source?.metadata ?? null, leaf, trace);
}

function failed(sequence: Sequence, child: Outcome, traces: JsonObject[] | null): Outcome {
  return traces === null ? child : { ...child, trace: tracedSequence(sequence, null, traces, 'error') };
}

function tracedSequence(
  { kind, children, traces: maker, places }: Sequence,
  matched: boolean | null,
  traces: JsonObject[],
  reason: SkipReason | null,
): JsonObject {
  if (reason === null) return maker.composite(kind, matched, placed(traces, places), null);
  const rest = skippedAll(children.slice(traces.length), reason);
  return maker.composite(kind, matched, placed([...traces, ...rest], places), reason);
}

function placed(traces: JsonObject[], places: readonly number[] | null): JsonObject[] {
  if (places === null) return traces;
  const inOrder: JsonObject[] = [];
  for (const [index, place] of places.entries()) {
    const trace = traces[index];
    if (trace !== undefined) inOrder[place] = trace;
  }
  return inOrder;
}

function skippedAll(children: readonly ConditionNode[], reason: SkipReason): JsonObject[] {
  return children.map((child) => child.skipped(reason));
}

/** `not`: inverts its child, with the confidence of the child. */
export function compileNot(child: ConditionNode, traces: TraceMaker): ConditionNode {
  const kind: CompositeKind = 'not';
  const recent = new RecentOutcomes();
  const invert = (outcome: Outcome): Outcome => {
    const { error, metadata, confidence, trace } = outcome;
    const matched = error === null && !outcome.matched;
    const leaf = decidingLeaf(child, outcome);
    if (trace === undefined) return error === null ? recent.outcome(matched, confidence, leaf) : outcome;
    const own = traces.composite(kind, error === null ? matched : null, [trace], null);
    return error === null
      ? composedWithTrace(matched, confidence, metadata, leaf, own)
      : { ...outcome, trace: own };
  };
  return {
    leaf: null,
    run(evaluation) {
      const outcome = child.run(evaluation);
      return outcome instanceof Promise ? outcome.then(invert) : invert(outcome);
    },
    skipped: (reason) => traces.skippedComposite(kind, reason, [child.skipped(reason)]),
  };
}

function composed(matched: boolean, confidence: number, leaf: LeafLabel | null): Outcome {
  const message = matched ? MATCHED_TEXT : NOT_MATCHED_TEXT;
  return { matched, confidence, message, metadata: null, error: null, leaf };
}

/** Written out: copying an outcome and adding to it takes ten times as long. */
function composedWithTrace(
  matched: boolean,
  confidence: number,
  metadata: JsonObject | null,
  leaf: LeafLabel | null,
  trace: JsonObject,
): Outcome {
  const message = matched ? MATCHED_TEXT : NOT_MATCHED_TEXT;
  return { matched, confidence, message, metadata, error: null, leaf, trace };
}

/** The last outcomes of a node without traces: nearly always the next one is equal, and is not created again. */
class RecentOutcomes {
  #matched: Outcome | null = null;
  #notMatched: Outcome | null = null;

  outcome(matched: boolean, confidence: number, leaf: LeafLabel | null): Outcome {
    const recent = matched ? this.#matched : this.#notMatched;
    if (recent !== null && recent.leaf === leaf && recent.confidence === confidence) return recent;
    const outcome = composed(matched, confidence, leaf);
    if (matched) this.#matched = outcome;
    else this.#notMatched = outcome;
    return outcome;
  }
}
