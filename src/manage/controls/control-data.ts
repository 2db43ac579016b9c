import { z } from 'zod';
import { isObject, type JsonObject } from '../../../packages/exact-json/src/index.js';
import { field, readWith, refuse } from '../../contract/input/fields.js';
import type { EvaluatorRegistry } from '../../kernel/core/evaluator.js';
import type { TemplateInput } from '../templates/template.js';
import { templateInputOf, templateInputSchema } from '../templates/template-schema.js';
import type { ControlDefinition } from './definition/definition.js';
import { createDefinitionSchema, isGiven } from './definition-schema.js';

/** Data of a control sent by a client: a literal definition, or a template with values. */
export type ControlData = ControlDefinition | TemplateInput;

/** Whether the data are a template with values. */
export function isTemplateInput(data: ControlData): data is TemplateInput {
  return !('condition' in data);
}

/** Members of a definition, older shapes included, that are rejected next to a template, which makes them. */
const WRITTEN_MEMBERS = [
  'condition',
  'description',
  'enabled',
  'execution',
  'scope',
  'action',
  'tags',
  'selector',
  'evaluator',
];

/** Data for examples of the OpenAPI document: texts with the pattern are denied, in all steps or in those of `scope`. */
export function exampleData(pattern: string, scope?: JsonObject): JsonObject {
  return {
    execution: 'server',
    ...(scope === undefined ? {} : { scope }),
    condition: { selector: { path: 'input.text' }, evaluator: { name: 'regex', config: { pattern } } },
    action: { decision: 'deny' },
  };
}

/** Creates the schema of the data of a control. */
export function createControlDataSchema(registry: EvaluatorRegistry): z.ZodType<ControlData> {
  const definitionSchema = createDefinitionSchema(registry);
  return field((value, sink) => {
    if (!isObject(value) || !isGiven(value, 'template')) {
      return readWith(definitionSchema, value, sink) ?? z.NEVER;
    }
    if (WRITTEN_MEMBERS.some((name) => Object.hasOwn(value, name))) {
      const rule = 'cannot mix template fields with rendered control fields: the template makes those';
      return refuse(sink, 'value_error', rule, value);
    }
    const read = readWith(templateInputSchema, value, sink);
    return read === undefined ? z.NEVER : templateInputOf(read);
  });
}
