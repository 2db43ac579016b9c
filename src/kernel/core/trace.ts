import type { JsonObject } from '../../../packages/exact-json/src/index.js';
import { shorten } from '../../../packages/linear-text/src/index.js';
import type { EvaluatorResult } from './types.js';

/** Why a node was not evaluated, or did not evaluate all its children. */
export type SkipReason = 'and_failed' | 'or_matched' | 'error';

/** What identifies a leaf in a trace. */
export interface LeafLabel {
  readonly path: string;
  readonly evaluatorName: string;
}

/** Creates the traces of conditions. Called only where traces are requested. */
export interface TraceMaker {
  /** Of an evaluated leaf. */
  leaf(label: LeafLabel, result: EvaluatorResult): JsonObject;
  /** Of a leaf that was not evaluated. */
  skippedLeaf(label: LeafLabel, reason: SkipReason): JsonObject;
  /** Of an evaluated composite; `matched` null after an error, `reason` null if every child counted. */
  composite(
    type: CompositeKind,
    matched: boolean | null,
    children: JsonObject[],
    reason: SkipReason | null,
  ): JsonObject;
  /** Of a composite that was not evaluated. */
  skippedComposite(type: CompositeKind, reason: SkipReason, children: JsonObject[]): JsonObject;
}

/** Nodes with children. */
export type CompositeKind = 'and' | 'or' | 'not';

/** Longest message of a leaf in a trace, in characters. */
const TRACED_MESSAGE_LENGTH = 200;

/** Traces in wire format. */
export const wireTraces: TraceMaker = {
  leaf: (label, result) => ({
    type: 'leaf',
    evaluated: true,
    matched: result.matched,
    selector_path: label.path,
    evaluator_name: label.evaluatorName,
    confidence: result.confidence,
    error: result.error,
    message: result.message ? shorten(result.message, TRACED_MESSAGE_LENGTH) : null,
  }),
  skippedLeaf: (label, reason) => ({
    type: 'leaf',
    evaluated: false,
    matched: null,
    short_circuit_reason: reason,
    selector_path: label.path,
    evaluator_name: label.evaluatorName,
    confidence: null,
    error: null,
  }),
  composite: (type, matched, children, reason) =>
    reason === null
      ? { type, evaluated: true, matched, children }
      : { type, evaluated: true, matched, children, short_circuit_reason: reason },
  skippedComposite: (type, reason, children) => ({
    type,
    evaluated: false,
    matched: null,
    short_circuit_reason: reason,
    children,
  }),
};
