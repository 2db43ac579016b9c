import type { JsonObject, JsonValue } from '../../../packages/exact-json/src/index.js';
import { ServiceError } from '../../../src/contract/errors/service-error.js';
import { inputItems } from '../../../src/contract/input/parse-input.js';
import { createDefinitionSchema } from '../../../src/manage/controls/definition-schema.js';
import { renderTemplate } from '../../../src/manage/templates/template-rendering.js';
import { templateInputOf, templateInputSchema } from '../../../src/manage/templates/template-schema.js';
import { serviceRegistry } from '../../support/evaluators.js';

const definitionSchema = createDefinitionSchema(serviceRegistry);

export const param = (name: string): JsonObject => ({ $param: name });

/** A definition template with a pattern, and more members. */
export const withPattern = (pattern: JsonValue, more: JsonObject = {}): JsonObject => ({
  execution: 'server',
  condition: { selector: { path: 'input' }, evaluator: { name: 'regex', config: { pattern } } },
  action: { decision: 'deny' },
  ...more,
});

/** Problems of the shape of a template with values, as `field code`. */
export function shapeProblems(input: JsonValue): string[] {
  return inputItems(templateInputSchema, input).items.map(({ field, code }) => `${field} ${code}`);
}

/** What rendering a template gives: the definition and values, or the error. */
export function render(template: JsonObject, values?: JsonObject) {
  const input = { template, ...(values === undefined ? {} : { template_values: values }) };
  const { value, items } = inputItems(templateInputSchema, input);
  if (value === undefined) throw new Error(`the shape is wrong: ${JSON.stringify(items)}`);
  return renderTemplate(templateInputOf(value), definitionSchema);
}

/** The error of rendering a template with incomplete or wrong values, or of a wrong template. */
export function renderError(template: JsonObject, values?: JsonObject) {
  let error: unknown;
  try {
    const rendering = render(template, values);
    error = rendering.complete ? undefined : rendering.missing;
  } catch (thrown) {
    error = thrown;
  }
  if (!(error instanceof ServiceError)) throw new Error('the template was rendered');
  const items = (error.options.items ?? []).map((item) => {
    const { field, code, parameter, parameterLabel, renderedField } = item;
    return { field, code, parameter, parameterLabel, renderedField };
  });
  return { code: error.code, items };
}
