import { isDeepStrictEqual } from 'node:util';
import type { JsonObject } from '../../packages/exact-json/src/index.js';

/** The named schemas of a document. */
export interface SchemaPool {
  /** A reference to the schema of that name, which is created on first use; it may refer to itself. */
  define(name: string, make: () => JsonObject): JsonObject;
  /** A reference to this schema under that name, or the schema itself if the name is taken by another one. */
  share(name: string, schema: JsonObject): JsonObject;
  /** Every schema by name, sorted. */
  all(): JsonObject;
}

export function createSchemaPool(): SchemaPool {
  const schemas = new Map<string, JsonObject>();
  return {
    define(name, make) {
      if (!schemas.has(name)) {
        // Reserved before it is created, because messages contain themselves.
        schemas.set(name, {});
        schemas.set(name, make());
      }
      return referenceTo(name);
    },
    share(name, schema) {
      const known = schemas.get(name);
      if (known === undefined) schemas.set(name, schema);
      else if (!isDeepStrictEqual(known, schema)) return schema;
      return referenceTo(name);
    },
    all() {
      return Object.fromEntries([...schemas].sort(([a], [b]) => (a < b ? -1 : 1)));
    },
  };
}

function referenceTo(name: string): JsonObject {
  return { $ref: `#/components/schemas/${name}` };
}

/** A schema that also accepts null. */
export function nullableSchema(schema: JsonObject): JsonObject {
  const { description, ...rest } = schema;
  const told = description === undefined ? {} : { description };
  if (typeof rest.type === 'string' && rest.enum === undefined)
    return { ...told, ...rest, type: [rest.type, 'null'] };
  return { ...told, anyOf: [rest, { type: 'null' }] };
}
