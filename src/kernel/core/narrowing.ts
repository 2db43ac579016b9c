import type { RequiredStepText } from './evaluator.js';
import type { CompiledScope } from './scope.js';
import type { Stage } from './types.js';

/** A node of a condition, as far as narrowing reads it. */
type Node =
  | {
      readonly kind: 'leaf';
      readonly required: boolean;
      readonly part: { readonly compiled: { readonly requires?: readonly RequiredStepText[] } };
    }
  | { readonly kind: 'and' | 'or'; readonly children: readonly Node[] }
  | { readonly kind: 'not' };

/** Bytes of a narrowed scope, and of each of its texts. */
const SCOPE_BYTES = 300;
const TEXT_BYTES = 60;

/**
 * The scope without steps that the condition cannot match: those that the leaf which always runs first rules out by type,
 * name or stage. The condition would have no match and no error for them. Null when it rules out none.
 *
 * Other leaves rule out nothing: one that runs before them may fail, and an error is no result without a match. Neither do
 * leaves with `required`, which may fail themselves. A scope with a pattern is left as it is: that of some steps is unknown.
 */
export function narrowedScope(scope: CompiledScope, condition: Node): CompiledScope | null {
  const required = requiredBy(condition);
  if (required.length === 0 || scope.searchName !== null) return null;
  let { stages, stepTypes, stepNames } = scope;
  let sizeBytes = SCOPE_BYTES;
  for (const { member, texts } of required) {
    sizeBytes += texts.reduce((sum, text) => sum + TEXT_BYTES + 2 * text.length, 0);
    if (member === 'stage') stages = both(stages, texts as readonly Stage[]);
    else if (member === 'type') stepTypes = both(stepTypes, texts);
    else stepNames = both(stepNames, texts);
  }
  return { stages, stepTypes, stepNames, searchName: null, problem: scope.problem, sizeBytes };
}

const NONE: readonly RequiredStepText[] = [];

/** What the leaf requires that decides alone that the condition does not match. */
function requiredBy(node: Node): readonly RequiredStepText[] {
  if (node.kind === 'leaf') return node.required ? NONE : (node.part.compiled.requires ?? NONE);
  const first = node.kind === 'and' ? node.children[0] : undefined;
  return first === undefined ? NONE : requiredBy(first);
}

function both<T extends string>(allowed: ReadonlySet<T> | null, texts: readonly T[]): ReadonlySet<T> {
  return new Set(allowed === null ? texts : texts.filter((text) => allowed.has(text)));
}
