import { type ConditionNode, compileNot, compileSequence } from './condition.js';
import type { ControlLabel } from './decided-result.js';
import { failureText } from './failure.js';
import type { LeafTable } from './leaf-table.js';
import type { Outcome } from './outcome.js';
import type { PreparedControl, PreparedNode } from './prepared-control.js';
import type { CompiledScope } from './scope.js';
import type { TraceMaker } from './trace.js';

/** A failure as reported to the operator of the service; verdicts contain fixed texts only. */
export interface ControlFailure {
  readonly controlId: number;
  readonly controlName: string;
  readonly problem: string;
}

/** A control to be linked into a program. */
export interface LinkableControl {
  readonly id: number;
  readonly name: string;
  readonly prepared: PreparedControl;
}

/** A control that takes part in evaluation. */
export interface LinkedControl extends ControlLabel {
  readonly scope: CompiledScope;
  /** See `PreparedControl`. */
  readonly narrowed: CompiledScope | null;
  readonly condition: ConditionNode;
  /** Reports to the operator why it could not be evaluated. */
  readonly report: (problem: string) => void;
}

type PreparedLeaf = Extract<PreparedNode, { kind: 'leaf' }>;

/** Bytes of a linked control besides its leaves, cached texts included; and of each inner node. */
const CONTROL_BYTES = 1_100;
const NODE_BYTES = 300;

/** Links a control with the leaves of its program. Reports problems of its definition. */
export function linkControl(
  control: LinkableControl,
  leaves: LeafTable,
  traces: TraceMaker,
  onFailure: ((failure: ControlFailure) => void) | undefined,
): LinkedControl {
  const { id, name, prepared } = control;
  const { decision, steeringContext, scope, narrowed, condition, problems } = prepared;
  const report = (problem: string): void => {
    try {
      onFailure?.({ controlId: id, controlName: name, problem });
    } catch {
      // A failing report must not change a verdict, and there is no other channel to report it to.
    }
  };
  for (const problem of problems) report(problem);
  return {
    id,
    name,
    decision,
    steeringContext,
    scope,
    narrowed,
    condition: condition === null ? BROKEN : linkCondition(condition, leaves, traces),
    report,
  };
}

const BROKEN_OUTCOME: Outcome = {
  matched: false,
  confidence: 0,
  message: failureText(''),
  metadata: null,
  error: failureText(''),
};
const BROKEN: ConditionNode = { run: () => BROKEN_OUTCOME, skipped: () => ({}), leaf: null };

function linkCondition(node: PreparedNode, leaves: LeafTable, traces: TraceMaker): ConditionNode {
  switch (node.kind) {
    case 'leaf':
      return leaves.node(node);
    case 'not':
      return compileNot(linkCondition(node.child, leaves, traces), traces);
    default:
      return compileSequence(
        node.kind,
        node.children.map((child) => linkCondition(child, leaves, traces)),
        traces,
      );
  }
}

/** The leaves of a control, duplicates included. */
export function leavesOfControls({ prepared }: LinkableControl): PreparedLeaf[] {
  const leaves: PreparedLeaf[] = [];
  const visit = (node: PreparedNode): void => {
    if (node.kind === 'leaf') leaves.push(node);
    else if (node.kind === 'not') visit(node.child);
    else node.children.forEach(visit);
  };
  if (prepared.condition !== null) visit(prepared.condition);
  return leaves;
}

/** Estimated bytes of a linked control besides its leaves and parts shared between programs. */
export function linkedBytes({ name, prepared }: LinkableControl): number {
  const inner = (node: PreparedNode | null): number => {
    if (node === null || node.kind === 'leaf') return 0;
    const children = node.kind === 'not' ? [node.child] : node.children;
    return children.reduce((sum, child) => sum + inner(child), NODE_BYTES);
  };
  return CONTROL_BYTES + 2 * name.length + inner(prepared.condition);
}
