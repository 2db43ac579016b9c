import {
  type ConditionNode,
  childrenOf,
  kindOf,
  type NodeKind,
  type NodePath,
  nodeKey,
} from './condition-tree.js';
import { givenMember, isJsonObject, textOf } from './json.js';

/** A node as a row of the tree. */
export interface TreeRow {
  /** Identity of the row, also after the node is edited or moved. */
  readonly key: string;
  readonly path: NodePath;
  readonly node: ConditionNode;
  readonly kind: NodeKind;
  readonly level: number;
  /** Place among the siblings, from 1. */
  readonly position: number;
  readonly siblings: number;
  readonly children: number;
  readonly isOpen: boolean;
}

/** The nodes of a tree in the order of the rows, without those below closed nodes. */
export function treeRows(root: ConditionNode, closed: ReadonlySet<string>): readonly TreeRow[] {
  const rows: TreeRow[] = [];
  const walk = (node: ConditionNode, path: NodePath, position: number, siblings: number): void => {
    const children = childrenOf(node);
    const key = rowKey(node, path);
    const isOpen = !closed.has(key);
    rows.push({
      key,
      path,
      node,
      kind: kindOf(node),
      level: path.length + 1,
      position,
      siblings,
      children: children.length,
      isOpen,
    });
    if (!isOpen) return;
    for (const [index, child] of children.entries())
      walk(child, [...path, index], index + 1, children.length);
  };
  walk(root, [], 1, 1);
  return rows;
}

/** Identity of a node in the tree. Values that are no objects are identified by their place. */
export function rowKey(node: ConditionNode, path: NodePath): string {
  const key = nodeKey(node);
  return key === undefined ? `at ${path.join('.')}` : String(key);
}

const MAX_CONFIG_LENGTH = 80;

/** The parts of a check in short. */
export interface CheckSummary {
  readonly evaluator: string;
  readonly path: string;
  readonly config: string;
}

export function checkSummary(node: ConditionNode): CheckSummary {
  const evaluator = givenMember(node, 'evaluator');
  return {
    evaluator: textOf(givenMember(evaluator, 'name')).trim(),
    path: textOf(givenMember(givenMember(node, 'selector'), 'path')) || '*',
    config: configSummary(givenMember(evaluator, 'config')),
  };
}

function configSummary(config: ConditionNode): string {
  if (!isJsonObject(config)) return '';
  const texts: string[] = [];
  let length = 0;
  for (const value of Object.values(config)) {
    if (value === null || length > MAX_CONFIG_LENGTH) continue;
    const text = typeof value === 'string' ? value : JSON.stringify(value);
    texts.push(text);
    length += text.length;
  }
  return texts.join(' · ').slice(0, 2 * MAX_CONFIG_LENGTH);
}
