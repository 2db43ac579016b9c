import { draining } from '../../contract/errors/draining.js';
import { unavailable } from '../../storage/database/errors.js';
import { loadedInTime } from '../../storage/database/in-time.js';
import type { ApprovalRow } from './approval-row.js';
import type { ChangedApprovals, ChangePlace } from './changed-approvals.js';

export interface ApprovalFeedOptions {
  /** The place after the latest change. */
  readonly latest: () => Promise<ChangePlace>;
  /** The changes after a place. */
  readonly after: (place: ChangePlace) => Promise<ChangedApprovals>;
  readonly maxWatchers?: number;
  readonly pollMs?: number;
}

/** Concurrent streams and waiting calls. Each costs some kilobytes. */
const MAX_WATCHERS = 10_000;
/** Milliseconds between two reads while a call waits; changes of this process are read at once. */
const POLL_MS = 250;

/** A call that waits for approvals. */
export class ApprovalWatcher {
  readonly #passes: (row: ApprovalRow) => boolean;
  readonly #news = new Map<number, ApprovalRow>();
  #wake: (() => void) | null = null;
  /** Whether everything has to be read anew: the database was restored to an earlier state. */
  isOutdated = false;
  /** Why it has to end; null while it may continue. */
  failure: Error | null = null;

  /** `passes` says which approvals it waits for. */
  constructor(passes: (row: ApprovalRow) => boolean) {
    this.#passes = passes;
  }

  take(rows: readonly ApprovalRow[]): void {
    for (const row of rows) if (this.#passes(row)) this.#news.set(row.id, row);
    if (this.#news.size > 0) this.#call();
  }

  startOver(): void {
    this.isOutdated = true;
    this.#call();
  }

  fail(error: Error): void {
    this.failure ??= error;
    this.#call();
  }

  /** The latest state of an approval that has changed, each once; null without one. */
  next(): ApprovalRow | null {
    for (const [id, row] of this.#news) {
      this.#news.delete(id);
      return row;
    }
    return null;
  }

  /** Calls `wake` once, when there are news, or now if there are. */
  wait(wake: () => void): void {
    if (this.#news.size > 0 || this.isOutdated || this.failure !== null) wake();
    else this.#wake = wake;
  }

  stopWaiting(): void {
    this.#wake = null;
  }

  #call(): void {
    const wake = this.#wake;
    this.#wake = null;
    wake?.();
  }
}

/**
 * Reads what changes of approvals, once for all calls that wait in this process, whichever process made the change. Idle while
 * no one waits.
 */
export class ApprovalFeed {
  readonly #options: ApprovalFeedOptions;
  readonly #watchers = new Set<ApprovalWatcher>();
  #place: ChangePlace | null = null;
  #timer: NodeJS.Timeout | undefined;
  #reading: Promise<void> | null = null;
  #isBehind = false;
  #closed = false;

  constructor(options: ApprovalFeedOptions) {
    this.#options = options;
  }

  /** Number of open streams and waiting calls. */
  get watchers(): number {
    return this.#watchers.size;
  }

  /**
   * From now on the watcher takes every change that is not committed yet; `leave` must be called afterwards. Rejects with
   * SERVICE_UNAVAILABLE or DRAINING.
   */
  async join(watcher: ApprovalWatcher): Promise<void> {
    const { latest, maxWatchers = MAX_WATCHERS, pollMs = POLL_MS } = this.#options;
    if (this.#closed) throw shuttingDown();
    if (this.#watchers.size >= maxWatchers) throw unavailable('Too many calls wait for approvals.');
    this.#watchers.add(watcher);
    try {
      if (this.#place === null) {
        const place = await loadedInTime(latest(), 'The approvals could not be read in time.');
        // Others may have joined meanwhile, with an earlier place.
        if (this.#watchers.size > 0) this.#place ??= place;
      }
      if (this.#closed) throw shuttingDown();
      this.#timer ??= setInterval(() => this.#read(), pollMs).unref();
    } catch (error) {
      this.leave(watcher);
      throw error;
    }
  }

  leave(watcher: ApprovalWatcher): void {
    this.#watchers.delete(watcher);
    if (this.#watchers.size === 0) this.#rest();
  }

  /** This process has changed approvals. */
  changed(): void {
    if (this.#place !== null) this.#read();
  }

  /** Ends every stream with DRAINING and every waiting call with what it knows, and rejects new ones. */
  close(): void {
    this.#closed = true;
    for (const watcher of this.#watchers) watcher.fail(shuttingDown());
    this.#rest();
  }

  #rest(): void {
    this.#place = null;
    clearInterval(this.#timer);
    this.#timer = undefined;
  }

  /** Reads soon: a reading that runs may have begun too early. Failures are repeated with the next one. */
  #read(): void {
    this.#isBehind = true;
    this.#reading ??= this.#readAll()
      .catch(() => {})
      .finally(() => {
        this.#reading = null;
      });
  }

  async #readAll(): Promise<void> {
    while (this.#isBehind && this.#place !== null) {
      this.#isBehind = false;
      const from = this.#place;
      const { rows, upTo, isReplaced } = await loadedInTime(this.#options.after(from));
      // All of them may have ended and others begun meanwhile.
      if (this.#place !== from) continue;
      this.#place = upTo;
      if (isReplaced) for (const watcher of this.#watchers) watcher.startOver();
      if (rows.length === 0) continue;
      this.#isBehind = true;
      for (const watcher of [...this.#watchers]) watcher.take(rows);
    }
  }
}

function shuttingDown(): Error {
  return draining('Call again, on another connection.');
}
