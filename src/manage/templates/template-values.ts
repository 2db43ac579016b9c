import type { ServiceError } from '../../contract/errors/service-error.js';
import { MAX_ERROR_ITEMS } from '../../contract/input/items.js';
import { isSecretMember } from '../../contract/secrets/secret-names.js';
import { createPatternBudget, type PatternBudget } from './pattern-budget.js';
import type { TemplateInput, TemplateParameter, TemplateValue, TemplateValues } from './template.js';
import { type TemplateProblem, templateItem, templateParameterInvalid } from './template-errors.js';

/** Values that match their template, as far as they are given. */
export interface ResolvedValues {
  /** The given values and the defaults of the others, in the order of the parameters. */
  readonly values: TemplateValues;
  /** The error to throw where all values are needed; null when none is missing. */
  readonly missing: ServiceError | null;
}

/**
 * Checks values against their template and adds defaults. Throws TEMPLATE_PARAMETER_INVALID: for all unknown parameters
 * together, else for the first wrong value only, because clients rely on that.
 */
export function resolveValues(input: TemplateInput): ResolvedValues {
  const { template, template_values: given } = input;
  const unknown = Object.keys(given).filter((name) => !Object.hasOwn(template.parameters, name));
  if (unknown.length > 0) throw unknownParameters(input, unknown.sort());
  const patterns = createPatternBudget();
  const values: [string, TemplateValue][] = [];
  let missing: ServiceError | null = null;
  for (const [name, parameter] of Object.entries(template.parameters)) {
    const value = Object.hasOwn(given, name) ? given[name] : undefined;
    const problem = value === undefined ? null : problemOf(parameter, value, patterns);
    if (problem !== null) throw invalidValue(input, name, problem, value);
    const settled = value ?? parameter.default;
    if (settled !== undefined) values.push([name, settled]);
    else missing ??= invalidValue(input, name, { code: 'missing_parameter', message: 'a value is needed' });
  }
  return { values: Object.fromEntries(values), missing };
}

/** Names of the parameters that have neither a value nor a default, in the order of the template. */
export function missingParameters({ template, template_values: given }: TemplateInput): string[] {
  return Object.entries(template.parameters)
    .filter(([name, parameter]) => !Object.hasOwn(given, name) && parameter.default === undefined)
    .map(([name]) => name);
}

function unknownParameters(input: TemplateInput, names: readonly string[]): ServiceError {
  const items = names.slice(0, MAX_ERROR_ITEMS).map((name) =>
    templateItem(input.template, {
      code: 'unknown_parameter',
      message: 'the template has no such parameter',
      field: `template_values.${name}`,
      parameter: name,
    }),
  );
  return templateParameterInvalid(`The template lacks ${names.length} of the given parameters.`, items);
}

function invalidValue(
  input: TemplateInput,
  name: string,
  problem: Pick<TemplateProblem, 'code' | 'message'>,
  value?: TemplateValue,
): ServiceError {
  const isWord = problem.code === 'invalid_enum_value' && value !== undefined;
  const typed = isWord && !isSecretMember(name) ? { value, quotable: true } : {};
  const item = templateItem(input.template, {
    ...problem,
    field: `template_values.${name}`,
    parameter: name,
  });
  return templateParameterInvalid(`The value of the parameter ${name} is missing or wrong.`, [
    { ...item, ...typed },
  ]);
}

function problemOf(
  parameter: TemplateParameter,
  value: TemplateValue,
  patterns: PatternBudget,
): Pick<TemplateProblem, 'code' | 'message'> | null {
  const invalidType = (expected: string) => ({ code: 'invalid_type', message: `must be ${expected}` });
  if (parameter.type === 'boolean') return typeof value === 'boolean' ? null : invalidType('true or false');
  if (parameter.type === 'string_list') return Array.isArray(value) ? null : invalidType('a list of texts');
  if (typeof value !== 'string') return invalidType('a text');
  if (parameter.type === 'enum' && !parameter.allowed_values.includes(value)) {
    return { code: 'invalid_enum_value', message: 'must be one of the allowed values' };
  }
  const patternProblem = parameter.type === 'regex_re2' ? patterns.problemOf(value) : null;
  return patternProblem === null ? null : { code: 'invalid_regex', message: patternProblem };
}
