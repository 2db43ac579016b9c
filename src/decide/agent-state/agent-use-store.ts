import { Prisma } from '../../../gen/prisma/sqlite/client.js';
import type { AgentKey } from '../../contract/call/namespace.js';
import type { Database } from '../../storage/database/database.js';
import { portionsOf } from '../../storage/database/in-portions.js';

/** Rows written by one transaction, which blocks other writers of a SQLite file for some milliseconds. */
const MAX_WRITTEN_AT_ONCE = 500;

/** When agents were used last. No verdict depends on it. */
export interface AgentUseStore {
  /** Records that agents were used at a time, in milliseconds since 1970. */
  record(agents: readonly AgentKey[], usedAtMs: number): Promise<void>;
  /** Agents that exist, those used last first. */
  lastUsed(limit: number): Promise<AgentKey[]>;
  /** Forgets uses before a time, in milliseconds since 1970. */
  forgetBefore(timeMs: number): Promise<void>;
}

export function createAgentUseStore(bulk: Database['bulk']): AgentUseStore {
  return {
    async record(agents, usedAtMs) {
      // In one order in all processes: PostgreSQL locks rows as they are written.
      const names = [...agents].sort();
      for (const some of portionsOf(names, MAX_WRITTEN_AT_ONCE)) {
        const rows = some.map((name) => Prisma.sql`(${name}, ${BigInt(usedAtMs)})`);
        await bulk.transaction((tx) =>
          tx.run(Prisma.sql`
            INSERT INTO "agent_uses" ("agent_name", "used_at_ms") VALUES ${Prisma.join(rows)}
            ON CONFLICT ("agent_name") DO UPDATE SET "used_at_ms" = excluded."used_at_ms"`),
        );
      }
    },
    async lastUsed(limit) {
      const rows = await bulk.read(
        'search',
        Prisma.sql`
          SELECT u."agent_name" FROM "agent_uses" u JOIN "agents" a ON a."name" = u."agent_name"
          ORDER BY u."used_at_ms" DESC, u."agent_name" LIMIT ${limit}`,
      );
      return rows.map(([key]) => String(key) as AgentKey);
    },
    async forgetBefore(timeMs) {
      await bulk.transaction((tx) =>
        tx.run(Prisma.sql`DELETE FROM "agent_uses" WHERE "used_at_ms" < ${BigInt(timeMs)}`),
      );
    },
  };
}
