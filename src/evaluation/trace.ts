import type { JsonObject } from '../json/json-value.js';
import { shorten } from './text.js';
import type { EvaluatorResult } from './types.js';

/** Why a node was not evaluated, or did not evaluate all its children. */
export type SkipReason = 'and_failed' | 'or_matched' | 'error';

/** What identifies a leaf in a trace. */
export interface LeafLabel {
  readonly path: string;
  readonly evaluatorName: string;
}

/** Longest message of a leaf in a trace, in characters. */
const TRACED_MESSAGE_LENGTH = 200;

/** Trace of an evaluated leaf. */
export function tracedLeaf(label: LeafLabel, result: EvaluatorResult): JsonObject {
  return {
    type: 'leaf',
    evaluated: true,
    matched: result.matched,
    selector_path: label.path,
    evaluator_name: label.evaluatorName,
    confidence: result.confidence,
    error: result.error,
    message: result.message ? shorten(result.message, TRACED_MESSAGE_LENGTH) : null,
  };
}

/** Trace of a leaf that was not evaluated. */
export function skippedLeaf(label: LeafLabel, reason: SkipReason): JsonObject {
  return {
    type: 'leaf',
    evaluated: false,
    matched: null,
    short_circuit_reason: reason,
    selector_path: label.path,
    evaluator_name: label.evaluatorName,
    confidence: null,
    error: null,
  };
}

/** Trace of an evaluated composite; `matched` null after an error, `reason` null when every child counted. */
export function tracedComposite(
  type: 'and' | 'or' | 'not',
  matched: boolean | null,
  children: JsonObject[],
  reason: SkipReason | null,
): JsonObject {
  if (reason === null) return { type, evaluated: true, matched, children };
  return { type, evaluated: true, matched, children, short_circuit_reason: reason };
}

/** Trace of a composite that was not evaluated. */
export function skippedComposite(
  type: 'and' | 'or' | 'not',
  reason: SkipReason,
  children: JsonObject[],
): JsonObject {
  return { type, evaluated: false, matched: null, short_circuit_reason: reason, children };
}
