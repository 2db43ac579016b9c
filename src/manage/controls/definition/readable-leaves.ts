import {
  isDeeperThan,
  isObject,
  type JsonObject,
  type JsonValue,
  MAX_JSON_DEPTH,
} from '../../../../packages/exact-json/src/index.js';
import { MAX_CONDITION_DEPTH, MAX_CONDITION_NODES } from '../../../kernel/core/condition-view.js';
import type { EvaluatorRef, PlacedLeaf } from './definition.js';
import { selectorSchema } from './definition-members.js';

/** The members of a node with further nodes, older names included. */
export const BRANCHES = ['and', 'and_', 'or', 'or_', 'not', 'not_'] as const;

/**
 * The leaves of a condition that may be invalid elsewhere, as far as they have an evaluator with a name and a
 * configuration; what else of them cannot be read is left out. Not below MAX_CONDITION_DEPTH levels.
 */
export function* readableLeaves(
  value: JsonValue | undefined,
  path: string,
  positive = true,
  depth = 1,
): Generator<PlacedLeaf> {
  if (!isObject(value) || depth > MAX_CONDITION_DEPTH) return;
  const evaluator = readableReference(member(value, 'evaluator'));
  if (evaluator !== undefined) {
    const selector = selectorSchema.safeParse(value.selector);
    yield { leaf: { selector: selector.data ?? {}, evaluator }, path, positive };
  }
  for (const name of BRANCHES) {
    const branch = member(value, name);
    const isNot = name.startsWith('not');
    if (!Array.isArray(branch))
      yield* readableLeaves(branch, `${path}.${name}`, positive !== isNot, depth + 1);
    else if (!isNot && branch.length <= MAX_CONDITION_NODES) {
      for (const [index, child] of branch.entries()) {
        yield* readableLeaves(child, `${path}.${name}[${index}]`, positive, depth + 1);
      }
    }
  }
}

/** Name and configuration of a reference to an evaluator, valid or not. */
export function readableReference(
  value: JsonValue | undefined,
): Pick<EvaluatorRef, 'name' | 'config'> | undefined {
  if (!isObject(value) || typeof value.name !== 'string' || !isObject(value.config)) return undefined;
  if (isDeeperThan(value.config, MAX_JSON_DEPTH)) return undefined;
  return { name: value.name.trim(), config: value.config };
}

/** An own member; undefined when it is absent or null, which are equivalent in a condition. */
export function member(node: JsonObject, name: string): JsonValue | undefined {
  return Object.hasOwn(node, name) ? (node[name] ?? undefined) : undefined;
}
