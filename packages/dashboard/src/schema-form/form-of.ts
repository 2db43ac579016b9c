import type { JsonObject, JsonValue } from '@bufbuild/protobuf';
import { isJsonObject, ownMember } from '../code/json-members.js';
import { choiceLabels } from './choice-labels.js';
import type { EnumForm, Form, FormFacts, ListForm, NumberForm, ObjectForm, TextForm } from './form.js';
import { merged, resolveSchema } from './resolve-schema.js';

const STRUCTURE = ['properties', 'additionalProperties', 'patternProperties', 'required', 'propertyNames'];
/** Keywords that can describe further members, which forms do not read. */
const CONDITIONAL = ['if', 'dependentSchemas', 'dependencies', 'unevaluatedProperties', 'patternProperties'];
const LONG_TEXT = 500;

/** The form for the values of a schema. */
export function formOf(root: JsonObject, value: JsonValue | undefined): Form {
  return formOfResolved(root, resolveSchema(root, value));
}

function formOfResolved(root: JsonObject, schema: JsonObject): Form {
  const facts = factsOf(schema);
  if (Object.hasOwn(schema, 'const')) return enumForm(facts, [schema.const ?? null]);
  if (Array.isArray(schema.enum)) return enumForm(facts, schema.enum);
  for (const keyword of ['oneOf', 'anyOf']) {
    const { [keyword]: alternatives, ...base } = schema;
    if (Array.isArray(alternatives)) return alternativesForm(root, base, alternatives, facts);
  }
  const types = typesOf(schema);
  const isNullable = types.includes('null');
  const others = types.filter((type) => type !== 'null' && !(type === 'integer' && types.includes('number')));
  const only = others[0];
  if (others.length > 1) {
    return choiceForm(
      root,
      others.map((type) => ({ ...schema, type })),
      { ...facts, isNullable },
    );
  }
  if (only === undefined) {
    return isNullable ? enumForm({ ...facts, isNullable }, []) : { ...facts, kind: 'json' };
  }
  return formOfType(only, schema, { ...facts, isNullable });
}

function formOfType(type: string, schema: JsonObject, facts: FormFacts): Form {
  switch (type) {
    case 'string':
      return textForm(schema, facts);
    case 'number':
    case 'integer':
      return numberForm(type, schema, facts);
    case 'boolean':
      return { ...facts, kind: 'boolean' };
    case 'array':
      return listForm(schema, facts);
    case 'object':
      return objectForm(schema, facts);
    default:
      return { ...facts, kind: 'json' };
  }
}

/** The types that a schema names, or that its keywords are about. */
function typesOf(schema: JsonObject): string[] {
  const { type } = schema;
  if (typeof type === 'string') return [type];
  if (Array.isArray(type)) return type.filter((one) => typeof one === 'string');
  if (STRUCTURE.some((keyword) => Object.hasOwn(schema, keyword))) return ['object'];
  if (['items', 'prefixItems', 'minItems', 'maxItems'].some((keyword) => Object.hasOwn(schema, keyword))) {
    return ['array'];
  }
  if (['pattern', 'minLength', 'maxLength', 'format'].some((keyword) => Object.hasOwn(schema, keyword))) {
    return ['string'];
  }
  const bounds = ['minimum', 'maximum', 'exclusiveMinimum', 'exclusiveMaximum', 'multipleOf'];
  return bounds.some((keyword) => typeof schema[keyword] === 'number') ? ['number'] : [];
}

function factsOf(schema: JsonObject): FormFacts {
  const { title, description, default: fallback, examples } = schema;
  const example = Array.isArray(examples) ? examples[0] : undefined;
  return {
    ...(typeof title === 'string' && title !== '' ? { title } : {}),
    ...(typeof description === 'string' && description !== '' ? { description } : {}),
    ...(fallback === undefined ? {} : { fallback }),
    ...(example === undefined ? {} : { example }),
    isNullable: schema.nullable === true,
  };
}

function enumForm(facts: FormFacts, values: readonly JsonValue[]): EnumForm {
  const options = values.filter((value) => value !== null).map((value) => ({ value, text: jsonText(value) }));
  return { ...facts, isNullable: facts.isNullable || values.includes(null), kind: 'enum', options };
}

