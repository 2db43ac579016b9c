import { ServiceError } from '../../src/contract/errors/service-error.js';
import type { ControlProgram, Verdict } from '../../src/core/types.js';
import type { News, RecordedChange } from '../../src/database/change-log.js';
import type { ChangeSource } from '../../src/database/change-source.js';
import type { Progress } from '../../src/decisions/loaded-program.js';
import { type ChangeFollower, RevisionWatch } from '../../src/decisions/revision-watch.js';
import { type LoadResult, Snapshot } from '../../src/decisions/snapshot.js';

/** A change of agents, of controls, or of both. */
export function change(
  revision: number,
  { agents = [], controls = [] }: { agents?: readonly string[] | 'any'; controls?: readonly number[] },
): RecordedChange {
  return { revision, agents, controls };
}

/** A program of some controls that never decides. */
export function programOf(controlIds: readonly number[]): ControlProgram {
  return {
    controlIds,
    sizeBytes: 1_000,
    sharedParts: [],
    evaluate: () => {
      throw new Error('not evaluated here');
    },
  };
}

/** A verdict that says nothing. */
export const SAFE: Verdict = {
  is_safe: true,
  confidence: 1,
  reason: null,
  matches: [],
  errors: [],
  non_matches: [],
};

/** A database of programs whose loads end when the test says so. Its revision counts up with each change. */
export function fakeStore() {
  const agents = new Map<string, readonly number[]>();
  const open: { finish: () => void; fail: () => void }[] = [];
  const demanded: number[] = [];
  let file: { revision: number; atMs: number } | null = null;
  let revision = 0;
  let loads = 0;
  let most = 0;
  return {
    get revision() {
      return revision;
    },
    set revision(next: number) {
      revision = next;
    },
    /** Stores the controls of an agent, under a new revision. */
    store(agentName: string, ...controlIds: number[]): number {
      agents.set(agentName, controlIds);
      revision += 1;
      return revision;
    },
    /** Makes loads those of a last known good file, of a revision, until it is called without one. */
    keep(kept: { revision: number; atMs: number } | null): void {
      file = kept;
    },
    /** The revision that each load demanded. */
    demanded,
    load: (agentName: string, needed: number): Promise<LoadResult> => {
      loads += 1;
      demanded.push(needed);
      const controlIds = agents.get(agentName);
      const program = controlIds === undefined ? null : programOf(controlIds);
      const read =
        file === null ? { revision, program } : { revision: file.revision, program, keptAtMs: file.atMs };
      return new Promise((resolve, reject) => {
        open.push({
          finish: () => resolve(read),
          fail: () => reject(new ServiceError('SERVICE_UNAVAILABLE', { detail: 'no database' })),
        });
        most = Math.max(most, open.length);
      });
    },
    loads: () => loads,
    mostAtOnce: () => most,
    /** Ends every load, also those that begin because of it. */
    async settle(how: 'finish' | 'fail' = 'finish'): Promise<void> {
      do {
        for (const entry of open.splice(0)) entry[how]();
        await new Promise((resolve) => setImmediate(resolve));
      } while (open.length > 0);
    },
  };
}

export type FakeStore = ReturnType<typeof fakeStore>;

/** A snapshot over a store, with a clock of its own. */
export function snapshotOf(store: FakeStore, maxAgents = 100) {
  let time = 0;
  const snapshot = new Snapshot({ load: store.load, maxAgents, maxBytes: 10_000_000, now: () => time });
  return {
    snapshot,
    now: () => time,
    advance: (ms: number) => {
      time += ms;
    },
    async loaded(...agentNames: string[]): Promise<void> {
      const all = Promise.all(agentNames.map((agentName) => snapshot.programOf(agentName)));
      await store.settle();
      await all;
    },
    /** The controls of an agent that decide now, and the revision they are of. */
    decidesBy(
      agentName: string,
      minRevision = 0,
    ): { controls: readonly number[]; revision: number } | 'loading' {
      const found = snapshot.programOf(agentName, minRevision);
      if (!(found instanceof Promise)) {
        return { controls: found.program.controlIds, revision: found.revision(snapshot.progress) };
      }
      found.catch(() => {});
      return 'loading';
    },
  };
}

/** A change source of which the test says what it tells, and when it fails. */
export function fakeSource() {
  const log: RecordedChange[] = [];
  const state = {
    revision: 0,
    broken: false,
    reads: 0,
    /** Ends a read; null lets reads end at once. */
    hold: null as Promise<void> | null,
    hint: (_revision?: number): void => {},
    closed: false,
  };
  const source: ChangeSource = {
    pollMs: 60_000,
    async read(known): Promise<News> {
      state.reads += 1;
      const { revision } = state;
      await state.hold;
      if (state.broken) throw new Error('connect ECONNREFUSED');
      const changes = log.filter((one) => one.revision > known && one.revision <= revision);
      return { revision, changes: changes.length === revision - known ? changes : null };
    },
    listen(onHint) {
      state.hint = onHint;
    },
    async close() {
      state.closed = true;
    },
  };
  return {
    source,
    state,
    /** Another process commits a change; without a log entry, anything may have changed. */
    commit(what?: Parameters<typeof change>[1]): number {
      state.revision += 1;
      if (what !== undefined) log.push(change(state.revision, what));
      return state.revision;
    },
  };
}

/** A watch over a snapshot and a source. */
export async function watchOf(
  snapshot: Snapshot,
  source: ChangeSource,
  {
    now = () => 0,
    minRevisionWaitMs = 1_000,
    outrun = async () => {},
    kept = null,
    followers = [],
  }: {
    now?: () => number;
    minRevisionWaitMs?: number;
    outrun?: (told: number) => Promise<void>;
    kept?: Progress | null;
    followers?: readonly ChangeFollower[];
  } = {},
) {
  const states: boolean[] = [];
  const watch = new RevisionWatch({
    snapshot,
    source,
    minRevisionWaitMs,
    now,
    outrun,
    followers,
    onDatabaseState: (up) => states.push(up),
  });
  await watch.start(kept);
  return { watch, states };
}
