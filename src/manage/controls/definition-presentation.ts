import type { z } from 'zod';
import { type JsonObject, type JsonValue, parseStoredJson } from '../../../packages/exact-json/src/index.js';
import type { ErrorItem } from '../../contract/errors/service-error.js';
import { inputItems, withoutUndefined } from '../../contract/input/parse-input.js';
import type { EvaluatorRegistry } from '../../kernel/core/evaluator.js';
import type { Decision, Execution, Stage } from '../../kernel/core/types.js';
import type { TemplateValues } from '../templates/template.js';
import { type PresentedTemplate, presentTemplate } from '../templates/template-presentation.js';
import {
  type Action,
  type Approval,
  type Change,
  type Condition,
  type ControlDefinition,
  isDraft,
  type Leaf,
  type Scope,
  type StoredControl,
} from './definition/definition.js';
import { createStoredControlSchema, isStoredDraft } from './stored-control-schema.js';

/** A definition in printed form: every declared member, in order; null where unset. */
export type PresentedDefinition = {
  condition: PresentedCondition;
  description: string | null;
  enabled: boolean;
  execution: Execution;
  scope: {
    step_types: string[] | null;
    step_names: string[] | null;
    step_name_regex: string | null;
    stages: Stage[] | null;
  };
  action: {
    decision: Decision;
    steering_context: { message: string; required_actions: string[] | null } | null;
    metadata: JsonObject | null;
    /** Printed only where they are set, as deployed clients know no such members. */
    approval?: Approval;
    modify?: Change[];
  };
  tags: string[];
  /** Null unless the definition is made from a template. */
  template: PresentedTemplate | null;
  template_values: TemplateValues | null;
};

/** A draft in printed form: without the members of a definition, which it does not have yet. */
export type PresentedDraft = { template: PresentedTemplate; template_values: TemplateValues; enabled: false };

/** A control in printed form. */
export type PresentedControl = PresentedDefinition | PresentedDraft;

/** A node of a printed condition; the members of other forms are null. */
export type PresentedCondition = {
  /** `required` is printed only where it is set, as deployed clients know no such member. */
  selector: { path: string; required?: true } | null;
  evaluator: { name: string; config: JsonObject; metadata: JsonObject | null } | null;
  and: PresentedCondition[] | null;
  or: PresentedCondition[] | null;
  not: PresentedCondition | null;
};

/** Result of reading a stored control: the control, also in printed form, or its problems. */
export type StoredReading =
  | { readonly ok: true; readonly stored: StoredControl; readonly definition: PresentedControl }
  /** `draft`: it has a template and no condition. */
  | { readonly ok: false; readonly draft: boolean; readonly items: readonly ErrorItem[] };

/**
 * Parses the stored text of a control, with the checks of its creation: stored data may be damaged, or may
 * name an evaluator that has become stricter. The fields of the items are relative to the definition;
 * `withDataPrefix` makes them relative to the control.
 */
export function readStoredDefinition(text: string, registry: EvaluatorRegistry): StoredReading {
  let data: JsonValue;
  try {
    data = parseStoredJson(text);
  } catch {
    return {
      ok: false,
      draft: false,
      items: [{ resource: 'Control', code: 'corrupted_data', message: 'not JSON' }],
    };
  }
  const { value, items } = inputItems(schemaOf(registry), data);
  if (value !== undefined) return { ok: true, stored: value, definition: presentControl(value) };
  // A draft has no definition whose members could be reported.
  if (isStoredDraft(data)) return { ok: false, draft: true, items: [DAMAGED_DRAFT] };
  return { ok: false, draft: false, items: items.map((item) => ({ ...item, resource: 'Control' })) };
}

const DAMAGED_DRAFT: ErrorItem = {
  resource: 'Control',
  code: 'corrupted_data',
  message: 'the stored template cannot be read',
};

/** Creating a schema costs as much as reading a definition with it. */
const schemas = new WeakMap<EvaluatorRegistry, z.ZodType<StoredControl>>();

function schemaOf(registry: EvaluatorRegistry): z.ZodType<StoredControl> {
  const known = schemas.get(registry);
  if (known !== undefined) return known;
  const schema = createStoredControlSchema(registry);
  schemas.set(registry, schema);
  return schema;
}

/** The items of an unreadable definition with fields below `data`. */
export function withDataPrefix(items: readonly ErrorItem[]): ErrorItem[] {
  return items.map((item) => ({ ...item, field: item.field === undefined ? 'data' : `data.${item.field}` }));
}

/** Every declared member of a control, in order. */
export function presentControl(control: StoredControl): PresentedControl {
  if (!isDraft(control)) return presentDefinition(control);
  const { template, template_values, enabled } = control;
  return { template: presentTemplate(template), template_values, enabled };
}

/** Every declared member of a definition, in order, with defaults for unset ones. */
export function presentDefinition(definition: ControlDefinition): PresentedDefinition {
  return {
    condition: presentCondition(definition.condition),
    description: definition.description ?? null,
    enabled: definition.enabled,
    execution: definition.execution,
    scope: presentScope(definition.scope ?? {}),
    action: presentAction(definition.action),
    tags: definition.tags ?? [],
    ...presentOrigin(definition),
  };
}

function presentOrigin({
  template,
  template_values = {},
}: ControlDefinition): Pick<PresentedDefinition, 'template' | 'template_values'> {
  if (template === undefined) return { template: null, template_values: null };
  return { template: presentTemplate(template), template_values };
}

const NO_FORM = { selector: null, evaluator: null, and: null, or: null, not: null } as const;

function presentCondition(condition: Condition): PresentedCondition {
  if ('selector' in condition) return { ...NO_FORM, ...presentLeaf(condition) };
  if ('and' in condition) return { ...NO_FORM, and: condition.and.map(presentCondition) };
  if ('or' in condition) return { ...NO_FORM, or: condition.or.map(presentCondition) };
  return { ...NO_FORM, not: presentCondition(condition.not) };
}

function presentLeaf({ selector, evaluator }: Leaf): Pick<PresentedCondition, 'selector' | 'evaluator'> {
  const { name, config, metadata } = evaluator;
  return {
    selector: { path: selector.path ?? '*', ...withoutUndefined({ required: selector.required }) },
    evaluator: { name, config, metadata: metadata ?? null },
  };
}

function presentScope(scope: Scope): PresentedDefinition['scope'] {
  const { step_types = null, step_names = null, step_name_regex = null, stages = null } = scope;
  return { step_types, step_names, step_name_regex, stages };
}

/** Every declared member of an action, in order. */
export function presentAction({
  decision,
  steering_context,
  metadata,
  approval,
  modify,
}: Action): PresentedDefinition['action'] {
  const guidance = steering_context && {
    message: steering_context.message,
    required_actions: steering_context.required_actions ?? null,
  };
  return {
    decision,
    steering_context: guidance ?? null,
    metadata: metadata ?? null,
    ...withoutUndefined({ approval, modify }),
  };
}
