import { nameOfKey } from '../../contract/call/namespace.js';
import { isoOfSeconds } from '../../contract/call/printed.js';
import type { RepeatLog } from '../../contract/runtime/repeat-log.js';
import type { Database } from '../../storage/database/database.js';
import type { Lease } from '../../storage/database/lease.js';
import {
  type NotificationFact,
  type NotifyOptions,
  outboxStatements,
} from '../../storage/database/notifications.js';
import { setOverdue, type WatchedExpectation, watchedExpectations } from './expectation-store.js';

/** Other processes write what they have seen every 30 seconds, and their clocks differ. */
const MARGIN_S = 60;
/** After a longer pause between two looks, silence of agents says nothing: perhaps none of them could be heard. */
const LONGEST_PAUSE_S = 120;

export interface OverdueWatchOptions {
  readonly database: Pick<Database, 'bulk'>;
  /** One process of all watches. */
  readonly lease: Pick<Lease, 'acquire'>;
  readonly outbox: NotifyOptions;
  readonly failures: Pick<RepeatLog, 'failed'>;
  /** Milliseconds since 1970. */
  readonly now: () => number;
}

/**
 * Finds agents that are not heard as expected, and those that are heard again, and tells of each once. The time in which no process
 * watched is never taken for silence of an agent. Never rejects.
 */
export function createOverdueWatch(options: OverdueWatchOptions): () => Promise<void> {
  const { database, lease, outbox, failures, now } = options;
  /** Since when this process watches without a gap, and its last look; in seconds since 1970. */
  let sinceS: number | null = null;
  let lookedS = 0;

  async function change(one: WatchedExpectation, nextS: number | null, nowS: number): Promise<void> {
    await database.bulk.transaction(async (tx) => {
      if (!(await setOverdue(tx, one, nextS))) return;
      await tx.run(...outboxStatements(factOf(one, nowS), outbox));
    });
  }

  async function look(nowS: number): Promise<void> {
    if ((await lease.acquire()) === null) {
      sinceS = null;
      return;
    }
    if (sinceS === null || nowS - lookedS > LONGEST_PAUSE_S || nowS < lookedS) sinceS = nowS;
    lookedS = nowS;
    for (const one of await watchedExpectations(database)) {
      const { intervalS, overdueS } = one;
      // From a wrong clock, which would hide the silence for as long as it is ahead.
      const heardS = one.heardS !== null && one.heardS - nowS > intervalS ? null : one.heardS;
      if (overdueS === null) {
        const fromS = Math.max(heardS ?? 0, one.sinceS, sinceS);
        if (nowS - fromS > intervalS + MARGIN_S) await change(one, nowS, nowS);
      } else if (heardS !== null && nowS - heardS <= intervalS) {
        await change(one, null, nowS);
      }
    }
  }

  return async () => {
    try {
      await look(Math.floor(now() / 1_000));
    } catch (error) {
      sinceS = null;
      failures.failed('overdue agents', 'it is not known now which agents are overdue', error);
    }
  };
}

function factOf(one: WatchedExpectation, nowS: number): NotificationFact {
  const { agentKey, namespace, point, intervalS, heardS, overdueS } = one;
  const name = nameOfKey(agentKey);
  const isOver = overdueS !== null;
  const at = point === '' ? '' : ` at ${point}`;
  const last = heardS === null ? 'never' : `last at ${isoOfSeconds(heardS)}`;
  return {
    namespace,
    kind: isOver ? 'agent.heard_again' : 'agent.overdue',
    object: `agent:${name}`,
    summary: isOver
      ? `Agent ${name} is heard again${at}`
      : `Agent ${name} is not heard${at}: expected every ${intervalS} seconds, heard ${last}`,
    data: {
      agent_name: name,
      ...(point === '' ? {} : { point }),
      interval_seconds: intervalS,
      ...(heardS === null ? {} : { last_seen_at: isoOfSeconds(heardS) }),
    },
    path: `/ui/coverage?name=${encodeURIComponent(name)}`,
    timeMs: nowS * 1_000,
  };
}
