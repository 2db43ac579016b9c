import type { DemandedTexts, EvaluatorRegistry } from '../../../kernel/core/evaluator.js';
import type { Condition, ControlDefinition, Leaf, Scope } from '../definition/definition.js';
import { contradict, opposite } from './contradiction.js';

/** What a condition gives for every step of the scope: whether it matches; null if that depends on the step. */
export type Foregone = boolean | null;

/** Members of a step that every step has. */
const ALWAYS_THERE = new Set(['*', 'name', 'type', 'input']);

/**
 * What the condition of a control gives, as far as its configurations and its scope decide it. A result that is known is
 * certain, except for texts without a character and for checks that fail.
 */
export function foregoneResult(
  { condition, scope = {} }: Pick<ControlDefinition, 'condition' | 'scope'>,
  registry: EvaluatorRegistry,
): Foregone {
  return ofNode(condition);

  function ofNode(node: Condition): Foregone {
    if ('selector' in node) return ofLeaf(node, scope, registry);
    if ('not' in node) {
      const inner = ofNode(node.not);
      return inner === null ? null : !inner;
    }
    const isOr = 'or' in node;
    const children = (isOr ? node.or : node.and).map(ofNode);
    if (children.includes(isOr)) return isOr;
    if (children.every((one) => one === !isOr)) return !isOr;
    // An "or" of which one part holds at any rate is one whose parts cannot all fail.
    return contradict(isOr ? node.or.map(opposite) : node.and, registry) ? isOr : null;
  }
}

function ofLeaf(
  { selector, evaluator: { name, config } }: Leaf,
  scope: Scope,
  registry: EvaluatorRegistry,
): Foregone {
  const evaluator = registry.get(name);
  if (evaluator === undefined || !evaluator.configSchema.safeParse(config).success) return null;
  const path = selector.path ?? '*';
  const demands = evaluator.demands?.(config, path) ?? [];
  if (demands.some((demand) => !isInScope(demand, scope))) return false;
  if (demands.some((demand) => demand.isEnough === true && isWholeScope(demand, scope))) return true;
  const foregone = evaluator.foregone?.(config, path) ?? null;
  if (foregone === null) return null;
  if (isNeverThere(path, scope)) return selector.required === true ? null : foregone.absent;
  if (ALWAYS_THERE.has(path)) return foregone.data;
  return foregone.data === foregone.absent ? foregone.data : null;
}

function isNeverThere(path: string, { stages = [] }: Scope): boolean {
  const [root = '', ...keys] = path.split('.');
  if (root === 'output') return stages.length > 0 && !stages.includes('post');
  return keys.length > 0 && (root === '*' || root === 'name' || root === 'type');
}

/** Whether some step of the scope has one of the texts. */
function isInScope({ member, texts, ignoresCase }: DemandedTexts, scope: Scope): boolean {
  const allowed = textsOf(member, scope);
  if (allowed === null) return true;
  const form = (text: string): string => (ignoresCase ? text.toLowerCase() : text);
  const known = new Set(allowed.map(form));
  return texts.some((text) => known.has(form(text)));
}

/** Whether each step of the scope has one of the texts. */
function isWholeScope({ member, texts }: DemandedTexts, scope: Scope): boolean {
  const allowed = textsOf(member, scope);
  const known = new Set(texts);
  return allowed?.every((text) => known.has(text)) === true;
}

/** The texts that a scope allows for a member; null for any. */
function textsOf(member: DemandedTexts['member'], scope: Scope): readonly string[] | null {
  const { step_types = [], step_names = [], step_name_regex = '', stages = [] } = scope;
  if (member === 'stage') return stages.length > 0 ? stages : null;
  if (member === 'type') return step_types.length > 0 ? step_types : null;
  return step_names.length > 0 && step_name_regex === '' ? step_names : null;
}
