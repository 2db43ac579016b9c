import { Prisma } from '../../../gen/prisma/sqlite/client.js';
import type { DatabaseLocation } from './database-url.js';

/**
 * The elements of a JSON list as a table `"j"` with the columns `"item"` (the element, to be read with `->>`)
 * and `"ordinal"` (from 1): the only way to pass many rows to either database in one argument.
 */
export type JsonElements = (json: string) => Prisma.Sql;

export function jsonElements(kind: DatabaseLocation['kind']): JsonElements {
  if (kind === 'sqlite') {
    return (json) =>
      // Materialised, or SQLite would print and parse each element again for every member read from it.
      Prisma.sql`(
        WITH "each" AS MATERIALIZED (SELECT "value" AS "item", "key" + 1 AS "ordinal" FROM json_each(${json}))
        SELECT "item", "ordinal" FROM "each") AS "j"`;
  }
  return (json) =>
    Prisma.sql`jsonb_array_elements(CAST(${json} AS JSONB)) WITH ORDINALITY AS "j" ("item", "ordinal")`;
}
