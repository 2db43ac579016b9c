import { Prisma } from '../../gen/prisma/sqlite/client.js';
import type { Database } from '../database/database.js';

/** Agents that are remembered as noted; beyond it the notes are made again. */
const MAX_REMEMBERED = 100_000;

/** Notes which agents have clients that ask for their controls, as those do that evaluate controls themselves. */
export interface AskedForControls {
  /** An agent's client has asked. Returns at once; a note that cannot be made is made the next time. */
  note(agentName: string): void;
}

export interface AskedForControlsOptions {
  readonly database: Pick<Database, 'bulk'>;
  /** Milliseconds since the epoch. */
  readonly now: () => number;
}

/** No verdict depends on the notes, so they are no mutations. The first one of an agent is kept. */
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
