import { Prisma } from '../../../../gen/prisma/sqlite/client.js';
import type { BulkDatabase, BulkRow, BulkTransaction } from '../../../storage/database/bulk.js';
import type { NamespaceUse, SweepLimits, SweepReport } from '../store/memory-store.js';

/** Cells that are removed in one transaction: others wait for it. */
const CELLS_AT_ONCE = 200;
/** Entries that are removed in one transaction. */
const ENTRIES_AT_ONCE = 2_000;
/** Most transactions of each kind in one sweep; the next one goes on. */
const MAX_ROUNDS = 500;
/** Of the transactions of sweeps among each other; a number that nothing else locks. */
const SWEEP_LOCK = 6_035_417_203;

type Bulk = Pick<BulkDatabase, 'read' | 'transaction'>;
type Kind = 'sqlite' | 'postgresql';
type Read = (query: Prisma.Sql) => ReturnType<Bulk['read']>;

/** Removes cells and entries, in small transactions. */
export interface Sweeper {
  sweep(limits: SweepLimits): Promise<SweepReport>;
  removeNamespace(namespace: string): Promise<void>;
}

export function createSweeper(bulk: Bulk, kind: Kind): Sweeper {
  const forUpdate = kind === 'postgresql' ? Prisma.sql`FOR UPDATE` : Prisma.empty;
  const read: Read = (query) => bulk.read('search', query);
  /** Where the removal of old entries goes on. */
  let nextEntryUs = 0;

  /** A transaction for which other sweeps wait, so that they cannot lock the same rows in another order. */
  const alone = <T>(work: (tx: BulkTransaction) => Promise<T>): Promise<T> =>
    bulk.transaction(async (tx) => {
      if (kind === 'postgresql')
        await tx.run(Prisma.sql`SELECT pg_advisory_xact_lock(${SWEEP_LOCK}::BIGINT)::TEXT`);
      return work(tx);
    });

  /** Removes those of the cells that still meet the condition. Returns how many. */
  async function remove(found: readonly BulkRow[], condition: Prisma.Sql): Promise<number> {
    let removed = 0;
    for (let start = 0; start < found.length; start += CELLS_AT_ONCE) {
      const chunk = found.slice(start, start + CELLS_AT_ONCE);
      for (const [id, version] of chunk) {
        if (Number(version) > ENTRIES_AT_ONCE) await removeRecord(String(id), condition);
      }
      const ids = chunk.map(([id]) => String(id));
      removed += await alone((tx) => removeChunk(tx, ids, condition));
    }
    return removed;
  }

  async function removeChunk(
    tx: BulkTransaction,
    ids: readonly string[],
    condition: Prisma.Sql,
  ): Promise<number> {
    // Locked first: nothing is appended to them any more when the entries are looked for.
    const [found] = await tx.run(Prisma.sql`
      SELECT "id" FROM "memory_cells" WHERE "id" IN (${Prisma.join(ids)}) AND ${condition} ORDER BY "id" ${forUpdate}`);
    const locked = (found?.rows ?? []).map(([id]) => String(id));
    if (locked.length === 0) return 0;
    const list = Prisma.join(locked);
    await tx.run(
      Prisma.sql`DELETE FROM "memory_entries" WHERE "cell_id" IN (${list})`,
      Prisma.sql`DELETE FROM "memory_cells" WHERE "id" IN (${list})`,
    );
    return locked.length;
  }

  /** Removes the entries of a large cell that its checkpoint contains, before the cell itself. */
  async function removeRecord(id: string, condition: Prisma.Sql): Promise<void> {
    for (;;) {
      const [first] = await read(
        Prisma.sql`SELECT MIN("version") FROM "memory_entries" WHERE "cell_id" = ${id}`,
      );
      const end = Number(first?.[0] ?? 0) + ENTRIES_AT_ONCE;
      const removed = await alone(async (tx) => {
        const [result] = await tx.run(Prisma.sql`
          DELETE FROM "memory_entries" WHERE "cell_id" = ${id} AND "version" < ${end} AND "version" <= (
            SELECT "checkpoint_version" FROM "memory_cells" WHERE "id" = ${id} AND ${condition})`);
        return result?.changes ?? 0;
      });
      if (removed < ENTRIES_AT_ONCE) return;
    }
  }

  async function removeWhere(condition: Prisma.Sql, order: Prisma.Sql, rounds: number): Promise<number> {
    let removed = 0;
    for (let round = 0; round < rounds; round += 1) {
      const found = await read(Prisma.sql`
        SELECT "id", "version" FROM "memory_cells" WHERE ${condition} ORDER BY ${order} LIMIT ${CELLS_AT_ONCE}`);
      removed += await remove(found, condition);
      if (found.length < CELLS_AT_ONCE) break;
    }
    return removed;
  }

  /** From the oldest on, so that what is kept of a cell has no gaps. Entries that no checkpoint contains stay. */
  async function removeEntries(beforeUs: number): Promise<void> {
    for (let round = 0; round < MAX_ROUNDS; round += 1) {
      const [next] = await read(Prisma.sql`
        SELECT "at_us" FROM "memory_entries" WHERE "at_us" >= ${nextEntryUs} AND "at_us" < ${beforeUs}
        ORDER BY "at_us" LIMIT 1 OFFSET ${ENTRIES_AT_ONCE}`);
      const endUs = next === undefined ? beforeUs : Math.max(Number(next[0]), nextEntryUs + 1);
      const startUs = nextEntryUs;
      await alone((tx) =>
        tx.run(Prisma.sql`
          DELETE FROM "memory_entries" WHERE "at_us" >= ${startUs} AND "at_us" < ${endUs} AND "version" <= (
            SELECT "c"."checkpoint_version" FROM "memory_cells" AS "c" WHERE "c"."id" = "memory_entries"."cell_id")`),
      );
      nextEntryUs = next === undefined ? 0 : endUs;
      if (next === undefined) return;
    }
  }

  return {
    async sweep(limits) {
      const expired = await removeWhere(
        Prisma.sql`"expires_at_us" <= ${limits.nowUs}`,
        Prisma.sql`"expires_at_us"`,
        MAX_ROUNDS,
      );
      await removeEntries(limits.entriesBeforeUs);
      await alone((tx) =>
        tx.run(Prisma.sql`DELETE FROM "memory_rules" WHERE "seen_at_us" < ${limits.rulesBeforeUs}`),
      );
      return { expired, uses: await uses(read, kind, limits.agentsFrom) };
    },
    async removeNamespace(namespace) {
      const condition = Prisma.sql`"namespace" = ${namespace}`;
      await removeWhere(condition, Prisma.sql`"id"`, Number.POSITIVE_INFINITY);
      await alone((tx) =>
        tx.run(
          Prisma.sql`DELETE FROM "memory_rules" WHERE ${condition}`,
          Prisma.sql`DELETE FROM "memory_evictions" WHERE ${condition}`,
        ),
      );
    },
  };
}

