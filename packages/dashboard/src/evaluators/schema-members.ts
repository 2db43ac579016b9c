import type { JsonObject, JsonValue } from '@bufbuild/protobuf';
import type { Form } from '../schema-form/form.js';
import { formOf, jsonText } from '../schema-form/form-of.js';
import { itemSchema } from '../schema-form/form-values.js';

/** A member of a configuration, as a table shows it. */
export interface SchemaMember {
  /** For example `limits.max`, or `field_types.*` for any name. */
  readonly path: string;
  /** The type in words, for example `list of text`. */
  readonly type: string;
  readonly isRequired: boolean;
  readonly fallback: string;
  readonly description: string;
}

const MAX_DEPTH = 4;
const MAX_MEMBERS = 500;

/** The members that a JSON Schema describes, outer ones first, without those of lists of lists. */
export function schemaMembers(root: JsonObject): SchemaMember[] {
  const found: SchemaMember[] = [];
  addMembers(root, formOf(root, root), '', 0, found);
  return found;
}

function addMembers(
  root: JsonObject,
  form: Form,
  prefix: string,
  depth: number,
  found: SchemaMember[],
): void {
  if (form.kind !== 'object' || depth >= MAX_DEPTH) return;
  const rest = typeof form.other === 'object' ? [{ name: '*', schema: form.other, isRequired: false }] : [];
  for (const { name, schema, isRequired } of [...form.members, ...rest]) {
    if (found.length >= MAX_MEMBERS) return;
    const member = formOf(root, schema);
    const path = `${prefix}${name}`;
    found.push({
      path,
      type: typeText(root, member),
      isRequired,
      fallback: fallbackText(member.fallback),
      description: member.description ?? '',
    });
    addMembers(root, member, `${path}.`, depth + 1, found);
    if (member.kind === 'list') {
      addMembers(root, formOf(root, itemSchema(member, 0)), `${path}[].`, depth + 1, found);
    }
  }
}

function fallbackText(fallback: JsonValue | undefined): string {
  return fallback === undefined ? '' : jsonText(fallback);
}

function typeText(root: JsonObject, form: Form): string {
  const text = typeWords(root, form);
  return form.isNullable ? `${text} or null` : text;
}

function typeWords(root: JsonObject, form: Form): string {
  switch (form.kind) {
    case 'text':
      return 'text';
    case 'number':
      return form.isInteger ? 'whole number' : 'number';
    case 'boolean':
      return 'true or false';
    case 'enum':
      return form.options.map(({ value }) => jsonText(value)).join(' | ');
    case 'list':
      return form.first.length > 0 ? 'list' : `list of ${typeWords(root, formOf(root, itemSchema(form, 0)))}`;
    case 'choice':
      return form.choices.map(({ label }) => label).join(' or ');
    case 'object':
      return 'object';
    case 'json':
      return 'any JSON';
  }
}
