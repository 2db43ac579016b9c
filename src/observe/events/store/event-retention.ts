import { DAY, HOUR, ROLLUP_LEVELS, type RollupLevel } from './rollup-levels.js';

/**
 * Additional retention of rollups, in seconds. Clocks of several processes differ, and a rebuild uses the
 * time of its start: rows that it expects must still exist.
 */
const ROLLUP_MARGIN_S = HOUR;

const US_PER_S = 1_000_000n;

/** What to delete: everything older than these times. */
export interface PruningLimits {
  /** Microseconds since 1970; an event of exactly this time stays. Null keeps all events. */
  readonly eventsBeforeUs: bigint | null;
  /** Seconds since 1970, by level; a rollup that starts exactly then stays. */
  readonly rollups: readonly { readonly unitS: number; readonly beforeS: number }[];
}

/** Numbers of rows. */
export interface PruningCounts {
  readonly events: number;
  readonly rollups: number;
}

/** The oldest existing rows. */
export interface Oldest {
  /** Microseconds since 1970; null when there is no event. */
  readonly eventUs: bigint | null;
  /** Start of the first rollup in seconds since 1970, by length of the unit. */
  readonly rollupS: ReadonlyMap<number, number>;
}

/** Deletes one batch in a transaction of its own. Returns the number of deleted rows; 0 when none are left. */
export type DeleteBatch = () => Promise<number>;

/**
 * Deletes what is older than a limit. Rollups outlive their events, so that statistics still include events that
 * are gone.
 */
export interface EventRetention {
  oldest(): Promise<Oldest>;
  /** Counts what the limits would delete. */
  count(limits: PruningLimits): Promise<PruningCounts>;
  /** Claims the work for some seconds, for which each batch renews it. False when another process has it. */
  claim(): Promise<boolean>;
  /** Deletes events before a time, in microseconds since 1970. Readers by position are told (`prunedPosition`). */
  eventBatches(beforeUs: bigint): DeleteBatch;
  /** Deletes rollups of one level. */
  rollupBatches(level: PruningLimits['rollups'][number]): DeleteBatch;
}

/** Limits as of now. `retentionDays` 0 keeps events forever; rollups are kept while statistics read them. */
export function pruningLimits(nowMs: number, retentionDays: number): PruningLimits {
  const nowS = Math.floor(nowMs / 1000);
  return {
    eventsBeforeUs: retentionDays === 0 ? null : BigInt(nowMs) * 1_000n - daysInUs(retentionDays),
    rollups: ROLLUP_LEVELS.map(({ unitS, keptS }: RollupLevel) => ({
      unitS,
      beforeS: nowS - keptS - ROLLUP_MARGIN_S,
    })),
  };
}

function daysInUs(days: number): bigint {
  return BigInt(days * DAY) * US_PER_S;
}

/** Whether the limits would delete anything. */
export function isDue({ eventsBeforeUs, rollups }: PruningLimits, { eventUs, rollupS }: Oldest): boolean {
  if (eventsBeforeUs !== null && eventUs !== null && eventUs < eventsBeforeUs) return true;
  return rollups.some(({ unitS, beforeS }) => (rollupS.get(unitS) ?? beforeS) < beforeS);
}
