import type { JsonObject } from '@bufbuild/protobuf';
import { isJsonObject } from '../code/json-members.js';

const TYPE_WORDS: Readonly<Record<string, string>> = {
  string: 'text',
  number: 'number',
  integer: 'whole number',
  boolean: 'yes or no',
  array: 'list',
  object: 'object',
};
const MAX_NAMES = 3;

/** Texts by which a choice between schemas without references is made, each once. */
export function choiceLabels(schemas: readonly JsonObject[]): string[] {
  const labels = schemas.map(labelOf);
  return labels.map((label, index) => {
    const isAmbiguous = labels.indexOf(label) !== labels.lastIndexOf(label);
    return isAmbiguous ? `${label} (form ${index + 1})` : label;
  });
}

function labelOf(schema: JsonObject): string {
  const { title, type, properties, required, const: only, enum: values } = schema;
  if (typeof title === 'string' && title !== '') return title;
  if (only !== undefined) return JSON.stringify(only);
  if (Array.isArray(values)) return 'one of a list';
  const names = Array.isArray(required) && required.length > 0 ? required : Object.keys(properties ?? {});
  if (type === 'object' || isJsonObject(properties)) {
    return names.length === 0 ? 'object' : `object with ${names.slice(0, MAX_NAMES).join(', ')}`;
  }
  return (typeof type === 'string' ? TYPE_WORDS[type] : undefined) ?? 'any JSON';
}
