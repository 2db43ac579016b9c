import { childrenOf, type Node } from './ast.js';
import { MAX_WORK } from './limits.js';

/** Calls whose results may be larger than what they are given, or that compare all items with all. */
const GROWING: ReadonlySet<string> = new Set([
  'map',
  'transformList',
  'transformMap',
  '_+_',
  'replace',
  'join',
  'distinct',
  'sort',
  'flatten',
  'lists.range',
  'matches',
]);
/** Work of an operation besides that of the texts and items it reads: an address or a time zone. */
const WORK_PER_NODE = 300;
/** Work for a character or a value that an operation reads, at most: that of listing and finding a member. */
const WORK_PER_VALUE = 12;

/**
 * The most work that an evaluation takes on a step whose texts and items have a size, see `CompiledExpression.workBound`:
 * nodes × (300 + 12 × size), times (1 + size) for each level of macros.
 */
export function workBound(tree: Node, nodes: number, size: number): number {
  const isGrowing = (node: Node): boolean =>
    node.kind === 'bind' ||
    (node.kind === 'macro' && GROWING.has(node.macro)) ||
    (node.kind === 'call' &&
      (GROWING.has(node.name) || node.name.startsWith('sets.') || node.name.startsWith('get'))) ||
    childrenOf(node).some(isGrowing);
  if (isGrowing(tree)) return MAX_WORK;
  return Math.min(nodes * (WORK_PER_NODE + WORK_PER_VALUE * size) * (1 + size) ** macroDepth(tree), MAX_WORK);
}

function macroDepth(node: Node): number {
  const inner = Math.max(0, ...childrenOf(node).map(macroDepth));
  return node.kind === 'macro' ? 1 + inner : inner;
}
