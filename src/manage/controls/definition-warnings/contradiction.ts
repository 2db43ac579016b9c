import type { EvaluatorRegistry } from '../../../kernel/core/evaluator.js';
import { areContradictory } from '../../../kernel/evaluators/cel/foregone.js';
import type { Condition, Leaf } from '../definition/definition.js';
import { Implications } from './implications.js';

/** Most parts of one condition that are compared with each other. */
const MAX_PARTS = 60;

/**
 * Whether no step satisfies all of some conditions, by their shapes: one demands what another one forbids, they demand other
 * types, names or stages, or the terms of their expressions contradict each other. True is certain, except for checks that
 * fail.
 */
export function contradict(conditions: readonly Condition[], registry: EvaluatorRegistry): boolean {
  const parts = conditions.flatMap(partsOf).slice(0, MAX_PARTS);
  const leaves = parts.filter((part): part is Leaf => 'selector' in part);
  return (
    demandOtherTexts(leaves, registry) || areExpressionsContradictory(leaves) || isDeniedPart(parts, registry)
  );
}

/** What a condition is if another one is not. */
export function opposite(condition: Condition): Condition {
  return 'not' in condition ? condition.not : { not: condition };
}

function partsOf(condition: Condition): readonly Condition[] {
  return 'and' in condition ? condition.and.flatMap(partsOf) : [condition];
}

/** Texts are compared without case, so that none is left out that satisfies both. */
function demandOtherTexts(leaves: readonly Leaf[], registry: EvaluatorRegistry): boolean {
  const allowed = new Map<string, ReadonlySet<string>>();
  for (const {
    selector,
    evaluator: { name, config },
  } of leaves) {
    const evaluator = registry.get(name);
    if (evaluator?.demands === undefined || !evaluator.configSchema.safeParse(config).success) continue;
    for (const { member, texts } of evaluator.demands(config, selector.path ?? '*')) {
      const own = new Set(texts.map((text) => text.toLowerCase()));
      const before = allowed.get(member);
      const both = before === undefined ? own : new Set([...own].filter((text) => before.has(text)));
      if (both.size === 0) return true;
      allowed.set(member, both);
    }
  }
  return false;
}

function areExpressionsContradictory(leaves: readonly Leaf[]): boolean {
  return areContradictory(
    leaves
      .filter(({ evaluator }) => evaluator.name === 'cel')
      .map(({ selector, evaluator }) => ({ config: evaluator.config, selectorPath: selector.path ?? '*' })),
  );
}

function isDeniedPart(parts: readonly Condition[], registry: EvaluatorRegistry): boolean {
  const denied = parts.flatMap((part) => ('not' in part ? [part.not] : []));
  if (denied.length === 0) return false;
  const implications = new Implications((leaf) => isSameBelowNot(leaf, registry));
  return denied.some((one) => parts.some((part) => implications.implies(part, one)));
}

/** Whether a check gives the same above and below a `not`: some search other texts of data there. */
function isSameBelowNot(
  { selector, evaluator: { name, config } }: Leaf,
  registry: EvaluatorRegistry,
): boolean {
  const evaluator = registry.get(name);
  if (evaluator === undefined || evaluator.remembers === true || evaluator.external === true) return false;
  if (!evaluator.configSchema.safeParse(config).success) return false;
  return (
    selector.path === 'name' || selector.path === 'type' || evaluator.compile(config).heedsNegation !== true
  );
}
