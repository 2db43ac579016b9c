import type { JsonObject } from '../../../packages/exact-json/src/index.js';
import { jsonSchemaOf } from '../../contract/input/fields.js';
import { controlJsonSchema } from '../controls/control-json-schema.js';
import { casesSchema, controlDocumentSchema, packSchema } from './file-format.js';

/** JSON Schema (2020-12) of a document in a file of a pack, for editors. */
export function packFilesSchema(): JsonObject {
  const { $schema: _, $defs = {}, ...data } = controlJsonSchema;
  return {
    $schema: 'https://json-schema.org/draft/2020-12/schema',
    title: 'A document of a pack',
    anyOf: [
      jsonSchemaOf(packSchema),
      jsonSchemaOf(controlDocumentSchema(new Map(), data)),
      jsonSchemaOf(casesSchema),
    ],
    $defs,
  };
}
