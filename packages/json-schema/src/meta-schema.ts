import { createRequire } from 'node:module';
import type { JsonObject } from '../../exact-json/src/index.js';

/**
 * The meta-schema of draft 7, as shipped with the ajv package, except its rules for `enum`: the published one
 * (http://json-schema.org/draft-07/schema) has none about repeated values.
 */
export function readMetaSchema(): JsonObject {
  const load = createRequire(import.meta.url);
  const shipped = load('ajv/dist/refs/json-schema-draft-07.json') as JsonObject;
  const properties = shipped.properties as JsonObject;
  return { ...shipped, properties: { ...properties, enum: { type: 'array', items: true } } };
}
