import type { RebuildResult } from '../../../src/observe/events/store/event-store.js';
import { DAY, HOUR, oldestRolledS } from '../../../src/observe/events/store/rollup-levels.js';
import type { ClickHouseConnection } from './clickhouse-connection.js';
import { existsAt } from './event-search.js';
import type { Leases } from './lease.js';
import { type Correction, dayCorrection, hourCorrection, type RollupSpan } from './rollup-statements.js';
import type { WriteTurns } from './write-turns.js';

/** Events that are counted in one turn, in which no process writes: some tenths of a second. */
const EVENTS_PER_TURN = 2_000_000;

export interface RebuildOptions {
  readonly connection: ClickHouseConnection;
  readonly leases: Pick<Leases, 'state'>;
  readonly turns: WriteTurns;
  /** Milliseconds since 1970. */
  readonly now: () => number;
}

/**
 * Reconciles the rollups with the stored events, in parts, between which further events are stored. Rollups of events
 * that were deleted are unchanged.
 */
export async function rebuildRollups({
  connection,
  leases,
  turns,
  now,
}: RebuildOptions): Promise<RebuildResult> {
  const nowS = Math.floor(now() / 1_000);
  let corrected = 0;

  /** Adds what is missing, while no process writes. */
  async function correct(correction: (fromS: number) => Correction, span: RollupSpan): Promise<void> {
    corrected += await turns.run(async ({ batch, state, insert }) => {
      // Events may have been deleted since the rebuild began.
      const fromS = Math.max(span.fromS, firstWhole(state.prunedBeforeUs, state.prunedUpTo));
      if (fromS >= span.toS) return 0;
      const { query, statement } = correction(fromS);
      const [row] = await connection.read('search', { text: `SELECT count() FROM (${query})` });
      const count = Number(row?.[0] ?? 0);
      if (count > 0) await insert({ text: statement, token: `${batch}-correction` });
      return count;
    });
  }

  const log = await leases.state();
  const firstS = Math.max(oldestRolledS(nowS), firstWhole(log.prunedBeforeUs, log.prunedUpTo));
  const fromS = Math.ceil(firstS / HOUR) * HOUR;
  const rows = await connection.read('search', {
    text: `
      SELECT hour, sum(n) FROM (
        SELECT intDiv(time_us, ${HOUR}000000) * ${HOUR} AS hour, count() AS n FROM events
        WHERE time_us >= ${fromS}000000 AND ${existsAt(log) ?? '1'} GROUP BY hour
        UNION ALL
        SELECT start_s - positiveModulo(start_s, ${HOUR}) AS hour, 0 AS n FROM event_rollups
        WHERE unit_s <= ${HOUR} AND start_s >= ${fromS} GROUP BY hour)
      GROUP BY hour ORDER BY hour`,
  });
  const hours = rows.map(([hour, events]) => ({ startS: Number(hour), events: Number(events) }));
  for (const span of spansOf(hours)) {
    await correct((at) => hourCorrection({ fromS: at, toS: span.toS }, nowS), span);
  }
  const [first, last] = [hours[0]?.startS, hours.at(-1)?.startS];
  if (first !== undefined && last !== undefined) {
    const span = { fromS: Math.floor(first / DAY) * DAY, toS: Math.floor(last / DAY) * DAY + DAY };
    // Of the sums of hours, so that deleted events are in both.
    await correct(() => dayCorrection(span, nowS), span);
  }
  return { hours: hours.length, corrected };
}

const HOUR_US = BigInt(HOUR) * 1_000_000n;

/** The first hour whose events all exist. */
function firstWhole(prunedBeforeUs: bigint, prunedUpTo: bigint): number {
  if (prunedUpTo === 0n) return Number.MIN_SAFE_INTEGER;
  const hours = prunedBeforeUs / HOUR_US;
  return Number(hours * HOUR_US < prunedBeforeUs ? hours + 1n : hours) * HOUR;
}

/** Spans of consecutive hours with few enough events, at least one hour each. */
function spansOf(hours: readonly { readonly startS: number; readonly events: number }[]): RollupSpan[] {
  const spans: RollupSpan[] = [];
  let open: { fromS: number; toS: number; events: number } | undefined;
  for (const { startS, events } of hours) {
    if (open !== undefined && open.events + events <= EVENTS_PER_TURN) {
      open.toS = startS + HOUR;
      open.events += events;
      continue;
    }
    if (open !== undefined) spans.push(open);
    open = { fromS: startS, toS: startS + HOUR, events };
  }
  return open === undefined ? spans : [...spans, open];
}
