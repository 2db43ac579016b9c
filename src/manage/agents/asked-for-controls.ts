import { Prisma } from '../../../gen/prisma/sqlite/client.js';
import type { AgentKey } from '../../contract/call/namespace.js';
import { BoundedMap } from '../../contract/runtime/bounded-map.js';
import type { Database } from '../../storage/database/database.js';

/** Agents cached as noted; beyond it notes are repeated. */
const MAX_REMEMBERED = 100_000;
/** How long a note is not repeated: another process may have deleted the agent, and its client registered it again. */
const REMEMBERED_MS = 3_600_000;

/** Notes agents whose clients request their controls, as clients that evaluate controls themselves do. */
export interface AskedForControls {
  /** Notes a request of an agent's client. Returns immediately; a note that fails is repeated next time. */
  note(agent: AgentKey): void;
  /** The agent was deleted: the next one with its name is noted again. */
  forget(agent: AgentKey): void;
}

export interface AskedForControlsOptions {
  readonly database: Pick<Database, 'bulk'>;
  /** Milliseconds since the epoch. */
  readonly now: () => number;
}

/** No verdict depends on the notes, so they are not mutations. The first note of an agent is kept. */
export function createAskedForControls({ database, now }: AskedForControlsOptions): AskedForControls {
  const notedAtMs = new BoundedMap<AgentKey, number>({ entries: MAX_REMEMBERED });
  return {
    note(agent) {
      const nowMs = now();
      const before = notedAtMs.get(agent);
      if (before !== undefined && Math.abs(nowMs - before) < REMEMBERED_MS) return;
      notedAtMs.set(agent, nowMs);
      const update = Prisma.sql`
        UPDATE "agents" SET "controls_asked_at_ms" = ${nowMs}
        WHERE "name" = ${agent} AND "controls_asked_at_ms" IS NULL`;
      database.bulk.transaction((tx) => tx.run(update)).catch(() => notedAtMs.delete(agent));
    },
    forget(agent) {
      notedAtMs.delete(agent);
    },
  };
}
