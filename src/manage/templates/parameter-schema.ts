import { z } from 'zod';
import { isObject, type JsonValue } from '../../../packages/exact-json/src/index.js';
import {
  boolean,
  type IssueSink,
  list,
  nullable,
  readWith,
  refuse,
  report,
  text,
  withDefault,
} from '../../contract/input/fields.js';
import { withoutUndefined } from '../../contract/input/parse-input.js';
import type { PatternBudget } from './pattern-budget.js';
import type { TemplateParameter } from './template.js';

const facts = {
  label: text({ min: 1 }),
  description: nullable(text()),
  required: withDefault(boolean(), true),
  ui_hint: nullable(text()),
};

interface Facts {
  label: string;
  description: string | undefined;
  required: boolean;
  ui_hint: string | undefined;
}

/** Members common to all parameters, in printing order. */
function factsOf({ label, description, required, ui_hint }: Facts) {
  return { label, ...withoutUndefined({ description }), required, ...withoutUndefined({ ui_hint }) };
}

/** A text or a pattern; patterns are validated by a budget. */
function textParameter<const Type extends 'string' | 'regex_re2'>(type: Type) {
  return z
    .object({ ...facts, default: nullable(text()), placeholder: nullable(text()) })
    .transform(({ default: value, placeholder, ...rest }) => ({
      ...factsOf(rest),
      type,
      ...withoutUndefined({ default: value, placeholder }),
    }));
}

const stringList = z
  .object({ ...facts, default: nullable(list(text())), placeholder: nullable(list(text())) })
  .transform(({ default: value, placeholder, ...rest }) => ({
    ...factsOf(rest),
    type: 'string_list' as const,
    ...withoutUndefined({ default: value, placeholder }),
  }));

const allowedValues = list(text({ min: 1 })).superRefine((values, sink) => {
  if (values.length === 0) refuse(sink, 'too_short', 'must have at least 1 value', values);
  else if (new Set(values).size < values.length) {
    refuse(sink, 'value_error', 'must have each value once', values);
  }
});

const enumeration = z
  .object({ ...facts, allowed_values: allowedValues, default: nullable(text()) })
  .transform(({ allowed_values, default: value, ...rest }, sink) => {
    if (value !== undefined && !allowed_values.includes(value)) {
      report(sink, 'value_error', 'must be one of the allowed values', value, ['default']);
    }
    return {
      ...factsOf(rest),
      type: 'enum' as const,
      allowed_values,
      ...withoutUndefined({ default: value }),
    };
  });

const flag = z
  .object({ ...facts, default: nullable(boolean()) })
  .transform(({ default: value, ...rest }) => ({
    ...factsOf(rest),
    type: 'boolean' as const,
    ...withoutUndefined({ default: value }),
  }));

const SCHEMAS = new Map<JsonValue | undefined, z.ZodType<TemplateParameter>>([
  ['string', textParameter('string')],
  ['string_list', stringList],
  ['enum', enumeration],
  ['boolean', flag],
  ['regex_re2', textParameter('regex_re2')],
]);

/**
 * Reads a parameter of a template. Issues go to `sink` below `path`, and below the type once it is known.
 * Without `patterns` the patterns of a regex_re2 are not validated.
 */
export function readParameter(
  value: JsonValue,
  sink: IssueSink,
  path: readonly PropertyKey[],
  patterns: PatternBudget | null,
): TemplateParameter | undefined {
  const refuseAll = (code: string, message: string): undefined => {
    report(sink, code, message, value, [...path]);
    return undefined;
  };
  if (!isObject(value)) return refuseAll('model_attributes_type', 'must be an object');
  if (!Object.hasOwn(value, 'type')) return refuseAll('union_tag_not_found', 'must have a type');
  const schema = SCHEMAS.get(value.type);
  if (schema === undefined) {
    const types = [...SCHEMAS.keys()].join(', ');
    return refuseAll('union_tag_invalid', `the type must be one of: ${types}`);
  }
  const inside = [...path, String(value.type)];
  const parameter = readWith(schema, value, sink, inside);
  if (parameter?.type !== 'regex_re2' || patterns === null) return parameter;
  let valid = true;
  for (const member of ['default', 'placeholder'] as const) {
    const pattern = parameter[member];
    const problem = pattern === undefined ? null : patterns.problemOf(pattern);
    if (problem === null) continue;
    report(sink, 'value_error', problem, pattern, [...inside, member]);
    valid = false;
  }
  return valid ? parameter : undefined;
}
