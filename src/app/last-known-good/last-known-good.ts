import type { FactsLog } from '../../contract/runtime/repeat-log.js';
import type { ControlLinksStore } from '../../decide/agent-state/control-links-store.js';
import type { Progress } from '../../decide/decisions/loaded-program.js';
import type { ChangeFollower } from '../../decide/decisions/revision-watch.js';
import type { StateReader } from '../../decide/decisions/state-reader.js';
import type { Database } from '../../storage/database/database.js';
import { Keeper, type KeeperMeter } from './keeper.js';
import { ageMs, KeptAgents, NO_ACCESS } from './kept-agents.js';
import type { KeptAccess } from './kept-state.js';
import { KnownChanges } from './known-changes.js';
import type { StartedDatabase } from './start-database.js';
import { createDatabaseReader, createStateReader } from './state-reader.js';

export interface LastKnownGoodOptions {
  readonly started: StartedDatabase;
  readonly database: Database;
  /** Reads the controls of agents from the database. */
  readonly stored: ControlLinksStore;
  readonly maxStalenessMs: number | null;
  readonly log: FactsLog;
  /** Milliseconds since 1970. */
  readonly now: () => number;
  /** Milliseconds of a monotonic clock. */
  readonly monotonic: () => number;
}

/** How far changes are followed, and whether the database answers. */
export interface Following {
  readonly databaseUp: boolean;
  readonly revision: number;
  /** Called if the file has a later revision than its database: the database was restored. */
  outrunRestored(revision: number): void;
}

/** The last known good state: saved after changes, and used while the database does not answer. */
export interface LastKnownGood {
  /** Reads the controls of agents from the database or the file. */
  readonly reader: StateReader;
  /** Must be notified of changes. */
  readonly follower: ChangeFollower;
  /** Must be called once, before any evaluation. */
  follow(following: Following): void;
  /** The starting point of evaluation if the database cannot be used at the start; null if it can. */
  readonly progress: Progress | null;
  /** What the file knows about callers, if it was loaded because the database cannot be used at the start. */
  kept(): KeptAccess;
  /** Whether the file is loaded, so that further agents can be loaded from it. */
  readonly isAtHand: boolean;
  readonly meter: Readonly<KeeperMeter>;
  /** Every change up to this revision is in the database that was opened at the start. */
  startedAt(revision: number): void;
  /** Called when the database becomes unavailable or available. */
  databaseState(up: boolean): void;
  /** Saves the state from now on. Must be called in one process of a service. */
  keep(): void;
  /** Saves pending changes. Never rejects. */
  close(): Promise<void>;
}

export function createLastKnownGood(options: LastKnownGoodOptions): LastKnownGood {
  const { started, database, stored, log, now, monotonic } = options;
  let following: Following = { databaseUp: false, revision: 0, outrunRestored: () => {} };
  const { file, header } = started;
  const progress = started.wait === null ? null : progressOf(started, now(), monotonic());
  if (file === null) return withoutFile(stored, progress);
  const changes = new KnownChanges();
  const kept = new KeptAgents({
    file,
    instanceId: () => database.instanceId,
    changes,
    log,
    now,
    monotonic,
    state: started.takeState(),
  });
  if (header !== null) changes.startedAt(header.revision);
  const keeper = new Keeper({
    file,
    database,
    maxStalenessMs: options.maxStalenessMs,
    onRestored: (revision) => following.outrunRestored(revision),
    log,
    now,
  });
  return {
    reader: createStateReader({
      stored,
      kept,
      changes,
      databaseUp: () => following.databaseUp,
      followed: () => following.revision,
    }),
    follow(given) {
      following = given;
    },
    follower: {
      changed(news) {
        changes.changed(news);
        keeper.changed(news);
      },
      startOver(told) {
        changes.startOver(told);
        keeper.startOver();
      },
      catchUp: () => keeper.catchUp(),
    },
    progress,
    kept: () => kept.access,
    get isAtHand() {
      return kept.isAtHand;
    },
    meter: keeper.meter,
    startedAt: (revision) => changes.startedAt(revision),
    databaseState(up) {
      if (up) kept.release();
      else void kept.load();
    },
    keep: () => keeper.start(),
    close: () => keeper.close(),
  };
}

function progressOf({ header }: StartedDatabase, nowMs: number, monotonicMs: number): Progress {
  if (header === null) return { revision: 0, currentAtMs: Number.NEGATIVE_INFINITY };
  return { revision: header.revision, currentAtMs: monotonicMs - ageMs(header, nowMs) };
}

function withoutFile(stored: LastKnownGoodOptions['stored'], progress: Progress | null): LastKnownGood {
  return {
    reader: createDatabaseReader(stored),
    follow: () => {},
    follower: { changed: () => {}, startOver: () => {}, catchUp: () => {} },
    progress,
    kept: () => NO_ACCESS,
    isAtHand: false,
    meter: { saved: 0, superseded: 0, failed: 0, revision: 0, timeMs: 0 },
    startedAt: () => {},
    databaseState: () => {},
    keep: () => {},
    close: async () => {},
  };
}
