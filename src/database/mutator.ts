import type { Database, DbClient } from './database.js';

/** What a mutation changed, as far as it can change a verdict. */
export interface Change {
  /** Agents whose registration or links changed. */
  readonly agents?: readonly string[];
  /** Controls that were changed or deleted. */
  readonly controls?: readonly number[];
}

/** Result of the work inside a mutation; `change` null when it changed nothing. */
export interface Mutation<T> {
  readonly value: T;
  readonly change: Change | null;
}

/** Runs a mutation. Whoever evaluates next in this process sees its change once the promise is fulfilled. */
export type Mutator = <T>(
  caller: { reportRevision(revision: number): void },
  work: (tx: DbClient) => Promise<Mutation<T>>,
) => Promise<T>;

/** Told of each committed change before its caller is. */
export type CommitListener = (change: Change, revision: number) => void;

export function createMutator(database: Database, onCommit: CommitListener): Mutator {
  return async (caller, work) => {
    const { value, revision } = await database.mutate(async (tx) => {
      const done = await work(tx);
      return { value: done, changed: done.change !== null };
    });
    if (value.change !== null) onCommit(value.change, revision);
    caller.reportRevision(revision);
    return value.value;
  };
}
