/** One unit length of rollups, in seconds, and how long rollups of it are needed. */
export interface RollupLevel {
  readonly unitS: number;
  readonly keptS: number;
}

/** In seconds. */
export const MINUTE = 60;
export const HOUR = 60 * MINUTE;
export const DAY = 24 * HOUR;

/**
 * Finest first; each unit divides the next one. Each level is kept longer than any window read from it, so
 * that clocks of several processes may differ. Days only avoid reading the hours inside long windows.
 */
export const ROLLUP_LEVELS: readonly RollupLevel[] = [
  { unitS: 1, keptS: 2 * HOUR },
  { unitS: MINUTE, keptS: 8 * DAY },
  { unitS: HOUR, keptS: 400 * DAY },
  { unitS: DAY, keptS: 400 * DAY },
];

const LONGEST_KEPT_S = Math.max(...ROLLUP_LEVELS.map(({ keptS }) => keptS));

/** Events before this second are in no rollup. */
export function oldestRolledS(nowS: number): number {
  return nowS - LONGEST_KEPT_S;
}
