import type { AgentKey, TargetKey } from '../../contract/call/namespace.js';
import { anyChange, type RecordedChange } from '../../storage/database/change-log.js';
import type { ChangeSource } from '../../storage/database/change-source.js';
import { withServiceErrors } from '../../storage/database/errors.js';
import type { LoadedProgram, Progress } from './loaded-program.js';
import { Outrun } from './outrun.js';
import { Polls } from './polls.js';
import { RevisionGate } from './revision-gate.js';
import type { Snapshot } from './snapshot.js';

/** Interval of retries, for example of loading an agent, in milliseconds; polls may be far more frequent. */
const CATCH_UP_MS = 1_000;

/** A further consumer of changes besides the snapshot. */
export interface ChangeFollower {
  /**
   * Receives committed changes before the revision of the watch reaches them. Own changes may be repeated,
   * and may come before earlier ones of other processes.
   */
  changed(changes: readonly RecordedChange[]): void;
  /** The database was replaced by an earlier revision: it was restored. `told` is the latest one before. */
  startOver(told: number): void;
  /** The database answers; failed loads may be retried. */
  catchUp(): void;
}

/** Caller that requires a revision; its signal is read only when the revision has to be awaited. */
export interface RevisionCaller {
  readonly signal: AbortSignal;
}

export interface RevisionWatchOptions {
  readonly snapshot: Snapshot;
  readonly followers?: readonly ChangeFollower[];
  readonly source: ChangeSource;
  /** How long an evaluation waits for its required revision, in milliseconds. */
  readonly minRevisionWaitMs: number;
  /** Monotonic clock, in milliseconds. */
  readonly now: () => number;
  /**
   * Called when the database was restored: its revision has to become greater than this one, which callers
   * may have received. Called again after a while when it rejects.
   */
  readonly outrun: (told: number) => Promise<unknown>;
  /** Called when the database becomes unreachable or reachable. */
  readonly onDatabaseState: (up: boolean, error?: unknown) => void;
}

/**
 * Synchronises a snapshot with the database: with commits of this process immediately, with those of others
 * when the change source reports them. Polls never overlap. Hints only make the next poll earlier, so missing
 * or repeated ones are harmless.
 */
export class RevisionWatch {
  readonly #options: RevisionWatchOptions;
  readonly #gate: RevisionGate;
  readonly #outrun: Outrun;
  readonly #polls: Polls;
  #databaseUp = false;
  /** The database has not answered since the start, which continued without it. */
  #isBlind = false;
  /** The database is not the one whose changes were tracked so far. */
  #isReplaced = false;
  #lastCatchUpAtMs = Number.NEGATIVE_INFINITY;
  /** Committed by this process, but not known yet. */
  readonly #own = new Set<number>();

