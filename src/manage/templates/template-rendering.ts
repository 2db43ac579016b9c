import type { z } from 'zod';
import { isObject } from '../../../packages/exact-json/src/index.js';
import type { ErrorItem, ServiceError } from '../../contract/errors/service-error.js';
import { fieldPath } from '../../contract/input/items.js';
import { inputItems } from '../../contract/input/parse-input.js';
import { isSecretMember } from '../../contract/secrets/secret-names.js';
import { findAgentEvaluator } from './agent-evaluators.js';
import { type BoundDefinition, bindValues, boundSize, placeText } from './bindings.js';
import { type ControlTemplate, MAX_BOUND_SIZE, type TemplateInput, type TemplateValues } from './template.js';
import { templateItem, templateParameterInvalid, templateRenderError } from './template-errors.js';
import { checkTemplateStructure } from './template-structure.js';
import { resolveValues } from './template-values.js';

/** Result of rendering a template with given values. */
export type Rendering<Definition> =
  | {
      readonly complete: true;
      readonly definition: Definition;
      /** Given values and defaults. */
      readonly values: TemplateValues;
    }
  /** `missing` is the error to throw where all values are needed. */
  | { readonly complete: false; readonly missing: ServiceError };

/**
 * Renders a template to a definition. `schema` reads literal definitions; its issues are attributed to the
 * parameter that caused them. Throws a TEMPLATE_RENDER_ERROR or a TEMPLATE_PARAMETER_INVALID.
 */
export function renderTemplate<Definition>(
  input: TemplateInput,
  schema: z.ZodType<Definition>,
): Rendering<Definition> {
  const { template } = input;
  checkTemplateStructure(template);
  const { values, missing } = resolveValues(input);
  if (missing !== null) return { complete: false, missing };
  if (boundSize(template.definition_template, values) > MAX_BOUND_SIZE) {
    const message = `the values put in place have more than ${MAX_BOUND_SIZE} characters`;
    const item = templateItem(template, { code: 'rendered_definition_too_large', message });
    throw templateRenderError('The definition would be too large.', [item]);
  }
  const bound = bindValues(template.definition_template, values);
  if (!isObject(bound.definition)) {
    // The whole template is one binding, and no value is an object.
    const item = templateItem(template, { code: 'model_type', message: 'must be an object' });
    throw templateRenderError('The definition that the template gives is not valid.', [item]);
  }
  checkEvaluators(template, bound);
  const { value: definition, items } = inputItems(schema, bound.definition);
  if (definition === undefined) throw invalidDefinition(template, bound, items);
  return { complete: true, definition, values };
}

/** The structure checks have covered every name except those from values. */
function checkEvaluators(template: ControlTemplate, { definition, parameterAt }: BoundDefinition): void {
  const place = findAgentEvaluator(definition);
  const parameter = place === null ? undefined : parameterAt.get(fieldPath(place));
  if (place === null || parameter === undefined) return;
  const item = templateItem(template, {
    code: 'template_parameter_invalid',
    message: 'a template cannot use an evaluator of an agent',
    field: `template_values.${parameter}`,
    renderedField: placeText(place),
    parameter,
  });
  throw templateParameterInvalid('A value names an evaluator of an agent.', [item]);
}

function invalidDefinition(
  template: ControlTemplate,
  { parameterAt }: BoundDefinition,
  items: readonly ErrorItem[],
): ServiceError {
  // A rule over the whole definition has no field: it is not caused by one value.
  const culprits = items.map(({ field }) => (field === undefined ? undefined : parameterAt.get(field)));
  const mapped = items.map((item, index) => mappedItem(template, item, culprits[index]));
  const detail = 'The definition that the template gives is not valid.';
  return culprits.some((culprit) => culprit !== undefined)
    ? templateParameterInvalid(detail, mapped)
    : templateRenderError(detail, mapped);
}

function mappedItem(template: ControlTemplate, item: ErrorItem, parameter: string | undefined): ErrorItem {
  const { code, message, value, field, quotable = false } = item;
  const place =
    parameter === undefined
      ? { code, field }
      : { code: 'template_parameter_invalid', field: `template_values.${parameter}`, parameter };
  const shown = templateItem(template, { ...place, message, renderedField: field });
  if (value === undefined) return shown;
  // A value of another parameter may be secret, and bindings inside of configurations are not known here.
  return { ...shown, value, quotable: quotable && parameter !== undefined && !isSecretMember(parameter) };
}
