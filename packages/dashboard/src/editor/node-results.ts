import type { ConditionExplanation } from '../../../../gen/proto/enforcement/v1/evaluation_service_pb.js';
import type { NodePath } from './condition-tree.js';

/** What a tried step did at a node. */
export interface NodeResult {
  readonly state: 'true' | 'false' | 'skipped' | 'error';
  /** Why, in a sentence. Empty if the service says nothing about it. */
  readonly why: string;
}

/** Why a node was not evaluated. */
const SKIP_TEXTS: Readonly<Record<string, string>> = {
  and_failed: 'an earlier condition of AND did not match',
  or_matched: 'an earlier condition of OR matched',
  error: 'an earlier condition could not be evaluated',
  denied: 'another control had already denied the step',
};

/** The results of all nodes, by the text of their path. */
export type NodeResults = ReadonlyMap<string, NodeResult>;

export function pathText(path: NodePath): string {
  return path.join('.');
}

export function nodeResults(root: ConditionExplanation | undefined): NodeResults {
  const results = new Map<string, NodeResult>();
  const walk = (node: ConditionExplanation, path: NodePath): void => {
    results.set(pathText(path), resultOf(node));
    for (const [index, child] of node.children.entries()) walk(child, [...path, index]);
  };
  if (root !== undefined) walk(root, []);
  return results;
}

function resultOf(node: ConditionExplanation): NodeResult {
  const { error, evaluated, matched, message, shortCircuitReason } = node;
  if (error !== undefined) return { state: 'error', why: error };
  if (!evaluated) {
    return { state: 'skipped', why: SKIP_TEXTS[shortCircuitReason ?? ''] ?? shortCircuitReason ?? '' };
  }
  if (matched === undefined) return { state: 'error', why: 'a condition below could not be evaluated' };
  return { state: matched ? 'true' : 'false', why: message ?? '' };
}
