import { parseStoredJson } from '../../../packages/exact-json/src/index.js';
import type { ConditionView, LeafView } from '../../kernel/core/condition-view.js';
import { readDefinition } from '../../kernel/core/definition-view.js';
import type { EvaluatorRegistry } from '../../kernel/core/evaluator.js';
import type { MemoryRule } from '../../kernel/core/memory.js';
import { ruleIdOf } from '../../kernel/core/memory-rules.js';
import type { ControlRow } from '../controls/control-store.js';

/** A check with memory of a stored control. */
export interface ControlRule {
  readonly controlId: number;
  readonly controlName: string;
  readonly evaluatorName: string;
  readonly ruleId: string;
  readonly rule: MemoryRule;
}

/** The checks with memory of a control, each once, whether or not it is enabled; none of a damaged definition. */
export function rulesOf(
  { id, name, data }: Pick<ControlRow, 'id' | 'name' | 'data'>,
  registry: EvaluatorRegistry,
): ControlRule[] {
  const reading = readDefinition(parsed(data));
  if (!reading.intact) return [];
  const rules = new Map<string, ControlRule>();
  for (const { evaluatorName, config } of leavesOf(reading.view.condition)) {
    const rule = ruleOf(evaluatorName, config, registry);
    if (rule === undefined) continue;
    const ruleId = ruleIdOf(rule, id);
    rules.set(ruleId, { controlId: id, controlName: name, evaluatorName, ruleId, rule });
  }
  return [...rules.values()];
}

/** Undefined for any other evaluator, and for a configuration that it no longer accepts. */
function ruleOf(
  evaluatorName: string,
  config: LeafView['config'],
  registry: EvaluatorRegistry,
): MemoryRule | undefined {
  const evaluator = registry.get(evaluatorName);
  if (evaluator?.remembers !== true) return undefined;
  try {
    return evaluator.compile(config).memory;
  } catch {
    return undefined;
  }
}

function leavesOf(node: ConditionView): LeafView[] {
  if (node.kind === 'leaf') return [node];
  return node.kind === 'not' ? leavesOf(node.child) : node.children.flatMap(leavesOf);
}

function parsed(text: string) {
  try {
    return parseStoredJson(text);
  } catch {
    return null;
  }
}
