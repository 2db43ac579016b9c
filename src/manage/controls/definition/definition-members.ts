import { z } from 'zod';
import { isObject } from '../../../../packages/exact-json/src/index.js';
import { compilePattern } from '../../../../packages/linear-text/src/index.js';
import {
  boolean,
  field,
  freeObject,
  jsonSchemaOf,
  list,
  nullable,
  oneOf,
  readWith,
  refuse,
  refuseTyped,
  text,
  withDefault,
} from '../../../contract/input/fields.js';
import { withoutUndefined } from '../../../contract/input/parse-input.js';
import { isSelectorPath, SELECTOR_PATH_PATTERN } from '../../../kernel/core/selector.js';
import { DECISIONS, EXECUTIONS, STAGES } from '../../../kernel/core/types.js';
import type { Action, ControlDefinition, EvaluatorRef, Scope, Selector } from './definition.js';
import { approvalSchema, changesSchema } from './lift-members.js';

/** An object with declared members. Inside a definition other values are a `model_type`. */
function model<T>(members: z.ZodType<T>): z.ZodType<T> {
  return field((value, sink) => {
    if (!isObject(value)) return refuse(sink, 'model_type', 'must be an object', value);
    return readWith(members, value, sink) ?? z.NEVER;
  }, jsonSchemaOf(members));
}

/** A restricting list: an empty one would be read as selecting either nothing or everything. */
function nonEmptyList<T extends string>(item: z.ZodType<T>): z.ZodType<T[]> {
  return list(item)
    .superRefine((items, sink) => {
      const refuseList = (message: string) => refuse(sink, 'value_error', message, items);
      if (items.length === 0) refuseList('must not be an empty list; leave it out to restrict nothing');
      else if (items.some((value) => value === '')) refuseList('must not hold an empty string');
    })
    .meta({ minItems: 1, items: { ...jsonSchemaOf(item), minLength: 1 } });
}

const pattern: z.ZodType<string> = text().superRefine((value, sink) => {
  try {
    compilePattern(value);
  } catch (error) {
    refuse(sink, 'value_error', error instanceof Error ? error.message : 'invalid pattern', value);
  }
});

/** Reads the scope of a control. */
export const scopeSchema: z.ZodType<Scope> = model(
  z
    .object({
      step_types: nullable(nonEmptyList(text())),
      step_names: nullable(nonEmptyList(text())),
      step_name_regex: nullable(pattern),
      stages: nullable(nonEmptyList(oneOf(STAGES))),
    })
    .transform(withoutUndefined),
);

const steeringContext = model(
  z
    .object({ message: text(), required_actions: nullable(list(text())) })
    .transform(({ message, required_actions }) => {
      return { message, ...withoutUndefined({ required_actions }) };
    }),
);

/** Reads the action of a matching control. */
export const actionSchema: z.ZodType<Action> = model(
  z
    .object({
      decision: oneOf(DECISIONS, 'value_error'),
      steering_context: nullable(steeringContext),
      metadata: nullable(freeObject()),
      approval: nullable(approvalSchema),
      modify: nullable(changesSchema),
    })
    .transform(({ decision, ...optional }) => ({ decision, ...withoutUndefined(optional) })),
);

/** The members of a definition besides its condition. */
export type DefinitionMembers = Omit<ControlDefinition, 'condition'>;

/** Reads the members of a definition besides its condition. */
export const definitionMembers: z.ZodType<DefinitionMembers> = z
  .object({
    description: nullable(text()),
    enabled: withDefault(boolean(), true),
    execution: oneOf(EXECUTIONS),
    scope: scopeSchema.optional(),
    action: actionSchema,
    tags: list(text()).optional(),
  })
  .transform(({ description, enabled, execution, scope, action, tags }) => ({
    ...withoutUndefined({ description }),
    enabled,
    execution,
    ...withoutUndefined({ scope }),
    action,
    ...withoutUndefined({ tags }),
  }));

/** Reads the path of a selector. */
export const selectorPath: z.ZodType<string> = text()
  .superRefine((value, sink) => {
    if (isSelectorPath(value)) return;
    const rule = 'must be "*" or start with input, output, name, type or context';
    refuseTyped(sink, 'value_error', value === '' ? `must not be an empty string; it ${rule}` : rule, value);
  })
  .meta({ pattern: SELECTOR_PATH_PATTERN });

/** Reads the selector of a leaf. */
export const selectorSchema: z.ZodType<Selector> = model(
  z
    .object({ path: nullable(selectorPath), required: nullable(boolean()) })
    .transform(({ path, required }) => ({
      ...withoutUndefined({ path }),
      // False is the default, and is not stored.
      ...(required === true ? { required } : {}),
    })),
);

/** Reads an evaluator reference; its configuration is not checked here. */
export const evaluatorRefSchema: z.ZodType<EvaluatorRef> = model(
  z
    .object({
      name: text({
        trim: true,
        min: 1,
        tooShort: 'value_error',
        tooShortMessage: 'must not be empty or whitespace-only',
      }),
      config: freeObject(),
      metadata: nullable(freeObject()),
    })
    .transform(({ name, config, metadata }) => ({ name, config, ...withoutUndefined({ metadata }) })),
);
