import type { JsonObject } from '../../../../packages/exact-json/src/index.js';
import type { Decision, Execution, Stage } from '../../../kernel/core/types.js';
import type { ControlTemplate, TemplateInput, TemplateValues } from '../../templates/template.js';

/**
 * A control definition as stored: the client's input, without nulls and unknown members, in the order in
 * which members are printed. Types instead of interfaces, so that a definition is JSON to the compiler.
 */
export type ControlDefinition = {
  condition: Condition;
  description?: string;
  enabled: boolean;
  execution: Execution;
  scope?: Scope;
  action: Action;
  tags?: string[];
  /** Source of the definition; present together with `template_values`. */
  template?: ControlTemplate;
  /** The values it was rendered with, defaults included. */
  template_values?: TemplateValues;
};

/** A control whose template has missing values. It has no definition, so it is never enabled. */
export type TemplateDraft = TemplateInput & { enabled: false; condition?: never };

/** A control as it is stored. */
export type StoredControl = ControlDefinition | TemplateDraft;

/** Whether a control is a template with missing values. */
export function isDraft(control: StoredControl): control is TemplateDraft {
  return control.condition === undefined;
}

/** A node of the condition tree. */
export type Condition = Leaf | { and: Condition[] } | { or: Condition[] } | { not: Condition };

/** A node that checks part of the step. */
export type Leaf = { selector: Selector; evaluator: EvaluatorRef };

/** The selected part of the step; the whole step without a path. `required`: a step without that part is an error. */
export type Selector = { path?: string; required?: true };

/** An evaluator by name, with its configuration. */
export type EvaluatorRef = { name: string; config: JsonObject; metadata?: JsonObject };

/** The steps to which a control applies. */
export type Scope = {
  step_types?: string[];
  step_names?: string[];
  step_name_regex?: string;
  stages?: Stage[];
};

/** Effect of a matching control. */
export type Action = {
  decision: Decision;
  steering_context?: { message: string; required_actions?: string[] };
  metadata?: JsonObject;
  /** Absent together with `modify` for a decision that is final. */
  approval?: Approval;
  modify?: Change[];
};

/** Who decides about the steps that a control denies; what is absent has a default. */
export type Approval = {
  approvers: string[];
  quorum?: number;
  expires_seconds?: number;
  bind?: 'step' | string[];
  reuse?: 'once' | 'session' | { seconds: number };
  question?: string;
  separate?: boolean;
};

/** A change of the steps that a control denies. */
export type Change =
  | { path: string; replace: 'matches' | 'value'; with: string }
  | { path: string; remove: true };

/** A leaf of a condition. */
export interface PlacedLeaf {
  readonly leaf: Leaf;
  /** Path of its node, for example `data.condition.and[0]`. */
  readonly path: string;
  /** Whether a match of the leaf favours a match of the condition: it is below an even number of `not`. */
  readonly positive: boolean;
}

/** The leaves of a condition from left to right. A draft has no condition, and so no leaves. */
export function* leavesOf(
  condition: Condition | undefined,
  path: string,
  positive = true,
): Generator<PlacedLeaf> {
  if (condition === undefined) return;
  if ('selector' in condition) yield { leaf: condition, path, positive };
  else if ('not' in condition) yield* leavesOf(condition.not, `${path}.not`, !positive);
  else {
    const [kind, children] =
      'and' in condition ? (['and', condition.and] as const) : (['or', condition.or] as const);
    for (const [index, child] of children.entries()) {
      yield* leavesOf(child, `${path}.${kind}[${index}]`, positive);
    }
  }
}

/** The names of all evaluators of a control, each once, in the order of the leaves. */
export function evaluatorNames({ condition }: StoredControl): string[] {
  const names = new Set<string>();
  for (const { leaf } of leavesOf(condition, '')) names.add(leaf.evaluator.name);
  return [...names];
}
