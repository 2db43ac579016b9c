import { z } from 'zod';
import {
  isNumber,
  isObject,
  type JsonObject,
  type JsonValue,
} from '../../../packages/exact-json/src/index.js';
import {
  field,
  flag,
  type IssueSink,
  nullable,
  readWith,
  refuse,
  report,
  text,
  withExample,
} from '../../contract/input/fields.js';
import { MAX_ERROR_ITEMS } from '../../contract/input/items.js';
import { withoutUndefined } from '../../contract/input/parse-input.js';
import { readParameter } from './parameter-schema.js';
import { createPatternBudget } from './pattern-budget.js';
import {
  type ControlTemplate,
  MAX_ENCLOSING_OBJECTS,
  MAX_PARAMETER_NAME_LENGTH,
  MAX_TEMPLATE_PARAMETERS,
  MAX_TEMPLATE_VALUES,
  type TemplateInput,
  type TemplateParameter,
  type TemplateValue,
  type TemplateValues,
} from './template.js';

const PARAMETER_NAME = /^[a-zA-Z_][a-zA-Z0-9_]*$/;

/** Counts the issues passed on to `sink`. */
function counting(sink: IssueSink): IssueSink & { problems: number } {
  const counter: IssueSink & { problems: number } = {
    problems: 0,
    issues: {
      push(issue) {
        counter.problems += 1;
        return sink.issues.push(issue);
      },
    },
  };
  return counter;
}

/** Reads the members of an object one by one; stops at MAX_ERROR_ITEMS problems. */
function readMembers<T>(
  value: JsonObject,
  sink: IssueSink,
  read: (member: JsonValue, sink: IssueSink, path: readonly PropertyKey[]) => T | undefined,
): { [name: string]: T } {
  const counter = counting(sink);
  const members: [string, T][] = [];
  for (const [name, member] of Object.entries(value)) {
    const found = read(member, counter, [name]);
    if (found !== undefined) members.push([name, found]);
    if (counter.problems >= MAX_ERROR_ITEMS) break;
  }
  // Not by assignment, which would turn a member named `__proto__` into the prototype.
  return counter.problems === 0 ? Object.fromEntries(members) : z.NEVER;
}

function parametersSchema(checkPatterns: boolean): z.ZodType<ControlTemplate['parameters']> {
  return field((value, sink) => {
    if (!isObject(value)) return refuse(sink, 'dict_type', 'must be an object', value);
    const names = Object.keys(value);
    if (names.length > MAX_TEMPLATE_PARAMETERS) {
      return refuse(sink, 'too_long', `must have at most ${MAX_TEMPLATE_PARAMETERS} parameters`, value);
    }
    const patterns = checkPatterns ? createPatternBudget() : null;
    const parameters = readMembers<TemplateParameter>(value, sink, (member, inner, path) =>
      readParameter(member, inner, path, patterns),
    );
    if (parameters === z.NEVER) return z.NEVER;
    if (!names.every((name) => name.length <= MAX_PARAMETER_NAME_LENGTH && PARAMETER_NAME.test(name))) {
      const rule = `names have letters, digits and "_", first no digit, at most ${MAX_PARAMETER_NAME_LENGTH}`;
      return refuse(sink, 'value_error', rule, value);
    }
    return parameters;
  });
}

const definitionTemplate: z.ZodType<JsonValue> = field((value, sink) => {
  const exceeded = exceededLimit(value, 0, { values: 0 });
  return exceeded === null ? value : refuse(sink, 'value_error', exceeded, value);
});

/** Deployed clients look for the first words of these texts. */
const TOO_LARGE = `definition_template size exceeds maximum: ${MAX_TEMPLATE_VALUES} values, containers included`;
const TOO_DEEP = `definition_template nesting depth exceeds maximum: ${MAX_ENCLOSING_OBJECTS} objects around a value`;

