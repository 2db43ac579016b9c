import { OutcomeSums } from './outcome-sums.js';

/** Why counts were not stored: too many waited; the database can never take them; or the process ended before. */
export type CountLoss = 'queue_full' | 'refused' | 'shutdown';

/** What is known of the counts of evaluations, in one process. Read when metrics are collected. */
export interface CountMeter {
  /** All evaluations since the start: those that are stored, that wait, and that are lost. */
  totals: () => OutcomeSums;
  /** Evaluations whose counts wait in memory to be stored. */
  waiting: () => number;
  /** Evaluations of more agents than are counted at a time: lost, too. */
  beyond: () => number;
  /** Evaluations whose counts were lost. */
  readonly lost: Record<CountLoss, number>;
  /** Octets of counts on disk, which wait for the database. */
  spooledOctets: () => number;
}

export function createCountMeter(): CountMeter {
  return {
    totals: () => new OutcomeSums(),
    waiting: () => 0,
    beyond: () => 0,
    lost: { queue_full: 0, refused: 0, shutdown: 0 },
    spooledOctets: () => 0,
  };
}
