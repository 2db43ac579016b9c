import { fromJson, type JsonObject, type JsonValue, toJson } from '@bufbuild/protobuf';
import { ValueSchema } from '@bufbuild/protobuf/wkt';
import {
  type ControlTemplate,
  ControlTemplateSchema,
  type TemplateParameter,
} from '@gen/enforcement/v1/control_pb.js';
import { isJsonObject, ownMember } from '../code/json-members.js';

/** What a text says: a template, or why it is none. */
export type TemplateReading =
  | { readonly template: ControlTemplate; readonly values: JsonObject }
  | { readonly problem: string };

/**
 * Reads a template as JSON text, in the form of the JSON routes. The whole data of a control, with `template` and
 * `template_values`, are read too.
 */
export function readTemplate(text: string): TemplateReading {
  let json: JsonValue;
  try {
    json = JSON.parse(text) as JsonValue;
  } catch (error) {
    return { problem: `This is not JSON: ${(error as Error).message}` };
  }
  if (!isJsonObject(json)) return { problem: 'A template is a JSON object.' };
  const inner = ownMember(json, 'template');
  const values = ownMember(json, 'template_values');
  const written = isJsonObject(inner) ? inner : json;
  if (!isJsonObject(ownMember(written, 'definition_template'))) {
    return { problem: 'A template has definition_template: an object, the definition of a control.' };
  }
  try {
    const template = fromJson(ControlTemplateSchema, withoutNullMembers(written));
    return { template, values: isJsonObject(values) ? values : {} };
  } catch (error) {
    const { message } = error as Error;
    return { problem: `This is no template: ${message.replace(/^cannot decode \S+ from JSON: /, '')}` };
  }
}

/** Null members of a template and of its parameters are absent ones. The definition may contain any value. */
function withoutNullMembers(template: JsonObject): JsonObject {
  const present = Object.entries(template).filter(([, value]) => value !== null);
  return Object.fromEntries(
    present.map(([name, value]) => {
      if (name !== 'parameters' || !isJsonObject(value)) return [name, value];
      const parameters = Object.entries(value).map(([parameter, facts]) => [
        parameter,
        isJsonObject(facts)
          ? Object.fromEntries(Object.entries(facts).filter(([, fact]) => fact !== null))
          : facts,
      ]);
      return [name, Object.fromEntries(parameters) as JsonObject];
    }),
  );
}

/** A template as JSON text, in the form of the JSON routes. */
export function templateText(template: ControlTemplate): string {
  return JSON.stringify(toJson(ControlTemplateSchema, template, { useProtoFieldName: true }), null, 2);
}

/** The JSON Schema of the values of a template, from which their form is made. */
export function valuesSchema({ parameters }: ControlTemplate): JsonObject {
  const entries = Object.entries(parameters);
  return {
    type: 'object',
    properties: Object.fromEntries(
      entries.map(([name, parameter]) => [name, { ...typeSchema(parameter), ...factsSchema(parameter) }]),
    ),
    required: entries.filter(([, parameter]) => isNeeded(parameter)).map(([name]) => name),
    additionalProperties: false,
  };
}

function typeSchema({ type, allowedValues, uiHint }: TemplateParameter): JsonObject {
  switch (type) {
    case 'string':
      return { type: 'string', ...(isLongHint(uiHint) ? { format: 'textarea' } : {}) };
    case 'regex_re2':
      return { type: 'string', format: 'RE2 pattern' };
    case 'string_list':
      return { type: 'array', items: { type: 'string' } };
    case 'enum':
      return { type: 'string', enum: allowedValues };
    case 'boolean':
      return { type: 'boolean' };
    default:
      // A type of a later server: any JSON.
      return {};
  }
}

function isLongHint(hint: string | undefined): boolean {
  return /textarea|multi-?line/i.test(hint ?? '');
}

function factsSchema(parameter: TemplateParameter): JsonObject {
  const { label = '', description, default: fallback, placeholder } = parameter;
  return {
    ...(label === '' ? {} : { title: label }),
    ...(description === undefined ? {} : { description }),
    ...(fallback === undefined ? {} : { default: toJson(ValueSchema, fallback) }),
    ...(placeholder === undefined ? {} : { examples: [toJson(ValueSchema, placeholder)] }),
  };
}

/** Whether nothing counts if no value is given. */
function isNeeded({ default: fallback }: TemplateParameter): boolean {
  return fallback === undefined;
}

/** The values that are given. A text that was emptied is none: as a pattern, it would match everything. */
export function givenValues(values: JsonObject): JsonObject {
  return Object.fromEntries(Object.entries(values).filter(([, value]) => value !== ''));
}

/** Labels of the parameters without a value and without a default, in the order of the template. */
export function missingLabels({ parameters }: ControlTemplate, values: JsonObject): string[] {
  const given = givenValues(values);
  return Object.entries(parameters)
    .filter(([name, parameter]) => isNeeded(parameter) && !Object.hasOwn(given, name))
    .map(([name, { label = '' }]) => (label === '' ? name : label));
}

/** The values that another version of a template still has parameters for. */
export function keptValues({ parameters }: ControlTemplate, values: JsonObject): JsonObject {
  return Object.fromEntries(Object.entries(values).filter(([name]) => Object.hasOwn(parameters, name)));
}
