import { readFileSync } from 'node:fs';
import type { JsonObject, JsonValue } from '../../../packages/exact-json/src/index.js';
import { findUp } from '../../contract/runtime/package-root.js';

/** What a service replies to the examples of the requests, by operation. Written by `npm run generate:openapi`. */
const replies = JSON.parse(readFileSync(findUp('gen/openapi/reply-examples.json'), 'utf8')) as JsonObject;

/** A response with the reply of the operation as the example of its content. */
export function withReplyExample(operationId: string, response: JsonObject): JsonObject {
  if (!Object.hasOwn(replies, operationId)) return response;
  const example = replies[operationId] as JsonValue;
  const content = Object.entries((response.content ?? {}) as JsonObject).map(
    ([mediaType, described]) => [mediaType, { ...(described as JsonObject), example }] as const,
  );
  return { ...response, content: Object.fromEntries(content) };
}
