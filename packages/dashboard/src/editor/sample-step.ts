import type { StepDefinition } from '@gen/enforcement/v1/agent_service_pb.js';
import { resolveSchema } from '../schema-form/resolve-schema.js';
import { givenMember, isJsonObject, type JsonObject, type JsonValue, textsOf } from './json.js';

/** The step that is there before another one is chosen. */
export const FIRST_STEP = stepText({
  type: 'tool',
  name: 'send_mail',
  input: { text: 'card 4111111111111111' },
});

const MAX_DEPTH = 6;
const MAX_MEMBERS = 50;
/** Values made up for one step. A schema that leads to more is cut off. */
const MAX_VALUES = 500;

/** Texts of formats that are often checked. */
const FORMATS: Readonly<Record<string, string>> = {
  date: '2026-01-31',
  'date-time': '2026-01-31T12:00:00Z',
  time: '12:00:00Z',
  email: 'ann@example.com',
  hostname: 'example.com',
  ipv4: '192.0.2.1',
  ipv6: '2001:db8::1',
  uri: 'https://example.com/',
  uuid: '123e4567-e89b-42d3-a456-426614174000',
};

/** A step of a registered kind, with values made up from its schemas. */
export function sampleStep({ type = 'tool', name = '', inputSchema, outputSchema }: StepDefinition): string {
  const empty = type === 'tool' ? {} : '';
  return stepText({
    type,
    name,
    input: inputSchema === undefined ? empty : sampleOf(inputSchema),
    ...(outputSchema === undefined ? {} : { output: sampleOf(outputSchema) }),
  });
}

function stepText(step: JsonObject): string {
  return JSON.stringify(step, null, 2);
}

/** A value that a JSON Schema allows, as far as its types, examples and required members say. */
export function sampleOf(root: JsonObject): JsonValue {
  let left = MAX_VALUES;
  const sample = (given: JsonValue | undefined, depth: number): JsonValue => {
    left -= 1;
    if (!isJsonObject(given) || depth > MAX_DEPTH || left < 0) return {};
    const schema = resolveSchema(root, given);
    const known = schema.const ?? firstOf(schema.examples) ?? schema.default ?? firstOf(schema.enum);
    if (known !== undefined && known !== null) return known;
    const choice = firstOf(schema.anyOf) ?? firstOf(schema.oneOf);
    if (isJsonObject(choice) && schema.properties === undefined) return sample(choice, depth + 1);
    switch (typeOf(schema)) {
      case 'string':
        return textFor(schema);
      case 'number':
      case 'integer':
        return numberFor(schema);
      case 'boolean':
        return false;
      case 'array':
        return schema.items === undefined ? [] : [sample(schema.items, depth + 1)];
      case 'null':
        return null;
      default:
        return Object.fromEntries(membersOf(schema).map(([name, one]) => [name, sample(one, depth + 1)]));
    }
  };
  return sample(root, 0);
}

/** The members that a schema requires; all of them if it requires none. */
function membersOf(schema: JsonObject): readonly [string, JsonValue][] {
  const properties = givenMember(schema, 'properties');
  const all = Object.entries(isJsonObject(properties) ? properties : {});
  const required = new Set(textsOf(schema.required));
  const chosen = required.size === 0 ? all : all.filter(([name]) => required.has(name));
  return chosen.slice(0, MAX_MEMBERS);
}

function typeOf({ type }: JsonObject): JsonValue | undefined {
  return Array.isArray(type) ? (type.find((one) => one !== 'null') ?? type[0]) : type;
}

function textFor({ format, minLength }: JsonObject): string {
  const known = typeof format === 'string' && Object.hasOwn(FORMATS, format) ? FORMATS[format] : undefined;
  const text = known ?? 'text';
  return typeof minLength === 'number' && minLength <= 100 ? text.padEnd(minLength, 'x') : text;
}

function numberFor({ minimum, exclusiveMinimum }: JsonObject): number {
  if (typeof minimum === 'number') return minimum;
  return typeof exclusiveMinimum === 'number' ? exclusiveMinimum + 1 : 0;
}

function firstOf(list: JsonValue | undefined): JsonValue | undefined {
  return Array.isArray(list) ? list[0] : undefined;
}
