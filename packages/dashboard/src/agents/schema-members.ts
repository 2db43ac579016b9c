import type { JsonObject, JsonValue } from '@bufbuild/protobuf';
import { isJsonObject } from '../code/json-members.js';

/** A member that a JSON Schema describes. */
export interface SchemaMember {
  /** Path from the described value, for example `to[].name`. */
  readonly path: string;
  /** What it may be, for example `string` or `"low" | "high"`. */
  readonly type: string;
  readonly isRequired: boolean;
  readonly description: string | undefined;
}

/** Members below this depth are left to the JSON text: schemas may be recursive only by references, which stay closed. */
const MAX_DEPTH = 6;
const MAX_MEMBERS = 200;

/** The members of the values that a schema describes, in its order; empty if it describes no object. */
export function schemaMembers(schema: JsonObject): SchemaMember[] {
  return membersOf(schema, '', 0).slice(0, MAX_MEMBERS);
}

function membersOf(schema: JsonObject, prefix: string, depth: number): SchemaMember[] {
  if (depth >= MAX_DEPTH) return [];
  const required = Array.isArray(schema.required) ? schema.required : [];
  const members = isJsonObject(schema.properties) ? Object.entries(schema.properties) : [];
  return members.flatMap(([name, member]) => {
    const path = prefix === '' ? name : `${prefix}.${name}`;
    const own = {
      path,
      type: schemaType(member),
      isRequired: required.includes(name),
      description:
        isJsonObject(member) && typeof member.description === 'string' ? member.description : undefined,
    };
    return [own, ...membersBelow(member, path, depth + 1)];
  });
}

function membersBelow(schema: JsonValue, path: string, depth: number): SchemaMember[] {
  if (!isJsonObject(schema)) return [];
  const items = isJsonObject(schema.items) ? membersOf(schema.items, `${path}[]`, depth) : [];
  return [...membersOf(schema, path, depth), ...items];
}

/** What a schema allows, in one word or few. */
export function schemaType(schema: JsonValue | undefined): string {
  if (!isJsonObject(schema)) return schema === false ? 'nothing' : 'any';
  if ('const' in schema) return JSON.stringify(schema.const);
  if (Array.isArray(schema.enum)) return schema.enum.map((value) => JSON.stringify(value)).join(' | ');
  if (typeof schema.$ref === 'string') return schema.$ref;
  for (const choice of [schema.oneOf, schema.anyOf]) {
    if (Array.isArray(choice)) return choice.map(schemaType).join(' | ');
  }
  const type = Array.isArray(schema.type) ? schema.type.map(String).join(' | ') : schema.type;
  if (type === 'array' && isJsonObject(schema.items)) return `array of ${schemaType(schema.items)}`;
  if (typeof type === 'string') return type;
  return isJsonObject(schema.properties) ? 'object' : 'any';
}
