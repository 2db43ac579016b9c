import { type RepeatLevel, type RepeatLog, reasonOf } from '../../contract/runtime/repeat-log.js';
import { OutcomeUnknownError, unavailable } from './errors.js';
import { PROBE_LIMIT_MS, Probes } from './storage-health/probes.js';
import { Rescue } from './storage-health/rescue.js';
import { storageStateOf } from './storage-health/storage-failure.js';
import {
  adviceOn,
  meaningOf,
  REFUSING,
  STORAGE_STATES,
  StorageError,
  type StorageHealth,
  type StorageProblem,
  type StorageReport,
  type StorageState,
} from './storage-health/storage-state.js';

/** Interval of checks, in milliseconds. With the limit of a probe, a problem is reported within 5 s. */
const INTERVAL_MS = 1_500;
/** How long a server counts as damaged after reporting it, in ms: it cannot be checked as a whole. */
const DAMAGE_MEMORY_MS = 60_000;

/** Checks of the storage. All reject with errors known to `storageStateOf`. */
export interface StorageChecks {
  /** Rejects when stored data would not survive a restart. Cheap: runs around every write in this thread. */
  verify(): Promise<void>;
  /** Rejects when the database must not be written. */
  verifyWritable(): Promise<void>;
  /** Commits a small write, with the checks of `verify` around it. */
  write(): Promise<void>;
  /**
   * Saves recoverable data after a problem was found; resolves with a description, or null when there is
   * nothing to save. Retried after a rejection, as long as the problem lasts.
   */
  rescue(problem: StorageError): Promise<string | null>;
  /** Whether damage may be gone without a restart of the process. */
  readonly damageMayPass: boolean;
}

export interface StorageMonitorOptions {
  readonly checks: StorageChecks;
  /** Location of the database, for the log: a path, or an address without credentials. */
  readonly place: string;
  readonly log?: Pick<RepeatLog, 'told'> | undefined;
  /** Monotonic clock, in milliseconds. */
  readonly now?: () => number;
}

/**
 * Tracks whether writes are kept. Uses the results of regular work, and, once `watch` was called, its own
 * probes. A problem is found by whichever comes first; its end is always found by a probe.
 */
export class StorageMonitor implements StorageHealth {
  readonly #checks: StorageChecks;
  readonly #place: string;
  readonly #log: StorageMonitorOptions['log'];
  readonly #now: () => number;
  readonly #rescue: Rescue;
  readonly #probes: Probes;
  readonly #listeners = new Set<(state: StorageState) => void>();
  readonly #entered = new Map<StorageState, number>(STORAGE_STATES.map((state) => [state, 0]));
  #state: StorageState = 'OK';
  #particular: string | undefined;
  #sinceMs: number;
  /** Number of state changes. */
  #changes = 0;
  #damagedAtMs = Number.NEGATIVE_INFINITY;
  #writtenAtMs = Number.NEGATIVE_INFINITY;
  /** Running writes, and the callbacks for their end. */
  #writing = 0;
  readonly #waiting: (() => void)[] = [];
  #isClosed = false;
  #interval: NodeJS.Timeout | undefined;

