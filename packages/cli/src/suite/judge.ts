import type { VerdictOutcome } from '../../../../src/decide/decisions/evaluation-options.js';
import type { Decision, Stage, Step } from '../../../../src/kernel/core/types.js';
import type { ControlExplanation } from '../../../../src/observe/explain/explanation.js';
import type { JsonObject } from '../../../exact-json/src/index.js';
import type { Subject } from '../offline/documents.js';

/** A step of an agent, as the service is asked about it. */
export interface AskedStep {
  readonly step: Step;
  readonly stage: Stage;
  readonly sessionId: string | null;
  readonly stepId: string | null;
  /** Why it failed; null if it did not. */
  readonly error: string | null;
  /** What became of its approval, should it be asked for; null while it waits. */
  readonly approval: 'approved' | 'denied' | null;
}

/** A step before the one that is asked about. */
export interface EarlierStep extends AskedStep {
  /** Milliseconds since 1970. */
  readonly atMs: number;
  /** Whether it is only taken if the step before it, its own stage pre, was allowed. */
  readonly follows: boolean;
}

/** What the step is taken for, and the names of the controls that are bound to it. */
export interface SuiteTarget {
  readonly type: string;
  readonly id: string;
  readonly controls: readonly string[];
}

/** What a judge is asked. */
export interface Question extends AskedStep {
  /** Null: all controls of the documents concern the step. */
  readonly agent: Subject | null;
  readonly target: SuiteTarget | null;
  readonly accepts: readonly VerdictOutcome[];
  /** Milliseconds since 1970; null for the present. */
  readonly nowMs: number | null;
  /** By time ascending. */
  readonly history: readonly EarlierStep[];
}

/** What a control said. */
export interface JudgedControl {
  readonly name: string;
  readonly decision: Decision;
  readonly message: string | null;
  readonly steering: string | null;
}

/** How the condition of a control was evaluated: a node of a trace or of an explanation. */
export type TracedTree = {
  readonly evaluated: boolean;
  readonly matched: boolean | null;
  readonly error?: string | null;
  readonly children?: readonly TracedTree[];
};

/** The verdict about a step. */
export interface Judgement {
  readonly outcome: VerdictOutcome;
  readonly reason: string | null;
  readonly matches: readonly JudgedControl[];
  readonly errors: readonly JudgedControl[];
  /** The step that may run instead. */
  readonly modified: Step | null;
  /** By name of the control; those whose scope has the step. */
  readonly trees: readonly (readonly [name: string, tree: TracedTree])[];
  /** What happened to earlier steps otherwise than their author may think. */
  readonly notes: readonly string[];
}

/** Why a judge cannot answer, such as "a time of its own". */
export interface NotJudged {
  readonly needs: string;
}

/** Says what the service would: the service itself, or its core in this process. */
export interface Judge {
  readonly kind: 'offline' | 'server';
  judge(question: Question): Promise<Judgement | NotJudged>;
  /** Why; empty if the judge cannot say. */
  explain(question: Question): Promise<readonly ControlExplanation[]>;
}

/** The tree in the metadata of a result, if it has one. */
export function tracedTree(metadata: JsonObject | null): TracedTree | null {
  const tree = metadata?.condition_trace;
  return tree === undefined || tree === null ? null : (tree as unknown as TracedTree);
}
