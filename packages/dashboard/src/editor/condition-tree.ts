import { givenMember, isJsonObject, type JsonObject, type JsonValue, objectWith } from './json.js';

/** A form of a composite node. */
export type CompositeKind = 'and' | 'or' | 'not';
/** The form of a node. `unknown` has no form, or several at the same time. */
export type NodeKind = CompositeKind | 'check' | 'unknown';

/** Indexes of children from the root down to a node. The child of NOT has the index 0. */
export type NodePath = readonly number[];

/** A node of a condition as it is in the draft, where it may be incomplete or misshapen. */
export type ConditionNode = JsonValue | undefined;

export const COMPOSITE_KINDS: readonly CompositeKind[] = ['and', 'or', 'not'];

export function kindOf(node: ConditionNode): NodeKind {
  if (node === null || node === undefined) return 'check';
  if (!isJsonObject(node)) return 'unknown';
  const composites = COMPOSITE_KINDS.filter((kind) => Object.hasOwn(node, kind));
  const isCheck = Object.hasOwn(node, 'selector') || Object.hasOwn(node, 'evaluator');
  const [kind] = composites;
  if (kind === undefined) return isCheck || Object.keys(node).length === 0 ? 'check' : 'unknown';
  if (isCheck || composites.length > 1) return 'unknown';
  return kind === 'not' || Array.isArray(node[kind]) ? kind : 'unknown';
}

export function childrenOf(node: ConditionNode): readonly ConditionNode[] {
  const kind = kindOf(node);
  if (kind === 'check' || kind === 'unknown') return [];
  const member = givenMember(node, kind);
  if (kind === 'not') return member === undefined ? [] : [member];
  return Array.isArray(member) ? member : [];
}

/** Whether a node can have one child more. */
export function takesChild(node: ConditionNode): boolean {
  const kind = kindOf(node);
  return kind === 'and' || kind === 'or' || (kind === 'not' && childrenOf(node).length === 0);
}

/** A composite with other children. Its other members are kept. */
export function withChildren(node: ConditionNode, children: readonly ConditionNode[]): JsonObject {
  const kind = kindOf(node) as CompositeKind;
  const members = children.map((child) => child ?? null);
  return sameNode(node, objectWith(node, kind, kind === 'not' ? (members[0] ?? null) : members));
}

/** The node at a path. Undefined if there is none. */
export function nodeAt(root: ConditionNode, path: NodePath): ConditionNode {
  let node = root;
  for (const index of path) node = childrenOf(node)[index];
  return node;
}

export function hasNode(root: ConditionNode, path: NodePath): boolean {
  const index = path.at(-1);
  return index === undefined || index < childrenOf(nodeAt(root, path.slice(0, -1))).length;
}

/** A copy of a tree with one node replaced. Nodes off the path stay the same objects. */
export function withNode(root: ConditionNode, path: NodePath, node: ConditionNode): ConditionNode {
  const [index, ...rest] = path;
  if (index === undefined) return sameNode(root, node);
  const children = [...childrenOf(root)];
  children[index] = withNode(children[index], rest, node);
  return withChildren(root, children);
}

export function isSamePath(one: NodePath, other: NodePath): boolean {
  return one.length === other.length && one.every((index, at) => index === other[at]);
}

/** Whether a path is that of a node or of one below it. */
export function isWithin(path: NodePath, ancestor: NodePath): boolean {
  return path.length >= ancestor.length && ancestor.every((index, at) => index === path[at]);
}

/** A node that checks nothing yet. */
export function newCheck(): JsonObject {
  return { selector: { path: '*' }, evaluator: { name: '', config: {} } };
}

export function newNode(kind: CompositeKind | 'check'): JsonObject {
  if (kind === 'check') return newCheck();
  return kind === 'not' ? { not: newCheck() } : { [kind]: [newCheck()] };
}

const keys = new WeakMap<object, number>();
let lastKey = 0;

/** A number that a node keeps while it is edited and moved. */
export function nodeKey(node: ConditionNode): number | undefined {
  if (typeof node !== 'object' || node === null) return undefined;
  const known = keys.get(node);
  if (known !== undefined) return known;
  lastKey += 1;
  keys.set(node, lastKey);
  return lastKey;
}

/** Marks an object as a new state of a node. */
function sameNode<T extends ConditionNode>(before: ConditionNode, after: T): T {
  const key = nodeKey(before);
  if (key !== undefined && typeof after === 'object' && after !== null && !keys.has(after)) {
    keys.set(after, key);
  }
  return after;
}

/** The value `next`, in which everything that is equal to `before` is the same object as there. */
export function reconciled<T extends JsonValue | undefined>(before: JsonValue | undefined, next: T): T {
  if (before === next || typeof next !== 'object' || next === null) return next;
  if (Array.isArray(next)) {
    const items = Array.isArray(before) ? before : [];
    const shared = next.map((item, index) => reconciled(items[index], item));
    const isEqual = items.length === shared.length && shared.every((item, index) => item === items[index]);
    return (isEqual ? items : shared) as T;
  }
  if (!isJsonObject(before)) return next;
  const names = Object.keys(next);
  const shared = Object.fromEntries(
    names.map((name) => [
      name,
      reconciled(Object.hasOwn(before, name) ? before[name] : undefined, next[name]),
    ]),
  );
  const known = Object.keys(before);
  const isEqual =
    known.length === names.length &&
    names.every((name, at) => known[at] === name && shared[name] === before[name]);
  return (isEqual ? before : sameNode(before, shared as JsonObject)) as T;
}
