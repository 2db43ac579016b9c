/** A task that one of several workers has: the one that serves longest, and the next one when that leaves. */
export interface Duty<Worker> {
  /** A worker serves. */
  add(worker: Worker): void;
  /** It does not any more. */
  remove(worker: Worker): void;
}

/** `appoint` is called with the worker that has the task from now on. */
export function createDuty<Worker>(appoint: (worker: Worker) => void): Duty<Worker> {
  const candidates = new Set<Worker>();
  let holder: Worker | undefined;
  const choose = (): void => {
    if (holder !== undefined) return;
    [holder] = candidates;
    if (holder !== undefined) appoint(holder);
  };
  return {
    add(worker) {
      candidates.add(worker);
      choose();
    },
    remove(worker) {
      candidates.delete(worker);
      if (holder !== worker) return;
      holder = undefined;
      choose();
    },
  };
}
