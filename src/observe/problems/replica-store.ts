import { Prisma } from '../../../gen/prisma/sqlite/client.js';
import type { BulkDatabase } from '../../storage/database/bulk.js';
import { columns, number, type ReadRow, select, text } from '../../storage/database/rows.js';

const REPLICA = columns({
  /** Random, anew at each start. */
  id: text,
  /** Name of its host. */
  name: text,
  version: text,
  startedAtMs: number,
});

/** A process that serves the database. Times are in milliseconds since 1970, by the clock of that process. */
export type ReplicaRow = ReadRow<typeof REPLICA>;

/** A process that has not said that it runs for this long is gone, in milliseconds. */
export const REPLICA_LIMIT_MS = 2 * 60_000;

/** The processes that serve the database. */
export function createReplicaStore({ read, transaction }: Pick<BulkDatabase, 'read' | 'transaction'>) {
  return {
    /** Says that a process runs, and forgets those that are gone. */
    async saw({ id, name, version, startedAtMs }: ReplicaRow, nowMs: number): Promise<void> {
      await transaction((tx) =>
        tx.run(
          Prisma.sql`
            INSERT INTO "replicas" ("id", "name", "version", "started_at_ms", "seen_at_ms")
            VALUES (${id}, ${name}, ${version}, ${BigInt(startedAtMs)}, ${BigInt(nowMs)})
            ON CONFLICT ("id") DO UPDATE SET "seen_at_ms" = excluded."seen_at_ms"`,
          Prisma.sql`DELETE FROM "replicas" WHERE "seen_at_ms" < ${BigInt(nowMs - REPLICA_LIMIT_MS)}`,
        ),
      );
    },

    /** Forgets a process that ends. */
    async remove(id: string): Promise<void> {
      await transaction((tx) => tx.run(Prisma.sql`DELETE FROM "replicas" WHERE "id" = ${id}`));
    },

    /** The processes that run, by name and id. */
    running: (nowMs: number): Promise<ReplicaRow[]> =>
      select(REPLICA, { read }, 'statistics')`
        FROM "replicas" WHERE "seen_at_ms" >= ${BigInt(nowMs - REPLICA_LIMIT_MS)} ORDER BY "name", "id" LIMIT 1000`,
  };
}

export type ReplicaStore = ReturnType<typeof createReplicaStore>;
