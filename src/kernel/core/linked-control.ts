import { type ConditionNode, compileNot, compileSequence } from './condition.js';
import type { ControlLabel } from './decided-result.js';
import { failureText } from './failure.js';
import type { LeafTable } from './leaf-table.js';
import type { PreparedLift } from './lift.js';
import { compileMemoryLeaf } from './memory-leaf.js';
import type { MemoryNode } from './memory-node.js';
import type { Outcome } from './outcome.js';
import type { PreparedControl, PreparedLeaf, PreparedNode } from './prepared-control.js';
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
  /** The checks with memory of the condition; null without any. */
  readonly memory: MemoryNode | null;
  /** See `PreparedControl`. */
  readonly lift: PreparedLift | null;
  /** Reports to the operator why it could not be evaluated. */
  readonly report: (problem: string) => void;
}

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
  const { decision, steeringContext, scope, narrowed, condition, lift, problems } = prepared;
  const report = (problem: string): void => {
    try {
      onFailure?.({ controlId: id, controlName: name, problem });
    } catch {
      // A failing report must not change a verdict, and there is no other channel to report it to.
    }
  };
  for (const problem of problems) report(problem);
  const link = { leaves, traces, control: { id, name } };
  const linked = condition === null ? { condition: BROKEN, memory: null } : linkCondition(condition, link);
  return {
    id,
    name,
    decision,
    steeringContext,
    scope,
    narrowed,
    ...linked,
    lift,
    report,
  };
}

/** Whether an outcome of a control denies a step for good, so that external checks are superfluous. */
export function deniesForGood({ decision, lift }: LinkedControl, { matched }: Outcome): boolean {
  return matched && decision === 'deny' && lift === null;
}

const BROKEN_OUTCOME: Outcome = {
  matched: false,
  confidence: 0,
  message: failureText(''),
  metadata: null,
  error: failureText(''),
};
const BROKEN: ConditionNode = { run: () => BROKEN_OUTCOME, skipped: () => ({}), leaf: null };

interface Link {
  readonly leaves: LeafTable;
  readonly traces: TraceMaker;
  readonly control: Pick<ControlLabel, 'id' | 'name'>;
}

type LinkedNode = Pick<LinkedControl, 'condition' | 'memory'>;

function linkCondition(node: PreparedNode, link: Link): LinkedNode {
  switch (node.kind) {
    case 'leaf': {
      const { memory: rule } = node.part.compiled;
      if (rule === undefined) return { condition: link.leaves.node(node), memory: null };
      const { condition, leaf } = compileMemoryLeaf(node, rule, link.control, link.traces);
      return { condition, memory: { kind: 'leaf', leaf } };
    }
    case 'not': {
      const { condition, memory } = linkCondition(node.child, link);
      return { condition: compileNot(condition, link.traces), memory };
    }
    default: {
      const children = node.children.map((child) => linkCondition(child, link));
      return linkSequence(node.kind, children, link.traces);
    }
  }
}

/** Children without memory run first, because they decide whether the others are asked. */
function linkSequence(kind: 'and' | 'or', children: readonly LinkedNode[], traces: TraceMaker): LinkedNode {
  const remembering = children.flatMap(({ memory }) => memory ?? []);
  const conditions = children.map(({ condition }) => condition);
  if (remembering.length === 0) return { condition: compileSequence(kind, conditions, traces), memory: null };
  const stateless = children.filter(({ memory }) => memory === null);
  const ordered = [...stateless, ...children.filter(({ memory }) => memory !== null)];
  const places = ordered.map((child) => children.indexOf(child));
  const inOrder = ordered.map(({ condition }) => condition);
  const memory: MemoryNode = {
    kind,
    stateless: stateless.map(({ condition }) => condition),
    children: remembering,
  };
  return { condition: compileSequence(kind, inOrder, traces, places), memory };
}

/** The leaves of a control, duplicates included. */
export function leavesOfControls({ prepared }: Pick<LinkableControl, 'prepared'>): PreparedLeaf[] {
  const leaves: PreparedLeaf[] = [];
  const visit = (node: PreparedNode): void => {
    if (node.kind === 'leaf') leaves.push(node);
    else if (node.kind === 'not') visit(node.child);
    else node.children.forEach(visit);
  };
  if (prepared.condition !== null) visit(prepared.condition);
  return leaves;
}

/** The leaves of a control whose match favours its match: those below an even number of `not`. */
export function positiveLeaves({ prepared }: Pick<LinkableControl, 'prepared'>): PreparedLeaf[] {
  const leaves: PreparedLeaf[] = [];
  const visit = (node: PreparedNode, isPositive: boolean): void => {
    if (node.kind === 'not') visit(node.child, !isPositive);
    else if (node.kind !== 'leaf') for (const child of node.children) visit(child, isPositive);
    else if (isPositive) leaves.push(node);
  };
  if (prepared.condition !== null) visit(prepared.condition, true);
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
