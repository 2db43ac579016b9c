import { Prisma } from '../../gen/prisma/sqlite/client.js';
import { stepSchemasText, storedMode } from '../agents/registered-schemas.js';
import type { BulkReader } from '../database/bulk.js';
import type { StepsRecord } from './file-format.js';

/** Registrations per query; each may be large. */
const REGISTRATIONS_AT_ONCE = 50;

/**
 * The schemas of the steps of agents by agent and version, of the last save: a registration is read and parsed once, not
 * with each save.
 */
export type KnownSchemas = Map<string, string | null>;

type Row = Awaited<ReturnType<BulkReader>>[number];

/** What the last known good file has of the steps of agents. `known` is kept between saves. */
export function createStepsRecords(read: BulkReader, known: KnownSchemas) {
  const used = new Set<string>();
  /** The first agent with each text. */
  const owners = new Map<string, string>();
  /** One object for equal texts. */
  const texts = new Map<string, string>();
  for (const text of known.values()) if (text !== null) texts.set(text, text);

  function recordOf(row: Row): StepsRecord {
    const schemas = known.get(keyOf(row)) ?? null;
    const mode = storedMode(row[2] === null ? null : String(row[2]));
    const owner = schemas === null ? undefined : owners.get(schemas);
    if (owner !== undefined) return { mode, schemas: { as: owner } };
    if (schemas !== null) owners.set(schemas, String(row[1]));
    return { mode, schemas };
  }

  return {
    /** Reads what is not known of some agents: rows of id, name, setting, version and time of creation. */
    async ofPage(rows: readonly Row[]): Promise<(row: Row) => StepsRecord> {
      const unknown = rows.filter((row) => !known.has(keyOf(row)));
      for (let at = 0; at < unknown.length; at += REGISTRATIONS_AT_ONCE) {
        const some = unknown.slice(at, at + REGISTRATIONS_AT_ONCE);
        const ids = some.map(([id]) => Number(id));
        const registrations = new Map(
          (await read(Prisma.sql`SELECT "id", "data" FROM "agents" WHERE "id" IN (${Prisma.join(ids)})`)).map(
            ([id, data]) => [Number(id), String(data)],
          ),
        );
        for (const row of some) {
          const text = stepSchemasText(registrations.get(Number(row[0])) ?? '');
          const shared = text === null ? null : (texts.get(text) ?? text);
          if (shared !== null) texts.set(shared, shared);
          known.set(keyOf(row), shared);
        }
      }
      for (const row of rows) used.add(keyOf(row));
      return recordOf;
    },

    /** Called after the last page: other agents do not exist any more. */
    forgetOthers(): void {
      for (const key of known.keys()) if (!used.has(key)) known.delete(key);
    },
  };
}

/** The id of a deleted agent may be given again. */
function keyOf([id, , , version, createdAtMs]: Row): string {
  return `${String(id)} ${String(version)} ${String(createdAtMs)}`;
}
