import type { DescMessage } from '@bufbuild/protobuf';
import type { JsonObject } from '../../../packages/exact-json/src/index.js';

/** JSON Schemas of the message types whose JSON form is a text (https://protobuf.dev/programming-guides/json). */
const SCHEMAS: Readonly<Record<string, JsonObject>> = {
  'google.protobuf.Timestamp': { type: 'string', format: 'date-time' },
  'google.protobuf.Duration': { type: 'string', pattern: '^-?[0-9]+(\\.[0-9]{1,9})?s$' },
};

/** Whether the plain form of a message type is a text: RFC 3339 for Timestamp, such as `1.5s` for Duration. */
export function isTextType({ typeName }: DescMessage): boolean {
  return Object.hasOwn(SCHEMAS, typeName);
}

/** The JSON Schema of the text of such a type. */
export function textTypeSchema({ typeName }: DescMessage): JsonObject {
  return SCHEMAS[typeName] ?? { type: 'string' };
}
