import type { RecordedChange } from '../database/change-log.js';
import type { ChangeSource } from '../database/change-source.js';
import { withServiceErrors } from '../database/errors.js';
import type { LoadedProgram, Progress } from './loaded-program.js';
import { RevisionGate } from './revision-gate.js';
import type { Snapshot } from './snapshot.js';

/** Least time between polls, in milliseconds: hints and demands must not flood the database. */
const MIN_POLL_GAP_MS = 10;

/** How often what failed is tried again, such as the load of an agent, in milliseconds; polls may come far more often. */
const CATCH_UP_MS = 1_000;

/** Someone beside the snapshot who has to know of changes. */
export interface ChangeFollower {
  /**
   * Changes that are committed, told before the revision of the watch reaches them. Own ones may be told twice, and
   * before those that others committed earlier.
   */
  changed(changes: readonly RecordedChange[]): void;
  /** The database is another one, at an earlier revision: it was restored. `told` is the latest one before that. */
  startOver(told: number): void;
  /** The database answers; what could not be loaded may be tried again. */
  catchUp(): void;
}

/** Who demands a revision; its signal is asked for only when the revision has to be waited for. */
export interface RevisionCaller {
  signal(): AbortSignal;
}

export interface RevisionWatchOptions {
  readonly snapshot: Snapshot;
  readonly followers?: readonly ChangeFollower[];
  readonly source: ChangeSource;
  /** How long an evaluation waits for the revision that it demands, in milliseconds. */
  readonly minRevisionWaitMs: number;
  /** Milliseconds of a clock that never goes back. */
  readonly now: () => number;
  /**
   * Called when the database was restored: the revision of the database has to become greater than this one, which
   * callers may have been told. Called again after a while when it rejects.
   */
  readonly outrun: (told: number) => Promise<unknown>;
  /** Told when the database went away or came back. */
  readonly onDatabaseState: (up: boolean, error?: unknown) => void;
}

/**
 * Keeps a snapshot in step with the database: with own commits at once, with those of others when the change source
 * tells of them. Polls never overlap. Hints only make the next poll come sooner, so it does not matter when some are
 * missing or repeated.
 */
export class RevisionWatch {
  readonly #options: RevisionWatchOptions;
  readonly #gate: RevisionGate;
  #databaseUp = false;
  /** The database has not answered since the start, which went on without it. */
  #isBlind = false;
  /** The database is not the one whose changes were followed so far. */
  #isReplaced = false;
  #timer: NodeJS.Timeout | null = null;
  #dueAtMs = Number.POSITIVE_INFINITY;
  #polling: Promise<void> | null = null;
  /** Somebody asked for a poll while one was under way, which may have read too early. */
  #askedAgain = false;
  #lastPollAtMs = Number.NEGATIVE_INFINITY;
  #lastCatchUpAtMs = Number.NEGATIVE_INFINITY;
  #stopped = false;
  /** The latest revision that was known before the database was restored; 0 once it is outrun. */
  #told = 0;
  #outrunning = false;
  #lastOutrunAtMs = Number.NEGATIVE_INFINITY;

