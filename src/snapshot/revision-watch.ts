import type { Change } from '../database/mutator.js';
import type { Snapshot } from './snapshot.js';

/** How often the revision is looked up, in milliseconds: the longest time a change made elsewhere goes unnoticed. */
export const REVISION_POLL_MS = 1_000;

export interface RevisionWatchOptions {
  readonly snapshot: Pick<Snapshot, 'agentChanged' | 'controlChanged' | 'refreshAll' | 'catchUp'>;
  /** Latest revision in the database. */
  readonly readRevision: () => Promise<number>;
  /** Told when the database went away or came back. */
  readonly onDatabaseState: (up: boolean, error?: unknown) => void;
}

/** Keeps a snapshot in step with the database: with own commits at once, with those of others by polling. */
export class RevisionWatch {
  readonly #options: RevisionWatchOptions;
  #revision = 0;
  #databaseUp = false;
  #timer: NodeJS.Timeout | null = null;
  #stopped = false;

  constructor(options: RevisionWatchOptions) {
    this.#options = options;
  }

  /** Latest known revision. */
  get revision(): number {
    return this.#revision;
  }

  /** Whether the database answered last time. */
  get databaseUp(): boolean {
    return this.#databaseUp;
  }

  /** Reads the revision for the first time and goes on watching. Rejects when it cannot be read. */
  async start(): Promise<void> {
    this.#revision = await this.#options.readRevision();
    this.#setDatabaseUp(true);
    this.#schedule();
  }

  stop(): void {
    this.#stopped = true;
    if (this.#timer !== null) clearTimeout(this.#timer);
  }

  /** A change of this process was committed. */
  committed(change: Change, revision: number): void {
    for (const agentName of change.agents ?? []) this.#options.snapshot.agentChanged(agentName);
    for (const controlId of change.controls ?? []) this.#options.snapshot.controlChanged(controlId);
    // A gap means that others committed in between.
    if (revision > this.#revision + 1) this.#options.snapshot.refreshAll();
    this.#revision = Math.max(this.#revision, revision);
  }

  /** Looks once whether others changed something. */
  async poll(): Promise<void> {
    try {
      const revision = await this.#options.readRevision();
      this.#setDatabaseUp(true);
      if (revision > this.#revision) {
        this.#revision = revision;
        this.#options.snapshot.refreshAll();
      } else this.#options.snapshot.catchUp();
    } catch (error) {
      this.#setDatabaseUp(false, error);
    }
  }

  #schedule(): void {
    if (this.#stopped) return;
    this.#timer = setTimeout(() => {
      void this.poll().finally(() => this.#schedule());
    }, REVISION_POLL_MS);
    this.#timer.unref();
  }

  #setDatabaseUp(up: boolean, error?: unknown): void {
    if (up === this.#databaseUp) return;
    this.#databaseUp = up;
    this.#options.onDatabaseState(up, error);
  }
}
