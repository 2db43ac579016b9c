import { type Change, type RecordedChange, recordedChange } from './change-log.js';
import type { Database, DbClient } from './database.js';

/** Result of the work inside a mutation; `change` null when it changed nothing. */
export interface MutationOutcome<T> {
  readonly value: T;
  readonly change: Change | null;
}

/** Runs a mutation. Once the promise is fulfilled, evaluations of this process use its change. */
export type Mutator = <T>(
  caller: { reportRevision(revision: number): void },
  work: (tx: DbClient) => Promise<MutationOutcome<T>>,
) => Promise<T>;

/** Called with each committed change, before its caller resumes. */
export type CommitListener = (change: RecordedChange) => void;

export function createMutator(database: Database, onCommit: CommitListener): Mutator {
  return async (caller, work) => {
    const { value, revision } = await database.mutate(async (tx) => {
      const done = await work(tx);
      return done.change === null
        ? { value: done, changed: false }
        : { value: done, changed: true, change: done.change };
    });
    if (value.change !== null) onCommit(recordedChange(revision, value.change));
    caller.reportRevision(revision);
    return value.value;
  };
}
