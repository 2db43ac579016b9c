import {
  type CompositeKind,
  type ConditionNode,
  childrenOf,
  isSamePath,
  isWithin,
  kindOf,
  type NodePath,
  newCheck,
  nodeAt,
  takesChild,
  withChildren,
  withNode,
} from './condition-tree.js';

/** A tree after an edit, and the node to select in it. */
export interface EditedTree {
  readonly root: ConditionNode;
  readonly path: NodePath;
}

/** An edit of the node at a path. Null if the node does not allow it. */
export type TreeEdit = (root: ConditionNode, path: NodePath) => EditedTree | null;

/** Adds a node below a composite, or beside a node that takes no further child. */
export function addNode(root: ConditionNode, path: NodePath, node: ConditionNode): EditedTree {
  const target = nodeAt(root, path);
  if (takesChild(target)) {
    const children = [...childrenOf(target), node];
    return {
      root: withNode(root, path, withChildren(target, children)),
      path: [...path, children.length - 1],
    };
  }
  const at = path.at(-1);
  const parentPath = path.slice(0, -1);
  if (at !== undefined && takesChild(nodeAt(root, parentPath)))
    return insertAt(root, parentPath, at + 1, node);
  return { root: replaced(root, path, { and: [target ?? null, node ?? null] }), path: [...path, 1] };
}

export function wrapNode(root: ConditionNode, path: NodePath, kind: CompositeKind): EditedTree {
  const node = nodeAt(root, path) ?? null;
  return { root: replaced(root, path, kind === 'not' ? { not: node } : { [kind]: [node] }), path };
}

/** Puts the children of a composite into its place. */
export const unwrapNode: TreeEdit = (root, path) => {
  const children = childrenOf(nodeAt(root, path));
  const [only] = children;
  if (children.length === 1) return { root: replaced(root, path, only), path };
  const at = path.at(-1);
  const parentPath = path.slice(0, -1);
  const parent = nodeAt(root, parentPath);
  if (children.length === 0 || at === undefined || kindOf(parent) === 'not') return null;
  const siblings = [...childrenOf(parent)];
  siblings.splice(at, 1, ...children);
  return { root: withNode(root, parentPath, withChildren(parent, siblings)), path };
};

/** Makes a composite a composite of another kind. NOT of several children is NOT around what there was. */
export function changeKind(root: ConditionNode, path: NodePath, kind: CompositeKind): EditedTree | null {
  const node = nodeAt(root, path);
  const before = kindOf(node);
  if (before === 'check' || before === 'unknown' || typeof node !== 'object' || node === null) return null;
  if (before === kind) return { root, path };
  const children = childrenOf(node);
  if (kind === 'not' && children.length > 1) return wrapNode(root, path, 'not');
  const members = Object.entries(node).map(([name, member]) =>
    name === before ? [kind, kind === 'not' ? (children[0] ?? null) : children] : [name, member],
  );
  return { root: withNode(root, path, Object.fromEntries(members)), path };
}

/** Removes a node. An incomplete check takes the place of the root. */
export const removeNode: TreeEdit = (root, path) => {
  const at = path.at(-1);
  if (at === undefined) return { root: newCheck(), path };
  const parentPath = path.slice(0, -1);
  const parent = nodeAt(root, parentPath);
  const rest = childrenOf(parent).filter((_, index) => index !== at);
  const selected = rest.length === 0 ? parentPath : [...parentPath, Math.min(at, rest.length - 1)];
  return { root: withNode(root, parentPath, withChildren(parent, rest)), path: selected };
};

export const duplicateNode: TreeEdit = (root, path) => {
  const copy = structuredClone(nodeAt(root, path));
  const at = path.at(-1);
  const parentPath = path.slice(0, -1);
  if (at !== undefined && kindOf(nodeAt(root, parentPath)) !== 'not') {
    return insertAt(root, parentPath, at + 1, copy);
  }
  return {
    root: replaced(root, path, { and: [nodeAt(root, path) ?? null, copy ?? null] }),
    path: [...path, 1],
  };
};

export const moveUp: TreeEdit = (root, path) => moveBy(root, path, -1);
export const moveDown: TreeEdit = (root, path) => moveBy(root, path, 1);

function moveBy(root: ConditionNode, path: NodePath, by: -1 | 1): EditedTree | null {
  const at = path.at(-1);
  if (at === undefined) return null;
  const parentPath = path.slice(0, -1);
  const to = at + by;
  if (to < 0 || to >= childrenOf(nodeAt(root, parentPath)).length) return null;
  return moveNode(root, path, parentPath, by === 1 ? to + 1 : to);
}

/** Moves a node behind the ancestor that is in the nearest list above its parent. */
export const moveOut: TreeEdit = (root, path) => {
  for (let depth = path.length - 1; depth > 0; depth -= 1) {
    const listPath = path.slice(0, depth - 1);
    const at = path[depth - 1];
    if (at !== undefined && takesChild(nodeAt(root, listPath))) return moveNode(root, path, listPath, at + 1);
  }
  return null;
};

/** Moves a node into the composite before it, or else into the one behind it. */
export const moveIn: TreeEdit = (root, path) => {
  const at = path.at(-1);
  if (at === undefined) return null;
  const parentPath = path.slice(0, -1);
  const siblings = childrenOf(nodeAt(root, parentPath));
  const before = siblings[at - 1];
  if (at > 0 && takesChild(before)) {
    return moveNode(root, path, [...parentPath, at - 1], childrenOf(before).length);
  }
  if (at + 1 < siblings.length && takesChild(siblings[at + 1])) {
    return moveNode(root, path, [...parentPath, at + 1], 0);
  }
  return null;
};

/**
 * Moves a node into a composite, before the child that has the given index now. Null if the composite is within the
 * node or takes no further child.
 */
export function moveNode(
  root: ConditionNode,
  from: NodePath,
  parentPath: NodePath,
  index: number,
): EditedTree | null {
  const at = from.at(-1);
  if (at === undefined || isWithin(parentPath, from)) return null;
  const oldParent = from.slice(0, -1);
  const node = nodeAt(root, from);
  const isSameList = isSamePath(oldParent, parentPath);
  if (!isSameList && !takesChild(nodeAt(root, parentPath))) return null;
  const without = removeNode(root, from);
  if (without === null) return null;
  const target = [...parentPath];
  const level = oldParent.length;
  const step = target[level];
  // Behind the removed node, indexes are lower by one.
  if (isWithin(parentPath, oldParent) && step !== undefined && step > at) target[level] = step - 1;
  return insertAt(without.root, target, isSameList && index > at ? index - 1 : index, node);
}

function insertAt(root: ConditionNode, parentPath: NodePath, at: number, node: ConditionNode): EditedTree {
  const parent = nodeAt(root, parentPath);
  const children = [...childrenOf(parent)];
  children.splice(at, 0, node);
  return { root: withNode(root, parentPath, withChildren(parent, children)), path: [...parentPath, at] };
}

/** Puts another node into a place, where `withNode` puts another state of the same node. */
function replaced(root: ConditionNode, path: NodePath, node: ConditionNode): ConditionNode {
  const at = path.at(-1);
  if (at === undefined) return node;
  const parentPath = path.slice(0, -1);
  const parent = nodeAt(root, parentPath);
  const children = childrenOf(parent).map((child, index) => (index === at ? node : child));
  return withNode(root, parentPath, withChildren(parent, children));
}
