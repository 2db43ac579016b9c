import type { JsonValue } from '../../../packages/exact-json/src/index.js';
import type { ControlTemplate, TemplateParameter } from './template.js';

/** A template in printed form: every declared member, null where unset. */
export type PresentedTemplate = {
  description: string | null;
  parameters: { [name: string]: PresentedParameter };
  definition_template: JsonValue;
};

/** A parameter in printed form: only with the members of its type. */
export type PresentedParameter = { [member: string]: JsonValue };

/** Every declared member of a template, in order. */
export function presentTemplate(template: ControlTemplate): PresentedTemplate {
  const parameters = Object.entries(template.parameters).map(
    ([name, parameter]): [string, PresentedParameter] => [name, presentParameter(parameter)],
  );
  return {
    description: template.description ?? null,
    parameters: Object.fromEntries(parameters),
    definition_template: template.definition_template,
  };
}

function presentParameter(parameter: TemplateParameter): PresentedParameter {
  const { label, description = null, required, ui_hint = null, type } = parameter;
  return { label, description, required, ui_hint, type, ...membersOfType(parameter) };
}

function membersOfType(parameter: TemplateParameter): PresentedParameter {
  const { default: value = null } = parameter;
  switch (parameter.type) {
    case 'enum':
      return { allowed_values: parameter.allowed_values, default: value };
    case 'boolean':
      return { default: value };
    default:
      return { default: value, placeholder: parameter.placeholder ?? null };
  }
}