  constructor(options: RevisionWatchOptions) {
    this.#options = options;
    const { source, now } = options;
    this.#polls = new Polls({ poll: () => this.#read(), source, now });
    this.#outrun = new Outrun({
      outrun: options.outrun,
      onDone: () => this.#polls.soon(),
      now: options.now,
    });
    this.#gate = new RevisionGate({
      waitMs: options.minRevisionWaitMs,
      revision: () => this.revision,
      onWaiting: () => this.#polls.soon(),
    });
  }

  /** Latest revision up to which every change is known. */
  get revision(): number {
    return this.#options.snapshot.progress.revision;
  }

  /** Number of evaluations waiting for their required revision. */
  get waiting(): number {
    return this.#gate.waiting;
  }

  /** Whether the database answered the last poll. */
  get databaseUp(): boolean {
    return this.#databaseUp;
  }

  /** Whether the database has not answered since a start without it. */
  get isBlind(): boolean {
    return this.#isBlind;
  }

  /** The state of the database known to this process. */
  get progress(): Progress {
    return this.#options.snapshot.progress;
  }

  /**
   * Reads the revision for the first time and starts watching. When it cannot be read, continues from `kept`,
   * the state known without the database, if given: everything is reloaded as soon as the database answers.
   * Otherwise rejects with a ServiceError, and the source is closed.
   */
  async start(kept: Progress | null = null): Promise<void> {
    const { source, snapshot, now } = this.#options;
    const startedAtMs = now();
    try {
      // Nothing is loaded yet, so earlier changes are irrelevant.
      const { revision } = await withServiceErrors(() => source.read(Number.MAX_SAFE_INTEGER));
      snapshot.refreshAll(revision);
      snapshot.confirmCurrent(startedAtMs);
      this.#setDatabaseUp(true);
    } catch (error) {
      if (kept === null) {
        await this.stop();
        throw error;
      }
      this.#isBlind = true;
      snapshot.refreshAll(kept.revision);
      snapshot.confirmCurrent(kept.currentAtMs);
    }
    source.listen((revision) => {
      if (revision === undefined || revision > this.revision) this.#polls.soon();
    });
    this.#polls.begin();
  }

  async stop(): Promise<void> {
    this.#polls.stop();
    await this.#options.source.close();
  }

  /** The database was replaced by another one. Everything is reloaded. */
  replaced(): void {
    this.#isReplaced = true;
    this.#polls.soon();
  }

  /** Callers may have received a revision beyond that of the database: it was restored before the start. */
  outrunRestored(told: number): void {
    this.#outrun.add(told);
    this.#polls.soon();
  }

  /**
   * Records a committed change of this process. A promise if others committed changes before it that are not known yet:
   * together with them it may concern more agents. Fulfilled when its revision is known, or does not become known in time.
   */
  committed(change: RecordedChange): Promise<void> | undefined {
    const { snapshot } = this.#options;
    snapshot.changedHere(change);
    this.#tellChanged([change]);
    if (change.revision === this.revision + 1) this.#follow([change]);
    if (change.revision <= this.revision) return undefined;
    this.#own.add(change.revision);
    // It is committed, whatever becomes of the wait.
    return this.#gate.reach(change.revision).catch(() => {});
  }

  /**
   * Returns the program of an agent that works on a target, null for none, at a revision that a caller requires or later. Rejects like
   * `Snapshot.programOf`, and with SERVICE_UNAVAILABLE when that revision does not become known in time. When
   * the caller aborts before that, rejects with the reason of its signal.
   */
  programOf(
    agent: AgentKey,
    target: TargetKey | null,
    minRevision: number,
    caller?: RevisionCaller,
  ): LoadedProgram | Promise<LoadedProgram> {
    const { snapshot } = this.#options;
    if (minRevision <= this.revision) return snapshot.programOf(agent, target, minRevision);
    return this.#gate.reach(minRevision, caller?.signal).then(() => {
      const found = snapshot.programOf(agent, target, minRevision);
      // As of now: changes between this moment and the evaluation do not apply to it.
      return found instanceof Promise ? found : found.until(snapshot.progress);
    });
  }

  /** Polls once for changes of other processes; with a poll that begins after this call. */
  poll(): Promise<void> {
    return this.#polls.poll();
  }

  async #read(): Promise<void> {
    const { source, snapshot, followers = [], now } = this.#options;
    const known = this.revision;
    const startedAtMs = now();
    try {
      const { revision, changes } = await source.read(known);
      if (this.#polls.isStopped) return;
      // First, so that loads triggered by this poll use the database.
      this.#setDatabaseUp(true);
      if (revision < known || this.#isReplaced) {
        this.#isReplaced = false;
        this.#outrun.add(known);
        this.#own.clear();
        snapshot.startOver(revision);
        for (const follower of followers) follower.startOver(known);
      } else if (this.#isBlind) {
        // The log describes the history of the database, which may differ from that of the known state.
        this.#refreshAll(revision);
      } else this.#take(revision, changes);
      this.#isBlind = false;
      this.#outrun.attempt();
      snapshot.confirmCurrent(startedAtMs);
    } catch (error) {
      if (!this.#polls.isStopped) this.#setDatabaseUp(false, error);
    }
  }

  #take(revision: number, changes: readonly RecordedChange[] | null): void {
    if (changes === null && revision > this.revision) {
      this.#refreshAll(revision);
      return;
    }
    // Own commits may have come first.
    const news = (changes ?? []).filter((change) => change.revision > this.revision);
    if (news.length > 0) this.#follow(news);
    else this.#catchUp();
  }

  #refreshAll(revision: number): void {
    const { snapshot } = this.#options;
    this.#tellChanged([anyChange(revision)]);
    snapshot.refreshAll(
      revision,
      [...this.#own].some((own) => own <= revision),
    );
    this.#reached();
  }

  #catchUp(): void {
    const nowMs = this.#options.now();
    if (nowMs < this.#lastCatchUpAtMs + CATCH_UP_MS) return;
    this.#lastCatchUpAtMs = nowMs;
    const { snapshot, followers = [] } = this.#options;
    snapshot.catchUp();
    for (const follower of followers) follower.catchUp();
  }

  #follow(changes: readonly RecordedChange[]): void {
    this.#tellChanged(changes);
    this.#options.snapshot.follow(changes, this.#own);
    this.#reached();
  }

  #reached(): void {
    for (const own of this.#own) if (own <= this.revision) this.#own.delete(own);
    this.#gate.advanced();
  }

  #tellChanged(changes: readonly RecordedChange[]): void {
    for (const follower of this.#options.followers ?? []) follower.changed(changes);
  }

  #setDatabaseUp(up: boolean, error?: unknown): void {
    if (up === this.#databaseUp) return;
    this.#databaseUp = up;
    this.#options.onDatabaseState(up, error);
  }
}
