import type { StepDefinition } from '@gen/enforcement/v1/agent_service_pb.js';
import { givenMember, isJsonObject, type JsonObject, type JsonValue } from './json.js';

/** The step that is there before another one is chosen. */
export const FIRST_STEP = stepText({
  type: 'tool',
  name: 'send_mail',
  input: { text: 'card 4111111111111111' },
});

const MAX_DEPTH = 6;

/** A step of a registered kind, with values made up from its schemas. */
export function sampleStep({ type = 'tool', name = '', inputSchema, outputSchema }: StepDefinition): string {
  const input = inputSchema === undefined ? {} : sampleValue(inputSchema, 0);
  return stepText({
    type,
    name,
    input,
    ...(outputSchema === undefined ? {} : { output: sampleValue(outputSchema, 0) }),
  });
}

function stepText(step: JsonObject): string {
  return JSON.stringify(step, null, 2);
}

/** A value that a JSON Schema allows, as far as its types and examples say. */
function sampleValue(schema: JsonValue | undefined, depth: number): JsonValue {
  if (!isJsonObject(schema) || depth > MAX_DEPTH) return {};
  const given = schema.default ?? schema.const ?? firstOf(schema.examples) ?? firstOf(schema.enum);
  if (given !== undefined && given !== null) return given;
  const type = Array.isArray(schema.type) ? schema.type[0] : schema.type;
  switch (type) {
    case 'string':
      return '';
    case 'number':
    case 'integer':
      return typeof schema.minimum === 'number' ? schema.minimum : 0;
    case 'boolean':
      return false;
    case 'array':
      return schema.items === undefined ? [] : [sampleValue(schema.items, depth + 1)];
    case 'null':
      return null;
    default: {
      const properties = givenMember(schema, 'properties');
      const members = Object.entries(isJsonObject(properties) ? properties : {});
      return Object.fromEntries(members.map(([name, member]) => [name, sampleValue(member, depth + 1)]));
    }
  }
}

function firstOf(list: JsonValue | undefined): JsonValue | undefined {
  return Array.isArray(list) ? list[0] : undefined;
}