/** What namespaces use; by agent, if they have at least `agentsFrom` cells. */
async function uses(read: Read, kind: Kind, agentsFrom: number): Promise<NamespaceUse[]> {
  const rows = await read(Prisma.sql`
    SELECT coalesce("c"."namespace", "e"."namespace"), coalesce("c"."cells", 0), coalesce("c"."bytes", 0), coalesce("e"."keys", 0)
    FROM (SELECT "namespace", COUNT(*) AS "cells", SUM("bytes") AS "bytes" FROM "memory_cells" GROUP BY "namespace") AS "c"
    FULL JOIN "memory_evictions" AS "e" ON "e"."namespace" = "c"."namespace" ORDER BY 1`);
  const found: NamespaceUse[] = [];
  for (const [name, count, bytes, evicted] of rows) {
    const [namespace, cells] = [String(name), Number(count)];
    const agents = cells < agentsFrom ? new Map<string, number>() : await cellsByAgent(read, kind, namespace);
    found.push({ namespace, cells, bytes: Number(bytes), agents, evicted: Number(evicted) });
  }
  return found;
}

/** See `keptLabel`. */
async function cellsByAgent(read: Read, kind: Kind, namespace: string): Promise<ReadonlyMap<string, number>> {
  const end =
    kind === 'postgresql' ? Prisma.sql`strpos("label", chr(31))` : Prisma.sql`instr("label", char(31))`;
  const rows = await read(Prisma.sql`
    SELECT substr("label", 1, ${end} - 1) AS "agent", COUNT(*) FROM "memory_cells"
    WHERE "namespace" = ${namespace} AND ${end} > 1 GROUP BY 1`);
  return new Map(rows.map(([agent, count]) => [String(agent), Number(count)]));
}
