import { randomUUID } from 'node:crypto';
import { hostname } from 'node:os';
import { withTimeout } from '../../storage/database/in-time.js';
import { ofSubjects, type Problem } from './problem.js';
import type { ReplicaRow, ReplicaStore } from './replica-store.js';

/** Time between two rows of a process, in milliseconds: four of them before it counts as gone. */
const INTERVAL_MS = 30_000;
/** The first one does not add to the work of a start. */
const FIRST_MS = 5_000;
/** How long an end of the service waits for its row to go. */
const CLOSE_LIMIT_MS = 1_000;
/** A rollout takes this long at most, in milliseconds; then different versions are left over. */
const ROLLOUT_MS = 30 * 60_000;

/** Says regularly that this process runs. */
export interface Replica {
  readonly row: ReplicaRow;
  start(): void;
  /** Never rejects. */
  close(): Promise<void>;
}

export function createReplica(options: {
  readonly store: Pick<ReplicaStore, 'saw' | 'remove'>;
  readonly version: string;
  readonly now: () => number;
}): Replica {
  const { store, version, now } = options;
  const row = { id: randomUUID(), name: hostname(), version, startedAtMs: now() };
  let timer: NodeJS.Timeout | undefined;
  let writing: Promise<void> | undefined;
  let isKnown = false;

  // Nothing depends on the row, and what keeps the database from taking it is told elsewhere.
  function write(): void {
    writing ??= store
      .saw(row, now())
      .then(
        () => {
          isKnown = true;
        },
        () => {},
      )
      .finally(() => {
        writing = undefined;
      });
  }

  return {
    row,
    start() {
      timer ??= setTimeout(() => {
        write();
        timer = setInterval(write, INTERVAL_MS).unref();
      }, FIRST_MS).unref();
    },
    async close() {
      // Clears both: Node.js does not tell them apart.
      clearTimeout(timer);
      const gone = async (): Promise<void> => {
        await writing;
        if (isKnown) await store.remove(row.id);
      };
      await withTimeout(gone(), CLOSE_LIMIT_MS).catch(() => {});
    },
  };
}

/** Tells different versions beside each other: a rollout under way, or one that was not completed. */
export function replicaProblems(own: ReplicaRow, running: readonly ReplicaRow[], nowMs: number): Problem[] {
  const others = running.filter(({ id }) => id !== own.id);
  const all = [own, ...others];
  const versions = new Set(all.map(({ version }) => version));
  if (versions.size < 2) return [];
  const latest = Math.max(...all.map(({ startedAtMs }) => startedAtMs));
  return ofSubjects(
    'replica_versions',
    nowMs - latest > ROLLOUT_MS ? 'warning' : 'notice',
    [...all]
      .sort((left, right) => left.startedAtMs - right.startedAtMs)
      .map(({ id, name, version, startedAtMs }) => ({
        type: 'replica',
        id,
        name,
        detail: `version ${version}, started ${new Date(startedAtMs).toISOString()}`,
      })),
    {
      one: (name) => `${name} runs another version`,
      many: (count) => `${count} processes run ${versions.size} versions`,
    },
    'Processes of different versions serve the same database. During a rollout that is as it should be; half an hour after the last start it is a rollout that was not completed.',
  );
}
