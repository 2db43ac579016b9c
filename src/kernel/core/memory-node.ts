import type { ConditionNode } from './condition.js';
import type { Evaluation } from './evaluation.js';
import type { MemoryLeaf } from './memory-rules.js';

/** The checks with memory of a condition, with the parts without memory that decide whether they are asked. */
export type MemoryNode =
  | { readonly kind: 'leaf'; readonly leaf: MemoryLeaf }
  | {
      readonly kind: 'and' | 'or';
      /** Children without any check with memory. They run before the others. */
      readonly stateless: readonly ConditionNode[];
      readonly children: readonly MemoryNode[];
    };

/** All checks with memory of a condition, in the order of the definition of each node. */
export function memoryLeaves(node: MemoryNode): MemoryLeaf[] {
  return node.kind === 'leaf' ? [node.leaf] : node.children.flatMap(memoryLeaves);
}

/**
 * The checks with memory that the parts of the condition without memory leave open: in `and` they are open if all others
 * match, in `or` if none does; a part that fails closes them. Returns a promise only if one of those parts does; each
 * of them runs once in an evaluation.
 */
export function openLeaves(node: MemoryNode, evaluation: Evaluation): MemoryLeaf[] | Promise<MemoryLeaf[]> {
  const open: MemoryLeaf[] = [];
  const waiting: Promise<unknown>[] = [];
  collectOpen(node, evaluation, waiting, open);
  if (waiting.length === 0) return open;
  // What was awaited has its outcome now; it may open parts that have not run yet.
  return Promise.all(waiting).then(() => openLeaves(node, evaluation));
}

function collectOpen(
  node: MemoryNode,
  evaluation: Evaluation,
  waiting: Promise<unknown>[],
  open: MemoryLeaf[],
): void {
  if (node.kind === 'leaf') {
    if (!node.leaf.lacksData(evaluation.step)) open.push(node.leaf);
    return;
  }
  for (const part of node.stateless) {
    const outcome = part.run(evaluation);
    if (outcome instanceof Promise) {
      waiting.push(outcome);
      return;
    }
    if (outcome.error !== null || outcome.matched === (node.kind === 'or')) return;
  }
  for (const child of node.children) collectOpen(child, evaluation, waiting, open);
}