/** One of several schemas, each together with what is beside them. */
function alternativesForm(
  root: JsonObject,
  base: JsonObject,
  alternatives: readonly JsonValue[],
  facts: FormFacts,
): Form {
  const resolved = alternatives.map((one) => resolveSchema(root, one));
  const choices = resolved.filter((one) => one.type !== 'null' && one.const !== null);
  const isNullable = facts.isNullable || choices.length < resolved.length;
  const { title: _title, description: _description, default: _default, examples: _examples, ...rest } = base;
  const only = choices[0];
  if (choices.length === 1 && only !== undefined) {
    const form = formOfResolved(root, merged(rest, only));
    return { ...form, ...facts, isNullable: isNullable || form.isNullable };
  }
  if (choices.length > 0 && choices.every((one) => one.const !== undefined)) {
    const options = choices.map(({ title, const: value = null }) => ({
      value,
      text: typeof title === 'string' ? title : jsonText(value),
    }));
    return { ...facts, isNullable, kind: 'enum', options };
  }
  return choiceForm(
    root,
    choices.map((one) => merged(rest, one)),
    { ...facts, isNullable },
  );
}

function choiceForm(root: JsonObject, schemas: readonly JsonObject[], facts: FormFacts): Form {
  const labels = choiceLabels(schemas.map((schema) => resolveSchema(root, schema)));
  const choices = schemas.map((schema, index) => ({ label: labels[index] ?? '', schema }));
  return { ...facts, kind: 'choice', choices };
}

function textForm(schema: JsonObject, facts: FormFacts): TextForm {
  const { format, pattern, minLength, maxLength, contentMediaType, contentEncoding } = schema;
  const isLong = typeof maxLength === 'number' && maxLength >= LONG_TEXT && pattern === undefined;
  return {
    ...facts,
    kind: 'text',
    isMultiline:
      isLong ||
      format === 'textarea' ||
      format === 'multiline' ||
      typeof contentMediaType === 'string' ||
      typeof contentEncoding === 'string',
    ...(typeof format === 'string' ? { format } : {}),
    ...(typeof pattern === 'string' ? { pattern } : {}),
    ...numbersOf({ minLength, maxLength }),
  };
}

function numberForm(type: string, schema: JsonObject, facts: FormFacts): NumberForm {
  const { minimum, maximum, exclusiveMinimum, exclusiveMaximum } = schema;
  return {
    ...facts,
    kind: 'number',
    isInteger: type === 'integer',
    ...numbersOf({ minimum, maximum, exclusiveMinimum, exclusiveMaximum }),
  };
}

function numbersOf(members: Readonly<Record<string, JsonValue | undefined>>): Record<string, number> {
  return Object.fromEntries(
    Object.entries(members).filter((entry): entry is [string, number] => typeof entry[1] === 'number'),
  );
}

function listForm(schema: JsonObject, facts: FormFacts): ListForm {
  const { items, prefixItems, additionalItems, minItems, maxItems } = schema;
  const isTuple = Array.isArray(items);
  return {
    ...facts,
    kind: 'list',
    first: isTuple ? items : Array.isArray(prefixItems) ? prefixItems : [],
    item: isTuple ? (additionalItems ?? true) : (items ?? true),
    ...numbersOf({ minItems, maxItems }),
  };
}

function objectForm(schema: JsonObject, facts: FormFacts): ObjectForm {
  const { properties, required, patternProperties, additionalProperties } = schema;
  const requiredNames = Array.isArray(required) ? required.filter((name) => typeof name === 'string') : [];
  const described = isJsonObject(properties) ? properties : {};
  const names = [...new Set([...Object.keys(described), ...requiredNames])];
  return {
    ...facts,
    kind: 'object',
    members: names.map((name) => ({
      name,
      schema: ownMember(described, name) ?? true,
      isRequired: requiredNames.includes(name),
    })),
    byPattern: isJsonObject(patternProperties) ? Object.entries(patternProperties) : [],
    other: isJsonObject(additionalProperties) ? additionalProperties : true,
    isOpen:
      additionalProperties === true ||
      isJsonObject(additionalProperties) ||
      (additionalProperties !== false && names.length === 0) ||
      CONDITIONAL.some((keyword) => Object.hasOwn(schema, keyword)),
  };
}

/** A text as it is; any other value as JSON. */
export function jsonText(value: JsonValue): string {
  return typeof value === 'string' ? value : JSON.stringify(value);
}
