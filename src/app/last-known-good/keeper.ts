import { timeLimited } from '../../contract/call/time-limited.js';
import type { FactsLog } from '../../contract/runtime/repeat-log.js';
import type { RecordedChange } from '../../storage/database/change-log.js';
import type { Database } from '../../storage/database/database.js';
import type { StateHeader } from './file-format.js';
import { writeDatabaseState } from './read-database.js';
import type { Saved, StateFile } from './state-file.js';
import type { KnownSchemas } from './steps-records.js';

/** Delay between the start, or a change, and saving, in milliseconds. Later changes are saved with it. */
export const SAVE_DELAY_MS = 1_000;
/**
 * Pause after saving per saved record, in milliseconds: ten times as long as saving takes, so that a large
 * state uses at most a tenth of a core.
 */
const REST_MS_PER_RECORD = 0.05;
/** Upper bound of that pause, in milliseconds. It also bounds the delay until a change is saved. */
export const MAX_REST_MS = 10_000;
/** Interval for retrying a file that cannot be written when nothing changes, in milliseconds. */
const RETRY_MS = 60_000;
/** Time limit for saving the last change when the service stops, in milliseconds. */
const LAST_SAVE_LIMIT_MS = 2_000;
/** Interval for saving an unchanged state, in milliseconds: the age of the file indicates an outage. */
const REFRESH_MS = 3_600_000;
/** With a staleness limit that interval is half the limit, but at least this, in milliseconds. */
const MIN_REFRESH_MS = 10_000;

/** Results of attempts to save. */
export interface KeeperMeter {
  saved: number;
  /** Another process had saved a later state. */
  superseded: number;
  failed: number;
  /** Saved last, or the later one in the file. */
  revision: number;
  timeMs: number;
}

export interface KeeperOptions {
  readonly file: StateFile;
  readonly database: Pick<Database, 'readAtOnce'>;
  /** Maximum age of controls in use, in milliseconds; null for no limit. */
  readonly maxStalenessMs: number | null;
  /** Called if the file has a later revision than its database: the database was restored. */
  readonly onRestored: (revision: number) => void;
  readonly log: FactsLog<'info' | 'warn' | 'error'>;
  /** Milliseconds since 1970. */
  readonly now: () => number;
}

type Outcome = Saved | { readonly kind: 'unwritable'; readonly error: unknown };

/**
 * Saves the state that verdicts depend on after changes. Does nothing before `start`; one process per service
 * is enough.
 */
export class Keeper {
  readonly meter: KeeperMeter = { saved: 0, superseded: 0, failed: 0, revision: 0, timeMs: 0 };
  readonly #options: KeeperOptions;
  readonly #refreshMs: number;
  #started = false;
  #closed = false;
  /** Whether there is an unsaved change. */
  #isDue = false;
  #timer: NodeJS.Timeout | undefined;
  #saving: Promise<void> | null = null;
  #notBeforeMs = 0;
  #savedRevision = -1;
  #failedAtMs: number | null = null;
  /** The problem that was logged last. */
  #problem = '';
  readonly #schemas: KnownSchemas = new Map();

  constructor(options: KeeperOptions) {
    this.#options = options;
    const { maxStalenessMs } = options;
    this.#refreshMs =
      maxStalenessMs === null
        ? REFRESH_MS
        : Math.min(REFRESH_MS, Math.max(MIN_REFRESH_MS, maxStalenessMs / 2));
  }

