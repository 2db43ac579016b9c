import { isObject, type JsonObject, type JsonValue } from '../../../packages/exact-json/src/index.js';
import { isSelectorPath } from './selector.js';
import {
  check,
  flagIn,
  listIn,
  objectIn,
  objectOf,
  optionalTextIn,
  strictMember,
  textIn,
} from './strict-reader.js';

/** Deepest condition tree: a leaf counts 1, each composite above it 1 more. Part of the REST contract. */
export const MAX_CONDITION_DEPTH = 12;

/** Most nodes of one condition tree: more indicates a generated tree, not a hand-written rule. */
export const MAX_CONDITION_NODES = 2_000;

/**
 * Most compiled instructions of all patterns of one condition, as estimated from their text: compiling them
 * takes some 30 ms and blocks the thread.
 */
export const MAX_CONDITION_COMPILE_COST = 120_000;

/** A leaf: an evaluator applied to the data of a selector. */
export interface LeafView {
  readonly kind: 'leaf';
  readonly path: string;
  /** Whether a step without data at the path is an error of the leaf. */
  readonly required: boolean;
  readonly evaluatorName: string;
  readonly config: JsonObject;
}

/** A node of a condition tree. */
export type ConditionView =
  | LeafView
  | { readonly kind: 'and' | 'or'; readonly children: readonly ConditionView[] }
  | { readonly kind: 'not'; readonly child: ConditionView };

/**
 * Reads the condition of a stored definition, or the older form with selector and evaluator at the top.
 * Throws unless it is exactly one well-formed tree.
 */
export function viewCondition(definition: JsonObject): ConditionView {
  const stored = present(definition, 'condition');
  const isOld = present(definition, 'selector') !== null || present(definition, 'evaluator') !== null;
  check(stored === null || !isOld, 'condition stands beside selector or evaluator');
  let nodes = 0;

  const readNode = (value: JsonValue, depth: number): ConditionView => {
    check(depth <= MAX_CONDITION_DEPTH, 'the condition is too deep');
    nodes += 1;
    check(nodes <= MAX_CONDITION_NODES, 'the condition has too many nodes');
    const node = objectOf(value, 'a condition');
    const isLeaf = present(node, 'selector') !== null || present(node, 'evaluator') !== null;
    const composites = COMPOSITES.filter(({ name }) => present(node, name) !== null);
    const [composite, ...others] = composites;
    check(others.length === 0 && isLeaf === (composite === undefined), 'a condition is not of one kind');
    if (composite === undefined) return readLeaf(node);
    const { name, kind } = composite;
    if (kind === 'not') return { kind, child: readNode(objectIn(node, name), depth + 1) };
    const children = listIn(node, name);
    check(children.length > 0, `${kind} has no children`);
    return { kind, children: children.map((child) => readNode(child, depth + 1)) };
  };
  return readNode(isOld ? leafMembers(definition) : stored, 1);
}

/** Names ending in an underscore are accepted on input, so they may be stored. */
const COMPOSITES = [
  { name: 'and', kind: 'and' },
  { name: 'and_', kind: 'and' },
  { name: 'or', kind: 'or' },
  { name: 'or_', kind: 'or' },
  { name: 'not', kind: 'not' },
  { name: 'not_', kind: 'not' },
] as const;

function present(data: JsonObject, name: string): JsonValue {
  return strictMember(data, name) ?? null;
}

function leafMembers(definition: JsonObject): JsonObject {
  return { selector: present(definition, 'selector'), evaluator: present(definition, 'evaluator') };
}

function readLeaf(node: JsonObject): LeafView {
  const selector = objectIn(node, 'selector');
  const path = optionalTextIn(selector, 'path') ?? '*';
  check(isSelectorPath(path), 'a selector path has an unknown root');
  const evaluator = objectIn(node, 'evaluator');
  const evaluatorName = textIn(evaluator, 'name').trim();
  check(evaluatorName !== '', 'an evaluator has no name');
  const metadata = present(evaluator, 'metadata');
  check(metadata === null || isObject(metadata), 'evaluator.metadata is not an object');
  return {
    kind: 'leaf',
    path,
    required: flagIn(selector, 'required'),
    evaluatorName,
    config: objectIn(evaluator, 'config'),
  };
}
