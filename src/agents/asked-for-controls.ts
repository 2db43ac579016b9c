import { Prisma } from '../../gen/prisma/sqlite/client.js';
import type { Database } from '../database/database.js';

/** Agents cached as noted; beyond it notes are repeated. */
const MAX_REMEMBERED = 100_000;

/** Notes agents whose clients request their controls, as clients that evaluate controls themselves do. */
export interface AskedForControls {
  /** Notes a request of an agent's client. Returns immediately; a note that fails is repeated next time. */
  note(agentName: string): void;
}

export interface AskedForControlsOptions {
  readonly database: Pick<Database, 'bulk'>;
  /** Milliseconds since the epoch. */
  readonly now: () => number;
}

/** No verdict depends on the notes, so they are not mutations. The first note of an agent is kept. */
export function createAskedForControls({ database, now }: AskedForControlsOptions): AskedForControls {
  const noted = new Set<string>();
  return {
    note(agentName) {
      if (noted.has(agentName)) return;
      if (noted.size >= MAX_REMEMBERED) noted.clear();
      noted.add(agentName);
      const update = Prisma.sql`
        UPDATE "agents" SET "controls_asked_at_ms" = ${now()}
        WHERE "name" = ${agentName} AND "controls_asked_at_ms" IS NULL`;
      database.bulk.transaction((tx) => tx.run(update)).catch(() => noted.delete(agentName));
    },
  };
}
