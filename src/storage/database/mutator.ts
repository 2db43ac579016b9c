import type { CallContext } from '../../contract/call/handler.js';
import type { Namespace } from '../../contract/call/namespace.js';
import { unknownNamespace } from '../../contract/errors/unknown-namespace.js';
import { type AuditFact, originOfCall } from './audit-log.js';
import { type Change, type RecordedChange, recordedChange } from './change-log.js';
import type { Database, DbClient, Mutation } from './database.js';
import type { Scoped } from './scoped.js';

/** Result of the work inside a mutation: what it changed and its entry of the audit log, or null if nothing. */
export type MutationOutcome<T> =
  | { readonly value: T; readonly change: null }
  | { readonly value: T; readonly change: Change; readonly audit: AuditFact };

/** What a mutation is told of the call that makes it. */
export type MutationCaller = Pick<CallContext, 'principal' | 'address' | 'requestId' | 'reportRevision'>;

type MutationWork<T> = (scope: Scoped) => Promise<MutationOutcome<T>>;

/** Runs a mutation. Once the promise is fulfilled, evaluations of this process use its change. */
export type Mutator = <T>(caller: MutationCaller, work: MutationWork<T>) => Promise<T>;

/** Called with each committed change, before its caller resumes; the caller waits for its promise. */
export type CommitListener = (change: RecordedChange) => void | Promise<void>;

export interface MutatorOptions {
  readonly database: Pick<Database, 'mutate'>;
  /** Milliseconds since 1970. */
  readonly now: () => number;
  readonly onCommit: CommitListener;
}

export function createMutator({ database, now, onCommit }: MutatorOptions): Mutator {
  return async <T>(caller: MutationCaller, work: MutationWork<T>) => {
    const { value: done, revision } = await database.mutate(
      async (tx): Promise<Mutation<MutationOutcome<T>>> => {
        const { namespace } = caller.principal;
        await demandNamespace(tx, namespace);
        const value = await work({ client: tx, namespace });
        if (value.change === null) return { value, changed: false };
        const audit = { ...value.audit, origin: originOfCall(caller, now()) };
        return { value, changed: true, change: value.change, audit };
      },
    );
    if (done.change !== null) await onCommit(recordedChange(revision, done.change));
    caller.reportRevision(revision);
    return done.value;
  };
}

/**
 * Nothing is added to a namespace that was deleted: its callers may not be refused yet, because their process learns of
 * it up to a second later.
 */
async function demandNamespace(tx: DbClient, { name, isDefault }: Namespace): Promise<void> {
  if (isDefault) return;
  const row = await tx.namespace.findUnique({ where: { name, deletedAtMs: null }, select: { name: true } });
  if (row === null) throw unknownNamespace(name);
}
