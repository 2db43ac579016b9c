import { Prisma } from '../../../gen/prisma/sqlite/client.js';
import type { Database } from '../../storage/database/database.js';
import { columns, number, type ReadRow, select, text } from '../../storage/database/rows.js';

const ENDED = columns({
  id: text,
  /** When its token would have expired. */
  expiresAtMs: number,
});

/** A session that was ended. Times are in milliseconds since 1970. */
export type EndedSession = ReadRow<typeof ENDED>;

/** The sessions that were ended in any process, until their tokens expire. */
export interface EndedSessionStore {
  /** Records the end of a session, and forgets those whose tokens have expired. */
  add(session: EndedSession, nowMs: number): Promise<void>;
  /** Sessions that were ended at a time or later, by the clocks of the processes that ended them. */
  endedSince(timeMs: number): Promise<EndedSession[]>;
}

/** Rows of expired sessions are kept this long, in milliseconds: the clock of another process may be late. */
const CLOCK_MARGIN_MS = 24 * 60 * 60 * 1_000;

export function createEndedSessionStore(bulk: Database['bulk']): EndedSessionStore {
  return {
    async add({ id, expiresAtMs }, nowMs) {
      await bulk.transaction((tx) =>
        tx.run(
          Prisma.sql`
            INSERT INTO "ended_sessions" ("id", "ended_at_ms", "expires_at_ms")
            VALUES (${id}, ${BigInt(nowMs)}, ${BigInt(expiresAtMs)}) ON CONFLICT ("id") DO NOTHING`,
          Prisma.sql`DELETE FROM "ended_sessions" WHERE "expires_at_ms" < ${BigInt(nowMs - CLOCK_MARGIN_MS)}`,
        ),
      );
    },
    endedSince: (timeMs) =>
      select(ENDED, bulk)`FROM "ended_sessions" WHERE "ended_at_ms" >= ${BigInt(timeMs)}`,
  };
}