  constructor({ checks, place, log, now = () => performance.now() }: StorageMonitorOptions) {
    this.#checks = checks;
    this.#place = place;
    this.#log = log;
    this.#now = now;
    this.#sinceMs = now();
    this.#probes = new Probes({
      probe: () => this.#probe(),
      noAnswer: () => this.#noAnswer(),
      now,
    });
    this.#rescue = new Rescue(
      (problem) => checks.rescue(problem),
      (level, message, facts) => this.#tell(level, message, facts),
    );
  }

  get state(): StorageState {
    return this.#state;
  }

  get report(): StorageReport | null {
    const state = this.#state;
    if (state === 'OK') return null;
    return { state, meaning: meaningOf(state, this.#particular), advice: adviceOn(state) };
  }

  get transitions(): ReadonlyMap<StorageState, number> {
    return this.#entered;
  }

  onChange(listener: (state: StorageState) => void): void {
    this.#listeners.add(listener);
  }

  watch(): void {
    if (this.#interval !== undefined || this.#isClosed) return;
    this.#interval = setInterval(() => {
      this.#probes.now();
      void this.#rescue.retry();
    }, INTERVAL_MS);
    this.#interval.unref();
    this.#probes.now();
  }

  /** Stops the probes and rejects writes. Resolves when running writes are done. */
  async close(): Promise<void> {
    this.#isClosed = true;
    this.#rescue.cancel();
    clearInterval(this.#interval);
    this.#probes.cancel();
    this.#interval = undefined;
    while (this.#writing > 0) await new Promise<void>((resolve) => this.#waiting.push(resolve));
  }

  /** Runs a write that verifies itself that it is kept. Rejects with a `StorageError` otherwise. */
  guard<T>(write: () => Promise<T>): Promise<T> {
    return this.#guarded(write, () => true);
  }

  /** Runs a write, and verifies before it and after its commit that it is kept; `wrote`: whether it wrote. */
  guardVerified<T>(write: () => Promise<T>, wrote: (result: T) => boolean = () => true): Promise<T> {
    const verified = async (): Promise<T> => {
      await this.#checks.verify();
      const result = await write();
      await this.#checks.verify();
      return result;
    };
    return this.#guarded(verified, wrote);
  }

  async #guarded<T>(write: () => Promise<T>, wrote: (result: T) => boolean): Promise<T> {
    if (this.#isClosed) throw unavailable('The service is shutting down.');
    const { report } = this;
    if (report !== null && REFUSING.has(report.state)) {
      throw new StorageError(report.state, { particular: this.#particular });
    }
    this.#writing += 1;
    try {
      const result = await write();
      if (wrote(result)) this.#written();
      return result;
    } catch (error) {
      this.failed(error);
      throw this.#inWords(error);
    } finally {
      this.#writing -= 1;
      if (this.#writing === 0) for (const resolve of this.#waiting.splice(0)) resolve();
    }
  }

  /** A driver may report only a disk problem, where a probe has found its cause. */
  #inWords(error: unknown): unknown {
    const state = this.#state;
    const isVague = storageStateOf(error) === 'DOWN' && !(error instanceof OutcomeUnknownError);
    if (!isVague || state === 'OK' || state === 'DOWN') return error;
    return new StorageError(state, { particular: this.#particular, cause: error });
  }

  /** Reports a failure. Errors unrelated to the storage are ignored. */
  failed(error: unknown): void {
    const state = storageStateOf(error);
    if (state === null) return;
    // One broken connection proves nothing, and disk errors have causes that a probe can find.
    if (state === 'DOWN') this.#probeSoon();
    else this.#enter(state, error);
  }

  unreachable(error: unknown): void {
    this.#enter(storageStateOf(error) ?? 'DOWN', error);
  }

  reachable(): void {
    if (this.#state !== 'OK') this.#probeSoon();
  }

  #written(): void {
    this.#writtenAtMs = this.#now();
    if (this.#state !== 'OK') this.#probeSoon();
  }

  #probe(): Promise<void> {
    const changes = this.#changes;
    return this.#look().then(
      () => {
        // Later changes may not be covered by this probe.
        if (this.#changes === changes) this.#recovered();
      },
      (error: unknown) => {
        const state = storageStateOf(error);
        // Errors unrelated to the storage, such as a long-held lock, leave the state unchanged.
        if (state !== null) this.#enter(state, error);
      },
    );
  }

  #noAnswer(): void {
    // The probe may be queued behind ongoing work.
    const isBusy = this.#now() - this.#writtenAtMs < PROBE_LIMIT_MS;
    if (!isBusy) this.#enter('DOWN', new Error(`no answer within ${PROBE_LIMIT_MS} ms`));
  }

  #probeSoon(): void {
    if (this.#interval !== undefined) this.#probes.soon();
  }

  async #look(): Promise<void> {
    await this.#checks.verifyWritable();
    const isWritten = this.#now() - this.#writtenAtMs < INTERVAL_MS;
    if (this.#state !== 'OK' || !isWritten) await this.#checks.write();
  }

  #recovered(): void {
    if (this.#state === 'OK' || this.#isClosed) return;
    if (this.#state === 'CORRUPT' && !this.#checks.damageMayPass) return;
    if (this.#now() - this.#damagedAtMs < DAMAGE_MEMORY_MS) {
      // It was down or full meanwhile, and the probe reads none of the damaged part.
      if (this.#state !== 'CORRUPT') this.#begin('CORRUPT', undefined);
      return;
    }
    const facts = { after: this.#state, seconds: this.#secondsInState() };
    this.#change('OK', undefined);
    this.#tell('info', 'what is stored is kept again', facts);
  }

  #enter(state: StorageProblem, error: unknown): void {
    if (state === 'CORRUPT') this.#damagedAtMs = this.#now();
    // Another problem does not end damage, and a replaced storage may well be full.
    if (this.#state === 'CORRUPT' && !this.#checks.damageMayPass) return;
    if (state === this.#state || this.#isClosed) return;
    this.#begin(state, error);
  }

  #begin(state: StorageProblem, error: unknown): void {
    const particular = error instanceof StorageError ? error.particular : undefined;
    this.#change(state, particular);
    // Our own error says nothing beyond the sentence.
    const cause = error instanceof StorageError ? error.cause : error;
    const facts = cause === undefined ? {} : { reason: reasonOf(cause) };
    this.#tell('error', `${meaningOf(state, particular)} ${adviceOn(state)}`, facts);
    if (error instanceof StorageError) this.#rescue.begin(error);
  }

  #tell(level: RepeatLevel, message: string, facts: object): void {
    const all = { storage: this.#state, database: this.#place, ...facts };
    this.#log?.told(level, `storage ${this.#state} ${message}`, message, all);
  }

  #change(state: StorageState, particular: string | undefined): void {
    this.#state = state;
    this.#rescue.cancel();
    this.#changes += 1;
    this.#particular = particular;
    this.#sinceMs = this.#now();
    this.#entered.set(state, (this.#entered.get(state) ?? 0) + 1);
    for (const listener of this.#listeners) listener(state);
  }

  #secondsInState(): number {
    return Math.round((this.#now() - this.#sinceMs) / 100) / 10;
  }
}
