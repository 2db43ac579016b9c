import type { ConditionExplanation } from '@gen/enforcement/v1/evaluation_service_pb.js';
import { skipText } from '../control-parts/skip-text.js';
import { type ConditionNode, childrenOf, type NodePath } from './condition-tree.js';
import { rowKey } from './tree-rows.js';

/** What a tried step did at a node. */
export interface NodeResult {
  readonly state: 'true' | 'false' | 'skipped' | 'error';
  /** Why, in a few words. Empty if the service says nothing about it. */
  readonly why: string;
}

/** The results of the nodes of a tree, by the keys of their rows. */
export type NodeResults = ReadonlyMap<string, NodeResult>;

export const NO_RESULTS: NodeResults = new Map();

/** Brings the explanation of a condition to the nodes that it was made for. */
export function nodeResults(root: ConditionNode, explained: ConditionExplanation | undefined): NodeResults {
  const results = new Map<string, NodeResult>();
  const walk = (node: ConditionNode, path: NodePath, explanation: ConditionExplanation): void => {
    results.set(rowKey(node, path), resultOf(explanation));
    for (const [index, child] of childrenOf(node).entries()) {
      const below = explanation.children[index];
      if (below !== undefined) walk(child, [...path, index], below);
    }
  };
  if (explained !== undefined) walk(root, [], explained);
  return results;
}

function resultOf({
  error,
  evaluated,
  matched,
  message,
  shortCircuitReason,
}: ConditionExplanation): NodeResult {
  if (error !== undefined) return { state: 'error', why: error };
  if (!evaluated) {
    return { state: 'skipped', why: skipText(shortCircuitReason ?? '') };
  }
  if (matched === undefined) return { state: 'error', why: 'A condition below could not be evaluated.' };
  return { state: matched ? 'true' : 'false', why: message ?? '' };
}
