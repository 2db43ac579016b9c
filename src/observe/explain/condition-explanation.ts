import type { JsonObject } from '../../../packages/exact-json/src/index.js';
import type { DataPreview } from '../../contract/secrets/data-preview.js';
import type { PreparedNode } from '../../kernel/core/prepared-control.js';
import type { ExpressionValue, FindingDetail } from './leaf-details.js';

/** Explanation of one node. Members are those of the message. */
export type ConditionExplanation =
  | {
      type: 'leaf';
      evaluated: boolean;
      matched: boolean | null;
      short_circuit_reason: string | null;
      selector_path: string;
      evaluator_name: string;
      confidence: number | null;
      message: string | null;
      error: string | null;
      duration_us: number | null;
      selected: DataPreview;
      expression_values: readonly ExpressionValue[];
      findings: readonly FindingDetail[];
    }
  | {
      type: 'and' | 'or' | 'not';
      evaluated: boolean;
      matched: boolean | null;
      short_circuit_reason: string | null;
      children: ConditionExplanation[];
    };

type PreparedLeaf = Extract<PreparedNode, { kind: 'leaf' }>;

/** Facts about nodes besides the trace. */
export interface NodeFacts {
  /** Milliseconds; null when the evaluator did not run. */
  durationOf(leaf: PreparedLeaf): number | null;
  preview(path: string): DataPreview;
  /** Of a leaf that was evaluated. */
  valuesOf(leaf: PreparedLeaf): readonly ExpressionValue[];
  findingsOf(leaf: PreparedLeaf): readonly FindingDetail[];
  /** Replaces the fixed text of the one leaf that failed; null keeps that text. */
  readonly problem: string | null;
}

/** A node of a trace as created by `TraceMaker`. A type, so that it is JSON to the compiler. */
type TracedNode = {
  evaluated: boolean;
  matched: boolean | null;
  short_circuit_reason?: string;
  confidence?: number | null;
  message?: string | null;
  error?: string | null;
  children?: TracedNode[];
};

/** In place of a trace: a verdict omits a control whose external check a deny made superfluous. */
const LEFT_OUT: TracedNode = { evaluated: false, matched: null, short_circuit_reason: 'denied' };

/** Milliseconds to microseconds with three decimals, the resolution of clocks. */
const NANOSECONDS_PER_MS = 1_000_000;
const NANOSECONDS_PER_US = 1_000;

/**
 * Joins a condition with its trace, which has the same shape: children that were not evaluated have one too.
 * Without a trace the control was omitted from the verdict.
 */
export function explainCondition(
  condition: PreparedNode,
  trace: JsonObject | null,
  facts: NodeFacts,
): ConditionExplanation {
  return explainNode(condition, trace === null ? LEFT_OUT : (trace as TracedNode), facts);
}

function explainNode(node: PreparedNode, traced: TracedNode, facts: NodeFacts): ConditionExplanation {
  const { evaluated, matched, short_circuit_reason = null } = traced;
  if (node.kind !== 'leaf') {
    const inner = node.kind === 'not' ? [node.child] : node.children;
    const children = inner.map((child, index) =>
      explainNode(child, traced.children?.[index] ?? LEFT_OUT, facts),
    );
    return { type: node.kind, evaluated, matched, short_circuit_reason, children };
  }
  const { confidence = null, message = null, error = null } = traced;
  const duration = evaluated ? facts.durationOf(node) : null;
  return {
    type: 'leaf',
    evaluated,
    matched,
    short_circuit_reason,
    selector_path: node.path,
    evaluator_name: node.part.evaluatorName,
    confidence,
    message,
    error: error === null ? null : (facts.problem ?? error),
    duration_us: duration === null ? null : Math.round(duration * NANOSECONDS_PER_MS) / NANOSECONDS_PER_US,
    selected: facts.preview(node.path),
    expression_values: evaluated ? facts.valuesOf(node) : [],
    findings: evaluated ? facts.findingsOf(node) : [],
  };
}
