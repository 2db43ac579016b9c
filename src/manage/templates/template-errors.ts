import { type ErrorItem, ServiceError } from '../../contract/errors/service-error.js';
import type { ControlTemplate } from './template.js';

/** A problem of a template or its values. */
export interface TemplateProblem {
  readonly code: string;
  readonly message: string;
  readonly field?: string | undefined;
  /** Path inside the rendered definition; empty for the whole. */
  readonly renderedField?: string | undefined;
  readonly parameter?: string | undefined;
}

/** The item of a problem, with the label of the parameter that caused it. */
export function templateItem(template: ControlTemplate, problem: TemplateProblem): ErrorItem {
  const { code, message, field, renderedField, parameter } = problem;
  const label =
    parameter !== undefined && Object.hasOwn(template.parameters, parameter)
      ? template.parameters[parameter]?.label
      : undefined;
  return {
    resource: 'Control',
    ...(field === undefined || field === '' ? {} : { field }),
    code,
    message,
    ...(parameter === undefined ? {} : { parameter }),
    ...(label === undefined ? {} : { parameterLabel: label }),
    ...(renderedField === undefined || renderedField === '' ? {} : { renderedField }),
  };
}

/** The template cannot be rendered with any values. */
export function templateRenderError(detail: string, items: readonly ErrorItem[]): ServiceError {
  return new ServiceError('TEMPLATE_RENDER_ERROR', {
    detail,
    hint: 'Each entry of errors names a place in the template and what is wrong there.',
    kind: 'Control',
    items,
  });
}

/** The values do not match the template. */
export function templateParameterInvalid(detail: string, items: readonly ErrorItem[]): ServiceError {
  return new ServiceError('TEMPLATE_PARAMETER_INVALID', {
    detail,
    hint: 'Each entry of errors names a parameter; correct its value in template_values.',
    kind: 'Control',
    items,
  });
}
