import { Prisma } from '../../../gen/prisma/sqlite/client.js';
import type { BulkDatabase } from '../../storage/database/bulk.js';

/** A process that serves the database. Times are in milliseconds since 1970, by the clock of that process. */
export interface ReplicaRow {
  /** Random, anew at each start. */
  readonly id: string;
  /** Name of its host. */
  readonly name: string;
  readonly version: string;
  readonly startedAtMs: number;
}

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
    async running(nowMs: number): Promise<ReplicaRow[]> {
      const rows = await read(
        'statistics',
        Prisma.sql`
          SELECT "id", "name", "version", "started_at_ms" FROM "replicas"
          WHERE "seen_at_ms" >= ${BigInt(nowMs - REPLICA_LIMIT_MS)} ORDER BY "name", "id" LIMIT 1000`,
      );
      return rows.map(([id, name, version, startedAtMs]) => ({
        id: String(id),
        name: String(name),
        version: String(version),
        startedAtMs: Number(startedAtMs),
      }));
    },
  };
}

export type ReplicaStore = ReturnType<typeof createReplicaStore>;