/** Reads no more than the limits allow. Recursion is bounded by the general depth limit of JSON. */
function exceededLimit(value: JsonValue, objectsAbove: number, counted: { values: number }): string | null {
  counted.values += 1;
  if (counted.values > MAX_TEMPLATE_VALUES) return TOO_LARGE;
  if (objectsAbove > MAX_ENCLOSING_OBJECTS) return TOO_DEEP;
  if (typeof value !== 'object' || value === null || isNumber(value)) return null;
  const isList = Array.isArray(value);
  for (const member of isList ? value : Object.values(value)) {
    const exceeded = exceededLimit(member as JsonValue, isList ? objectsAbove : objectsAbove + 1, counted);
    if (exceeded !== null) return exceeded;
  }
  return null;
}

const values: z.ZodType<TemplateValues> = field((value, sink) => {
  if (!isObject(value)) return refuse(sink, 'dict_type', 'must be an object', value);
  return readMembers(value, sink, readTemplateValue);
});

function templateSchema(checkPatterns: boolean): z.ZodType<ControlTemplate> {
  const members = z
    .object({
      description: nullable(text()),
      parameters: parametersSchema(checkPatterns).optional(),
      definition_template: definitionTemplate,
    })
    .transform(({ description, parameters = {}, definition_template }) => ({
      ...withoutUndefined({ description }),
      parameters,
      definition_template,
    }));
  return field((value, sink) => {
    if (!isObject(value)) return refuse(sink, 'model_type', 'must be an object', value);
    return readWith(members, value, sink) ?? z.NEVER;
  });
}

/** Reads a template with its values, and nothing else: `data` with a template. */
export const templateInputSchema = z.strictObject({
  template: templateSchema(true),
  template_values: values.optional(),
});

/** Reads the request that renders a template. */
export const renderRequestSchema = withExample(templateInputSchema.extend({ strict: flag() }), {
  template: {
    parameters: { words: { type: 'string_list', label: 'Forbidden words' } },
    definition_template: {
      execution: 'server',
      condition: {
        selector: { path: 'input' },
        evaluator: { name: 'list', config: { values: { $param: 'words' }, match_mode: 'contains' } },
      },
      action: { decision: 'deny' },
    },
  },
  template_values: { words: ['confidential', 'internal'] },
});

/** Output of `templateInputSchema`, with the default of the values. */
export function templateInputOf(read: z.output<typeof templateInputSchema>): TemplateInput {
  return { template: read.template, template_values: read.template_values ?? {} };
}

/**
 * Reads a template and its values from a stored control. Patterns were validated on input, and no verdict
 * depends on a template: they are not compiled again.
 */
export const storedTemplateSchema: z.ZodType<TemplateInput> = z.object({
  template: templateSchema(false),
  template_values: values,
});

/**
 * Reads a value of a template: a text, a boolean, or a list of texts. Anything else reports issues for each
 * possible type, as expected by deployed clients.
 */
export function readTemplateValue(
  value: JsonValue,
  sink: IssueSink,
  path: readonly PropertyKey[],
): TemplateValue | undefined {
  if (typeof value === 'string' || typeof value === 'boolean') return value;
  // Deployed clients may send booleans as numbers.
  if (value === 0 || value === 1) return value === 1;
  if (Array.isArray(value) && value.every((item) => typeof item === 'string')) return value;
  report(sink, 'string_type', 'must be a string', value, [...path, 'str']);
  report(sink, isNumber(value) ? 'bool_parsing' : 'bool_type', 'must be true or false', value, [
    ...path,
    'bool',
  ]);
  if (!Array.isArray(value)) {
    report(sink, 'list_type', 'must be a list', value, [...path, 'list[str]']);
    return undefined;
  }
  let problems = 0;
  for (const [index, item] of value.entries()) {
    if (typeof item === 'string') continue;
    report(sink, 'string_type', 'must be a string', item, [...path, 'list[str]', index]);
    problems += 1;
    if (problems >= MAX_ERROR_ITEMS) break;
  }
  return undefined;
}
