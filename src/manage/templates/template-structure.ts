import { isObject, type JsonObject } from '../../../packages/exact-json/src/index.js';
import { findAgentEvaluator } from './agent-evaluators.js';
import { bindingPlaces, boundParameter, placeText } from './bindings.js';
import type { ControlTemplate } from './template.js';
import { type TemplateProblem, templateItem, templateRenderError } from './template-errors.js';

/** Members of a rendered control that come from other sources. */
const FORBIDDEN_MEMBERS = ['enabled', 'name'] as const;

/** Checks rules that hold for any values. Throws a TEMPLATE_RENDER_ERROR for the first violated rule. */
export function checkTemplateStructure(template: ControlTemplate): void {
  const problems = structureProblems(template);
  if (problems.length === 0) return;
  const items = problems.map((problem) => templateItem(template, problem));
  throw templateRenderError('The template cannot give a definition.', items);
}

function structureProblems(template: ControlTemplate): TemplateProblem[] {
  const { definition_template: definition } = template;
  if (!isObject(definition)) {
    const message = 'the template of a definition must be an object';
    return [problemAt('template.definition_template', 'invalid_definition_template_type', message)];
  }
  const found = topLevelProblem(definition) ?? bindingProblem(template);
  if (found !== null) return [found];
  const unused = unusedParameters(template);
  if (unused.length > 0) return unused;
  const agentEvaluator = findAgentEvaluator(definition);
  if (agentEvaluator === null) return [];
  const message = 'a template cannot use an evaluator of an agent';
  return [problemAt(placeText(agentEvaluator), 'agent_scoped_evaluator_not_supported', message)];
}

/** A path in the definition, which is also the path in the rendered one. */
function problemAt(field: string, code: string, message: string, parameter?: string): TemplateProblem {
  return { code, message, field, renderedField: field, parameter };
}

function topLevelProblem(definition: JsonObject): TemplateProblem | null {
  for (const name of FORBIDDEN_MEMBERS) {
    if (!Object.hasOwn(definition, name)) continue;
    return problemAt(name, 'forbidden_template_field', `a template cannot set ${name}`);
  }
  const isFlat = ['selector', 'evaluator'].some((name) => Object.hasOwn(definition, name));
  const condition = Object.hasOwn(definition, 'condition') ? definition.condition : null;
  if (!isFlat || condition !== null) return null;
  const message = 'selector and evaluator belong into condition';
  return problemAt('condition', 'legacy_condition_format_not_supported', message);
}

function bindingProblem(template: ControlTemplate): TemplateProblem | null {
  for (const { object, path } of bindingPlaces(template.definition_template)) {
    const name = boundParameter(object);
    if (name === undefined) {
      const message = 'a binding has the single member $param with the name of a parameter';
      return problemAt(placeText(path), 'invalid_param_binding', message);
    }
    const parameter = Object.hasOwn(template.parameters, name) ? template.parameters[name] : undefined;
    if (parameter === undefined) {
      return problemAt(placeText(path), 'undefined_parameter_reference', 'there is no such parameter', name);
    }
    if (!parameter.required && parameter.default === undefined) {
      const message = 'an optional parameter that is used needs a default';
      const field = `template.parameters.${name}`;
      return problemAt(field, 'optional_referenced_parameter_requires_default', message, name);
    }
  }
  return null;
}

function unusedParameters(template: ControlTemplate): TemplateProblem[] {
  const used = new Set<string | undefined>();
  for (const { object } of bindingPlaces(template.definition_template)) used.add(boundParameter(object));
  return Object.keys(template.parameters)
    .filter((name) => !used.has(name))
    .map((name) => ({
      code: 'unused_template_parameter',
      message: 'the template does not use this parameter',
      field: `template.parameters.${name}`,
      parameter: name,
    }));
}
