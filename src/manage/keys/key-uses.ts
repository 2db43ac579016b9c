import { Prisma } from '../../../gen/prisma/sqlite/client.js';
import { createBatchWriter } from '../../contract/runtime/batch-writer.js';
import type { RepeatLog } from '../../contract/runtime/repeat-log.js';
import type { Database } from '../../storage/database/database.js';
import { portionsOf } from '../../storage/database/in-portions.js';

export interface KeyUsesOptions {
  readonly database: Pick<Database, 'bulk'>;
  /** The ids of the keys that were used since the last call. */
  readonly takeUsed: () => readonly number[];
  readonly failures: Pick<RepeatLog, 'failed'>;
  /** Milliseconds since 1970. */
  readonly now: () => number;
}

/** Writes when keys were last used. */
export interface KeyUses {
  start(): void;
  /** Writes what was used since the last time. Never rejects: what cannot be written is kept for the next time. */
  write(): Promise<void>;
  /** Writes for the last time. */
  close(): Promise<void>;
}

/** Between two writes, in milliseconds: uses are exact to this. */
const WRITE_MS = 60_000;
/** Ids in one statement: a database takes a limited number of values. */
const MAX_AT_ONCE = 1_000;

/** Collects uses in memory, and writes them each minute in one statement, which no call waits for. */
export function createKeyUses({ database, takeUsed, failures, now }: KeyUsesOptions): KeyUses {
  const { start, flushLatest, close } = createBatchWriter({
    // In one order in all processes: PostgreSQL locks rows as they are written.
    take: () =>
      portionsOf(
        takeUsed().toSorted((left, right) => left - right),
        MAX_AT_ONCE,
      ),
    async store(ids) {
      await database.bulk.transaction((tx) => tx.run(usedAt(ids, Math.floor(now() / 1000))));
    },
    failed: (error) => failures.failed('key uses', 'the last uses of keys cannot be written yet', error),
    intervalMs: WRITE_MS,
  });
  return { start, write: flushLatest, close };
}

/** The clock of another process may be ahead: a last use never becomes earlier. */
function usedAt(ids: readonly number[], seconds: number): Prisma.Sql {
  return Prisma.sql`
    UPDATE "api_keys" SET "last_used_s" = ${BigInt(seconds)}
    WHERE "id" IN (${Prisma.join([...ids])}) AND ("last_used_s" IS NULL OR "last_used_s" < ${BigInt(seconds)})`;
}
