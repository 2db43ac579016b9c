import type { ConditionNode } from './condition.js';
import type { ControlLabel } from './decided-result.js';
import type { Evaluation } from './evaluation.js';
import { failureText, MISSING_DATA_TEXT } from './failure.js';
import type { MemoryRule } from './memory.js';
import type { MemoryLeaf } from './memory-rules.js';
import { ruleIdOf } from './memory-rules.js';
import type { Outcome } from './outcome.js';
import type { PreparedLeaf } from './prepared-control.js';
import { compileSelector } from './selector.js';
import type { LeafLabel, TraceMaker } from './trace.js';

/** Where there is no memory: in previews, and in clients. */
export const NEEDS_MEMORY_TEXT = 'The check needs the memory of the service, which is not there';

/** A check with memory as a node of its control. Its outcome is made where the step is decided with memory. */
export function compileMemoryLeaf(
  node: PreparedLeaf,
  rule: MemoryRule,
  control: Pick<ControlLabel, 'id' | 'name'>,
  traces: TraceMaker,
): { readonly condition: ConditionNode; readonly leaf: MemoryLeaf } {
  const label: LeafLabel = { path: node.path, evaluatorName: node.part.evaluatorName };
  const select = node.required ? compileSelector(node.path) : null;
  const leaf: MemoryLeaf = {
    rule,
    ruleId: ruleIdOf(rule, control.id),
    controlId: control.id,
    controlName: control.name,
    label,
    unmatched: { matched: false, confidence: 1, message: null, metadata: null, error: null, leaf: label },
    lacksData: (step) => select !== null && select(step) === null,
  };
  const outcomeIn = (evaluation: Evaluation): Outcome => {
    if (leaf.lacksData(evaluation.step)) return failedCheck(label, MISSING_DATA_TEXT);
    return evaluation.remembering?.outcomeOf(leaf) ?? failedCheck(label, NEEDS_MEMORY_TEXT);
  };
  const condition: ConditionNode = {
    leaf: label,
    run(evaluation) {
      const outcome = outcomeIn(evaluation);
      return evaluation.full ? { ...outcome, trace: traces.leaf(label, outcome) } : outcome;
    },
    skipped: (reason) => traces.skippedLeaf(label, reason),
  };
  return { condition, leaf };
}

/** A check that cannot be made, with its text for callers and, if it has to be found out, the cause for the operator. */
export function failedCheck(leaf: LeafLabel, error: string, problem?: string): Outcome {
  const told = problem === undefined ? {} : { problem: `evaluator ${leaf.evaluatorName}: ${problem}` };
  return { matched: false, confidence: 0, message: error, metadata: null, error, leaf, ...told };
}

/** The same for a failure whose cause only the operator may read. */
export function brokenCheck(leaf: LeafLabel, problem: string): Outcome {
  return failedCheck(leaf, failureText(problem), problem);
}
