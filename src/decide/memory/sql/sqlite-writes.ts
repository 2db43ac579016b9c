import { Prisma } from '../../../../gen/prisma/sqlite/client.js';
import { expiryOf, keptLabel } from '../store/exchange-rules.js';
import type { CellRequest, EntryAddition, ExchangeRequest } from '../store/memory-store.js';

/** What a cell has after the additions. */
interface Grown {
  version: number;
  generation: number;
  checkpoint: string | null;
  checkpointVersion: number | null;
  expiresAtUs: number;
  usedAtUs: number;
  used: number;
  /** Of the entries after the new checkpoint, and of that; without one, what is added to the size of the cell. */
  bytes: number;
}

/** The statements that append the entries of groups which are applied: their cells are as the process knows them. */
export function writesOf({ cells, groups }: ExchangeRequest, applied: readonly boolean[]): Prisma.Sql[] {
  const grown = new Map<CellRequest, Grown>();
  const entries: unknown[] = [];
  for (const [index, { additions }] of groups.entries()) {
    if (applied[index] !== true) continue;
    for (const addition of additions) {
      const cell = cells[addition.cell] as CellRequest;
      const state = grown.get(cell) ?? newlyGrown(cell, addition);
      grown.set(cell, state);
      grow(state, addition);
      entries.push([cell.id, state.version, addition.entry, addition.atUs]);
    }
  }
  return entries.length === 0 ? [] : [insertEntries(entries), upsertCells(grown)];
}

const newlyGrown = ({ known, generation }: CellRequest, { atUs }: EntryAddition): Grown => ({
  version: known,
  generation: known === 0 ? atUs : generation,
  checkpoint: null,
  checkpointVersion: null,
  expiresAtUs: 0,
  usedAtUs: 0,
  used: 0,
  bytes: 0,
});

function grow(state: Grown, addition: EntryAddition): void {
  const { entry, atUs, used, checkpoint } = addition;
  state.version += 1;
  state.expiresAtUs = Math.max(state.expiresAtUs, expiryOf(addition));
  state.usedAtUs = atUs;
  state.used = used;
  if (checkpoint === null) {
    state.bytes += Buffer.byteLength(entry);
  } else {
    state.checkpoint = checkpoint;
    state.checkpointVersion = state.version;
    state.bytes = Buffer.byteLength(checkpoint);
  }
}

const insertEntries = (entries: readonly unknown[]): Prisma.Sql => Prisma.sql`
  INSERT INTO "memory_entries" ("cell_id", "version", "entry", "at_us")
  SELECT "value" ->> 0, "value" ->> 1, "value" ->> 2, "value" ->> 3 FROM json_each(${JSON.stringify(entries)})`;

function upsertCells(grown: ReadonlyMap<CellRequest, Grown>): Prisma.Sql {
  const rows = [...grown].map(([cell, state]) => [
    cell.id,
    cell.namespace,
    keptLabel(cell),
    state.version,
    state.generation,
    state.checkpoint,
    state.checkpointVersion,
    state.expiresAtUs,
    state.usedAtUs,
    state.used,
    state.bytes,
  ]);
  return Prisma.sql`
    INSERT INTO "memory_cells" ("id", "namespace", "label", "version", "generation", "checkpoint", "checkpoint_version",
      "expires_at_us", "used_at_us", "used", "bytes")
    SELECT "value" ->> 0, "value" ->> 1, "value" ->> 2, "value" ->> 3, "value" ->> 4, "value" ->> 5, coalesce("value" ->> 6, 0),
      "value" ->> 7, "value" ->> 8, "value" ->> 9, "value" ->> 10
    FROM json_each(${JSON.stringify(rows)}) WHERE true
    ON CONFLICT DO UPDATE SET "version" = excluded."version", "generation" = excluded."generation",
      "checkpoint" = coalesce(excluded."checkpoint", "checkpoint"),
      "checkpoint_version" = CASE WHEN excluded."checkpoint" IS NULL THEN "checkpoint_version"
        ELSE excluded."checkpoint_version" END,
      "expires_at_us" = max("expires_at_us", excluded."expires_at_us"),
      "used_at_us" = excluded."used_at_us", "used" = excluded."used",
      "bytes" = excluded."bytes" + CASE WHEN excluded."checkpoint" IS NULL THEN "bytes" ELSE 0 END`;
}
