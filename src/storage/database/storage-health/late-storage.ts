import type { StorageHealth, StorageReport, StorageState } from './storage-state.js';

/** The health of a storage that is opened after its users are created. */
export interface LateStorage extends StorageHealth {
  /** Monitors this storage from now on. Must be called at most once. */
  attach(storage: StorageHealth): void;
}

/** `problem` returns what prevents the storage from being opened. */
export function createLateStorage(problem: () => StorageReport): LateStorage {
  const first = problem().state;
  const listeners = new Set<(state: StorageState) => void>();
  let current: StorageHealth | null = null;
  let isWatched = false;
  return {
    get state() {
      return current === null ? problem().state : current.state;
    },
    get report() {
      return current === null ? problem() : current.report;
    },
    get transitions() {
      const counts = new Map(current?.transitions);
      counts.set(first, (counts.get(first) ?? 0) + 1);
      if (current !== null) counts.set('OK', (counts.get('OK') ?? 0) + 1);
      return counts;
    },
    onChange(listener) {
      listeners.add(listener);
      current?.onChange(listener);
    },
    watch() {
      isWatched = true;
      current?.watch();
    },
    unreachable: (error) => current?.unreachable(error),
    reachable: () => current?.reachable(),
    attach(storage) {
      current = storage;
      for (const listener of listeners) {
        storage.onChange(listener);
        listener(storage.state);
      }
      if (isWatched) storage.watch();
    },
  };
}
