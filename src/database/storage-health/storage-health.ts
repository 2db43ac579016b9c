import type { StorageProblem, StorageState } from './storage-state.js';

/** Description of a storage problem. */
export interface StorageReport {
  readonly state: StorageProblem;
  readonly meaning: string;
  readonly advice: string;
}

/** Whether writes are kept, as seen by other parts. */
export interface StorageHealth {
  readonly state: StorageState;
  /** Null while the state is OK. */
  readonly report: StorageReport | null;
  /** Number of times each state was entered. */
  readonly transitions: ReadonlyMap<StorageState, number>;
  /** Calls `listener` after each change of the state. */
  onChange(listener: (state: StorageState) => void): void;
  /** Starts checking the storage at every interval. */
  watch(): void;
  /** Reports that the database did not answer a periodic query. */
  unreachable(error: unknown): void;
  /** Reports that the database answers again. */
  reachable(): void;
}