  constructor(options: RevisionWatchOptions) {
    this.#options = options;
    this.#gate = new RevisionGate({
      waitMs: options.minRevisionWaitMs,
      revision: () => this.revision,
      onWaiting: () => this.#pollSoon(),
    });
  }

  /** Latest revision up to which every change is known. */
  get revision(): number {
    return this.#options.snapshot.progress.revision;
  }

  /** Evaluations that wait for a revision which they demand. */
  get waiting(): number {
    return this.#gate.waiting;
  }

  /** Whether the database answered last time. */
  get databaseUp(): boolean {
    return this.#databaseUp;
  }

  /** Whether the database has not answered since a start without it. */
  get isBlind(): boolean {
    return this.#isBlind;
  }

  /** How far this process has followed the changes. */
  get progress(): Progress {
    return this.#options.snapshot.progress;
  }

  /**
   * Reads the revision for the first time and goes on watching. When it cannot be read, goes on from what is known
   * without the database, if that is given: everything is read anew as soon as the database answers. Without it rejects
   * with a ServiceError, and the source is closed.
   */
  async start(kept: Progress | null = null): Promise<void> {
    const { source, snapshot, now } = this.#options;
    const startedAtMs = now();
    try {
      // Nothing is loaded yet, so what changed before is of no interest.
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
      if (revision === undefined || revision > this.revision) this.#pollSoon();
    });
    this.#schedule(source.pollMs);
  }

  async stop(): Promise<void> {
    this.#stopped = true;
    this.#clearTimer();
    await this.#options.source.close();
  }

  /** From now on the database is another one than the one that is known. Everything is loaded anew. */
  replaced(): void {
    this.#isReplaced = true;
    this.#pollSoon();
  }

  /** Callers may have been told a revision that the database has not reached: it was restored before the start. */
  outrunRestored(told: number): void {
    this.#told = Math.max(this.#told, told);
    this.#pollSoon();
  }

  /** A change of this process was committed. */
  committed(change: RecordedChange): void {
    const { snapshot } = this.#options;
    snapshot.changedHere(change);
    this.#tellChanged([change]);
    if (change.revision === this.revision + 1) this.#follow([change]);
    // What others committed in between has to be known before this revision counts as known.
    else if (change.revision > this.revision) this.#pollSoon();
  }

  /**
   * The program of an agent, of at least a revision that a caller demands. Rejects as `Snapshot.programOf` does, and
   * with SERVICE_UNAVAILABLE when that revision does not become known in time. A caller that gives up before that waits
   * no longer: then it rejects with the reason of its signal.
   */
  programOf(
    agentName: string,
    minRevision: number,
    caller?: RevisionCaller,
  ): LoadedProgram | Promise<LoadedProgram> {
    const { snapshot } = this.#options;
    if (minRevision <= this.revision) return snapshot.programOf(agentName, minRevision);
    return this.#gate
      .reach(minRevision, caller?.signal())
      .then(() => snapshot.programOf(agentName, minRevision));
  }

  /** Looks once whether others changed something; with a poll that begins after this call. */
  async poll(): Promise<void> {
    while (this.#polling !== null) await this.#polling;
    this.#polling = this.#read().finally(() => {
      this.#polling = null;
    });
    await this.#polling;
  }

  async #read(): Promise<void> {
    const { source, snapshot, followers = [], now } = this.#options;
    const known = this.revision;
    const startedAtMs = now();
    this.#lastPollAtMs = startedAtMs;
    try {
      const { revision, changes } = await source.read(known);
      if (this.#stopped) return;
      // First of all, so that what is loaded because of it is asked of the database.
      this.#setDatabaseUp(true);
      if (revision < known || this.#isReplaced) {
        this.#isReplaced = false;
        this.#told = Math.max(this.#told, known);
        snapshot.startOver(revision);
        for (const follower of followers) follower.startOver(known);
      } else if (this.#isBlind) {
        // The log tells what changed in the history of the database, which need not be that of what is known.
        this.#refreshAll(revision);
      } else this.#take(revision, changes);
      this.#isBlind = false;
      if (this.#told > 0) this.#outrun();
      snapshot.confirmCurrent(startedAtMs);
    } catch (error) {
      if (!this.#stopped) this.#setDatabaseUp(false, error);
    }
  }

  #take(revision: number, changes: readonly RecordedChange[] | null): void {
    if (changes === null && revision > this.revision) {
      this.#refreshAll(revision);
      return;
    }
    // Own commits may have been faster.
    const news = (changes ?? []).filter((change) => change.revision > this.revision);
    if (news.length > 0) this.#follow(news);
    else this.#catchUp();
  }

  #refreshAll(revision: number): void {
    const { snapshot } = this.#options;
    this.#tellChanged([{ revision, agents: 'any', controls: [] }]);
    snapshot.refreshAll(revision);
    this.#gate.advanced();
  }

  /** Not waited for: polls go on, and the next one tries again. */
  #outrun(): void {
    const nowMs = this.#options.now();
    if (this.#outrunning || nowMs < this.#lastOutrunAtMs + CATCH_UP_MS) return;
    this.#outrunning = true;
    this.#lastOutrunAtMs = nowMs;
    const told = this.#told;
    this.#options
      .outrun(told)
      .then(
        () => {
          if (this.#told === told) this.#told = 0;
          this.#pollSoon();
        },
        () => {},
      )
      .finally(() => {
        this.#outrunning = false;
      });
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
    this.#options.snapshot.follow(changes);
    this.#gate.advanced();
  }

  #tellChanged(changes: readonly RecordedChange[]): void {
    for (const follower of this.#options.followers ?? []) follower.changed(changes);
  }

  #pollSoon(): void {
    if (this.#polling !== null) this.#askedAgain = true;
    else this.#schedule(this.#lastPollAtMs + MIN_POLL_GAP_MS - this.#options.now());
  }

  /** Makes sure that the next poll comes in `delayMs` at the latest. */
  #schedule(delayMs: number): void {
    const dueAtMs = this.#options.now() + Math.max(0, delayMs);
    if (this.#stopped || dueAtMs >= this.#dueAtMs) return;
    this.#clearTimer();
    this.#dueAtMs = dueAtMs;
    const timer = setTimeout(() => {
      this.#clearTimer();
      void this.poll().finally(() => {
        this.#schedule(this.#options.source.pollMs);
        if (this.#askedAgain) this.#pollSoon();
        this.#askedAgain = false;
      });
    }, delayMs);
    timer.unref();
    this.#timer = timer;
  }

  #clearTimer(): void {
    if (this.#timer !== null) clearTimeout(this.#timer);
    this.#timer = null;
    this.#dueAtMs = Number.POSITIVE_INFINITY;
  }

  #setDatabaseUp(up: boolean, error?: unknown): void {
    if (up === this.#databaseUp) return;
    this.#databaseUp = up;
    this.#options.onDatabaseState(up, error);
  }
}
