import { z } from 'zod';
import { isObject, type JsonValue } from '../../../packages/exact-json/src/index.js';
import { field, readWith, refuse } from '../../contract/input/fields.js';
import type { EvaluatorRegistry } from '../../kernel/core/evaluator.js';
import { installedEvaluators } from '../../kernel/evaluators/missing-evaluators.js';
import { storedTemplateSchema } from '../templates/template-schema.js';
import type { StoredControl } from './definition/definition.js';
import { createDefinitionSchema, isGiven } from './definition-schema.js';

/** Reads a stored control: a definition, one made from a template, or a draft. */
export function createStoredControlSchema(registry: EvaluatorRegistry): z.ZodType<StoredControl> {
  // What was stored can be read, whichever packages are installed now.
  const definitionSchema = createDefinitionSchema(installedEvaluators(registry));
  return field((value, sink) => {
    if (!isObject(value) || !isGiven(value, 'template')) {
      return readWith(definitionSchema, value, sink) ?? z.NEVER;
    }
    const made = readWith(storedTemplateSchema, value, sink);
    if (isStoredDraft(value)) {
      const { enabled } = value;
      // An enabled draft was not written by the service, whatever else it contains.
      if (enabled !== false) return refuse(sink, 'value_error', 'a draft is not enabled', value);
      return made === undefined ? z.NEVER : { ...made, enabled };
    }
    const { template: _template, template_values: _values, ...written } = value;
    const definition = readWith(definitionSchema, written, sink);
    return made === undefined || definition === undefined ? z.NEVER : { ...definition, ...made };
  });
}

/** Whether stored data are a draft: a template without a definition made from it. */
export function isStoredDraft(value: JsonValue): boolean {
  return isObject(value) && isGiven(value, 'template') && !isGiven(value, 'condition');
}
