import { quoted } from '../../contract/errors/quoted.js';
import type { EvaluatorRegistry } from '../../kernel/core/evaluator.js';
import { readAgentScopedName } from '../../manage/controls/definition/agent-scoped-name.js';
import { isDraft, leavesOf, type StoredControl } from '../../manage/controls/definition/definition.js';

/** Why the service cannot run an evaluator, so that each of its checks ends in an error; undefined if it can. */
export function evaluatorGap(name: string, registry: EvaluatorRegistry): string | undefined {
  const evaluator = registry.get(name);
  if (evaluator !== undefined) return evaluator.unavailable;
  const scoped = readAgentScopedName(name);
  return scoped === undefined
    ? `the service has no evaluator ${quoted(name)}`
    : `${quoted(name)} is an evaluator of the agent ${quoted(scoped.agentName)}, which only its client has`;
}

/** The same for the first such evaluator of a control. A draft, and a control that clients evaluate, has none. */
export function controlGap(control: StoredControl, registry: EvaluatorRegistry): string | undefined {
  if (isDraft(control) || control.execution !== 'server') return undefined;
  for (const { leaf } of leavesOf(control.condition, '')) {
    const gap = evaluatorGap(leaf.evaluator.name, registry);
    if (gap !== undefined) return gap;
  }
  return undefined;
}