  /** Saves soon, and from now on after each change. */
  start(): void {
    if (this.#started || this.#closed) return;
    this.#started = true;
    this.#due();
  }

  changed(changes: readonly RecordedChange[]): void {
    if (changes.some(({ revision }) => revision > this.#savedRevision)) this.#due();
  }

  /** Called when the database was restored. */
  startOver(): void {
    this.#savedRevision = -1;
    // The same version of an agent may have another registration now.
    this.#schemas.clear();
    this.#due();
  }

  /** Must be called regularly while the database answers: retries, or renews the file, if due. */
  catchUp(): void {
    const nowMs = this.#options.now();
    const { timeMs } = this.meter;
    const isOld = timeMs > 0 && Math.abs(nowMs - timeMs) >= this.#refreshMs;
    const mayRetry = this.#failedAtMs !== null && Math.abs(nowMs - this.#failedAtMs) >= RETRY_MS;
    if (isOld || mayRetry || this.#isDue) this.#due();
  }

  /** Saves pending changes within a time limit, and stops. Never rejects. */
  async close(): Promise<void> {
    if (!this.#started || this.#closed) return;
    this.#closed = true;
    clearTimeout(this.#timer);
    await timeLimited(this.#saveLast(), LAST_SAVE_LIMIT_MS, () => {});
  }

  async #saveLast(): Promise<void> {
    await this.#saving;
    // After a recent failure, another attempt would only cost time.
    if (this.#isDue && this.#failedAtMs === null) await this.#save();
  }

  #due(): void {
    if (!this.#started || this.#closed) return;
    this.#isDue = true;
    if (this.#timer !== undefined || this.#saving !== null) return;
    const delayMs = Math.max(SAVE_DELAY_MS, this.#notBeforeMs - performance.now());
    this.#timer = setTimeout(() => {
      this.#timer = undefined;
      this.#saving = this.#save().finally(() => {
        this.#saving = null;
        // Something changed meanwhile. A failed attempt waits for the database or the interval.
        if (this.#isDue && this.#failedAtMs === null) this.#due();
      });
    }, delayMs);
    this.#timer.unref();
  }

  async #save(): Promise<void> {
    this.#isDue = false;
    try {
      const before = await this.#options.file.header();
      this.#took(await this.#write(), before);
    } catch {
      // The database does not answer; `catchUp` is called when it does.
      this.#isDue = true;
      this.#failedAtMs = this.#options.now();
      this.meter.failed += 1;
    }
  }

  /** Rejects if the database cannot be read. */
  #write(): Promise<Outcome> {
    const { file, database, now } = this.#options;
    const timeMs = now();
    return database.readAtOnce(async (read) => {
      let isUnreadable = false;
      const reading: typeof read = async (query) => {
        try {
          return await read(query);
        } catch (error) {
          isUnreadable = true;
          throw error;
        }
      };
      try {
        return await file.save(
          (writer) => writeDatabaseState(reading, timeMs, writer, this.#schemas),
          mayReplace,
        );
      } catch (error) {
        if (isUnreadable) throw error;
        return { kind: 'unwritable', error };
      }
    });
  }

  /** `before` is the header of the file before the database was read. */
  #took(outcome: Outcome, before: StateHeader | null): void {
    const { file, log, onRestored, now } = this.#options;
    this.#failedAtMs = outcome.kind === 'unwritable' ? now() : null;
    if (outcome.kind === 'unwritable') {
      this.meter.failed += 1;
      const { message } = outcome.error as Error;
      this.#say('warn', `the last known good state cannot be saved: ${message}`);
      return;
    }
    const { header } = outcome;
    const records = header.controls + header.policies + header.agents;
    this.#notBeforeMs = performance.now() + Math.min(MAX_REST_MS, records * REST_MS_PER_RECORD);
    this.#savedRevision = header.revision;
    if (outcome.kind === 'saved') {
      this.meter.saved += 1;
      this.#noteKept(header);
      if (this.#problem !== '') log.info({ file: file.path }, 'the last known good state is saved again');
      this.#problem = '';
      return;
    }
    this.meter.superseded += 1;
    const { found } = outcome;
    if (found.instanceId !== header.instanceId) {
      this.#say('error', 'the last known good file is that of another database and is not replaced');
      return;
    }
    this.#noteKept(found);
    const wasThere = before?.instanceId === header.instanceId && before.revision > header.revision;
    if (wasThere) onRestored(found.revision);
  }

  #noteKept({ revision, timeMs }: StateHeader): void {
    this.meter.revision = revision;
    this.meter.timeMs = timeMs;
  }

  #say(level: 'warn' | 'error', problem: string): void {
    if (problem === this.#problem) return;
    this.#problem = problem;
    this.#options.log[level]({ file: this.#options.file.path }, problem);
  }
}

/** Keeps a later state of the same database, and any non-empty state of another one. */
function mayReplace(found: StateHeader, header: StateHeader): boolean {
  if (found.instanceId !== header.instanceId) return found.controls === 0;
  return found.revision <= header.revision;
}
