import { setTimeout as sleep } from 'node:timers/promises';
import { Prisma } from '../../../../gen/prisma/sqlite/client.js';
import { createRegularLook } from '../../../contract/runtime/regular-look.js';
import type { RepeatLog } from '../../../contract/runtime/repeat-log.js';
import type { Database } from '../../../storage/database/database.js';
import { HOUR } from '../store/rollup-levels.js';
import { COUNT_LEVELS, WRITERS_KEPT_S } from './count-store.js';

const INTERVAL_MS = 10 * 60_000;
const FIRST_LOOK_MS = 5_000;
/** Rows of one transaction. */
const BATCH = 2_000;
/** The longest pause between two batches, as long as the batch: other writers get half of the time. */
const MAX_REST_MS = 1_000;
/** For so long others leave the work to a process that has begun it, in seconds; each batch renews it. */
const CLAIM_S = 60;
/** Clocks of several processes differ. */
const MARGIN_S = HOUR;

export interface CountPrunerOptions {
  readonly bulk: Pick<Database['bulk'], 'read' | 'transaction'>;
  readonly failures: Pick<RepeatLog, 'failed'>;
  /** Milliseconds since 1970. */
  readonly now: () => number;
}

/** Deletes counts that no range reads any more, and writers that are gone. The retention of events does not matter. */
export interface CountPruner {
  start(): void;
  /** Deletes them now, even beside other processes. Resolves with the number of rows. */
  prune(): Promise<number>;
  /** Never rejects. */
  close(): Promise<void>;
}

export function createCountPruner({ bulk, failures, now }: CountPrunerOptions): CountPruner {
  const nowS = () => Math.floor(now() / 1000);

  /** What is too old, as a table and its key. */
  function conditions(): { table: Prisma.Sql; key: Prisma.Sql; where: Prisma.Sql }[] {
    const counts = COUNT_LEVELS.map(({ unitS, keptS }) => ({
      table: Prisma.raw('"evaluation_counts"'),
      key: Prisma.raw('"agent_name", "unit_s", "start_s"'),
      where: Prisma.sql`"unit_s" = ${unitS} AND "start_s" < ${BigInt(nowS() - keptS - MARGIN_S)}`,
    }));
    const writers = {
      table: Prisma.raw('"evaluation_count_writers"'),
      key: Prisma.raw('"writer_id"'),
      where: Prisma.sql`"written_at_s" < ${BigInt(nowS() - WRITERS_KEPT_S)}`,
    };
    return [...counts, writers];
  }

  async function prune(): Promise<number> {
    let all = 0;
    for (const { table, key, where } of conditions()) {
      while (!regular.isClosed) {
        const startMs = performance.now();
        const [, deleted] = await bulk.transaction((tx) =>
          tx.run(
            Prisma.sql`UPDATE "evaluation_counting" SET "pruning_at_s" = ${BigInt(nowS())} WHERE "id" = 1`,
            Prisma.sql`
              DELETE FROM ${table} WHERE (${key}) IN (SELECT ${key} FROM ${table} WHERE ${where} LIMIT ${BATCH})`,
          ),
        );
        const rows = deleted?.changes ?? 0;
        all += rows;
        if (rows < BATCH) break;
        await sleep(Math.min(MAX_REST_MS, performance.now() - startMs));
      }
    }
    return all;
  }

  /** Usually there is nothing to delete, and then nothing is written. */
  async function isDue(): Promise<boolean> {
    const exist = conditions().map(
      ({ table, where }) => Prisma.sql`EXISTS (SELECT 1 FROM ${table} WHERE ${where})`,
    );
    const rows = await bulk.read('search', Prisma.sql`SELECT 1 WHERE ${Prisma.join(exist, ' OR ')}`);
    return rows.length > 0;
  }

  async function claim(): Promise<boolean> {
    const [claimed] = await bulk.transaction((tx) =>
      tx.run(Prisma.sql`
        UPDATE "evaluation_counting" SET "pruning_at_s" = ${BigInt(nowS())}
        WHERE "id" = 1 AND "pruning_at_s" < ${BigInt(nowS() - CLAIM_S)} RETURNING "id"`),
    );
    return (claimed?.rows.length ?? 0) > 0;
  }

  async function look(): Promise<void> {
    try {
      if ((await isDue()) && !regular.isClosed && (await claim())) await prune();
    } catch (error) {
      failures.failed('pruning counts', 'old counts of evaluations could not be pruned now', error);
    }
  }

  const regular = createRegularLook({ firstMs: FIRST_LOOK_MS, intervalMs: INTERVAL_MS, look });
  return { start: regular.start, prune, close: regular.close };
}
