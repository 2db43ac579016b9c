import { type ConditionNode, nodeAt } from './condition-tree.js';
import type { PlacedProblem } from './problem-place.js';
import { rowKey } from './tree-rows.js';

/** Problems by what they are of. */
export interface ProblemIndex {
  readonly all: readonly PlacedProblem[];
  readonly control: readonly PlacedProblem[];
  /** By the keys of the rows. */
  readonly nodes: ReadonlyMap<string, readonly PlacedProblem[]>;
}

/** What is wrong with something, at worst. */
export type ProblemMark = 'error' | 'warning' | null;

/**
 * Sorts the problems of a condition. They are found by the identity of nodes, so that they stay at their nodes while
 * the tree is edited, until it is checked again.
 */
export function problemIndex(checkedRoot: ConditionNode, all: readonly PlacedProblem[]): ProblemIndex {
  const control: PlacedProblem[] = [];
  const nodes = new Map<string, PlacedProblem[]>();
  for (const problem of all) {
    const { node } = problem.place;
    if (node === null) {
      control.push(problem);
      continue;
    }
    const key = rowKey(nodeAt(checkedRoot, node), node);
    const list = nodes.get(key);
    if (list === undefined) nodes.set(key, [problem]);
    else list.push(problem);
  }
  return { all, control, nodes };
}

export function markOf(problems: readonly PlacedProblem[] | undefined): ProblemMark {
  if (problems === undefined || problems.length === 0) return null;
  return problems.some(({ severity }) => severity === 'error') ? 'error' : 'warning';
}
