import { hash } from 'node:crypto';
import { Prisma } from '../../../gen/prisma/sqlite/client.js';
import type { AgentKey } from '../../contract/call/namespace.js';
import { registeredMetadataText } from '../../decide/agent-state/agent-metadata.js';
import { stepSchemasText, storedMode } from '../../decide/agent-state/registered-schemas.js';
import type { BulkReader } from '../../storage/database/bulk.js';
import { portionsOf } from '../../storage/database/in-portions.js';
import {
  type Column,
  columns,
  nullable,
  number,
  type ReadRow,
  select,
  text,
} from '../../storage/database/rows.js';
import type { StepsRecord } from './file-format.js';

const NO_TEXTS: KnownTexts = { schemas: null, metadata: null };
/** Registrations per query; each may be large. */
const REGISTRATIONS_AT_ONCE = 50;
/** Characters of different texts that are kept between saves. Registrations beyond are read again with each save. */
const MAX_KEPT_CHARACTERS = 16 * 1024 * 1024;

/** What of a registration is in the file: its schemas, as `stepSchemasText`, and the metadata of the agent. */
interface KnownTexts {
  readonly schemas: string | null;
  readonly metadata: string | null;
}

/** The same by agent and version, of the last save: a registration is read and parsed once, not with each save. */
export type KnownSchemas = Map<string, KnownTexts>;

export const AGENT = columns({
  id: number,
  /** Its key. */
  name: text as Column<AgentKey>,
  stepSchemas: nullable(text),
  version: text,
  createdAtMs: text,
});
type Row = ReadRow<typeof AGENT>;

const REGISTRATION = columns({ id: number, data: text });

/** What the last known good file has of the steps of agents. `known` is kept between saves. */
export function createStepsRecords(
  read: BulkReader,
  known: KnownSchemas,
  maxKept: number = MAX_KEPT_CHARACTERS,
) {
  const used = new Set<string>();
  /** The first agent with each text, by its hash. */
  const owners = new Map<string, string>();
  /** One object for equal texts among those that are kept. */
  const texts = new Map<string, string>();
  let kept = 0;
  for (const { schemas, metadata } of known.values()) {
    if (schemas !== null) keep(schemas);
    if (metadata !== null) keep(metadata);
  }

  function keep(text: string): string {
    const same = texts.get(text);
    if (same !== undefined) return same;
    texts.set(text, text);
    kept += text.length;
    return text;
  }

  function newCharacters(text: string | null): number {
    return text === null || texts.has(text) ? 0 : text.length;
  }

  function recordOf(row: Row, { schemas, metadata }: KnownTexts, withMetadata: boolean): StepsRecord {
    const mode = storedMode(row.stepSchemas);
    const own = withMetadata ? { metadata } : {};
    if (schemas === null) return { mode, schemas, ...own };
    const digest = hash('sha256', schemas, 'base64');
    const owner = owners.get(digest);
    if (owner !== undefined) return { mode, schemas: { as: owner }, ...own };
    owners.set(digest, row.name);
    return { mode, schemas, ...own };
  }

  return {
    /**
     * Reads what is not known of some agents. `withMetadata`: whether some control reads the metadata of agents.
     */
    async ofPage(rows: readonly Row[], withMetadata = false): Promise<(row: Row) => StepsRecord> {
      const found = new Map<string, KnownTexts>();
      const unknown = rows.filter((row) => !known.has(keyOf(row)));
      for (const some of portionsOf(unknown, REGISTRATIONS_AT_ONCE)) {
        const ids = Prisma.join(some.map(({ id }) => id));
        const stored = await select(REGISTRATION, read)`FROM "agents" WHERE "id" IN (${ids})`;
        const registrations = new Map(stored.map(({ id, data }) => [id, data]));
        for (const row of some) {
          const registration = registrations.get(row.id) ?? '';
          const schemas = stepSchemasText(registration);
          const metadata = registeredMetadataText(registration);
          const mayKeep = kept + newCharacters(schemas) + newCharacters(metadata) <= maxKept;
          if (mayKeep)
            known.set(keyOf(row), {
              schemas: schemas && keep(schemas),
              metadata: metadata && keep(metadata),
            });
          else found.set(keyOf(row), { schemas, metadata });
        }
      }
      for (const row of rows) used.add(keyOf(row));
      return (row) => recordOf(row, known.get(keyOf(row)) ?? found.get(keyOf(row)) ?? NO_TEXTS, withMetadata);
    },

    /** Called after the last page: other agents do not exist any more. */
    forgetOthers(): void {
      for (const key of known.keys()) if (!used.has(key)) known.delete(key);
    },
  };
}

/** The id of a deleted agent may be given again. */
function keyOf({ id, version, createdAtMs }: Row): string {
  return `${id} ${version} ${createdAtMs}`;
}
