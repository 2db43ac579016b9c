import { agentNotFound } from '../agents/agent-errors.js';
import type { ControlProgram } from '../core/types.js';
import { createCatchUp } from '../database/catch-up.js';
import type { RecordedChange } from '../database/change-log.js';
import { unavailable } from '../database/errors.js';
import { LoadedProgram, type Progress } from './loaded-program.js';
import { MemoryLedger } from './memory-ledger.js';
import { UnknownAgents } from './unknown-agents.js';

/** The program of an agent at one revision. */
export interface LoadResult {
  readonly revision: number;
  /** Null when the agent does not exist. */
  readonly program: ControlProgram | null;
  /**
   * Set when the database did not answer, and the program is that of the last known good file: when that was
   * certainly the latest, in milliseconds of the clock of the snapshot.
   */
  readonly keptAtMs?: number;
}

/**
 * Loads and compiles the controls of an agent, all read at the same revision; `needed` at least, unless the
 * database reports an earlier one as the latest.
 */
export type LoadProgram = (agentName: string, needed: number) => Promise<LoadResult>;

export interface SnapshotOptions {
  readonly load: LoadProgram;
  /** Agents kept in memory; those not used recently are evicted. */
  readonly maxAgents: number;
  /** Estimated memory limit of their programs, in bytes. */
  readonly maxBytes: number;
  /** Monotonic clock, in milliseconds. */
  readonly now: () => number;
}

/** Attempts to read a revision known to exist, which fail if each meets a change, or after a restore. */
const MAX_LOAD_ATTEMPTS = 100;

interface Entry {
  loaded: LoadedProgram | null;
  loading: Promise<LoadedProgram> | null;
  /** The program must not decide any more: this process changed its controls. */
  outdated: boolean;
  /** A load must have read at least this revision; the result of one begun before a change is discarded. */
  needed: number;
  /** Used since the last eviction. */
  used: boolean;
}

/**
 * The compiled controls that an agent has now. A change made through this process applies to the next
 * evaluation; a change made elsewhere applies once it was detected and loaded, and until then the older
 * program decides, and states its revision.
 */
export class Snapshot {
  readonly #options: SnapshotOptions;
  readonly #entries = new Map<string, Entry>();
  readonly #memory = new MemoryLedger();
  readonly #unknown: UnknownAgents;
  /** Agents whose programs are older than the stored controls. */
  readonly #behind = new Set<string>();
  /** Agents whose programs are from the last known good file. */
  readonly #kept = new Set<string>();
  #progress: Progress = { revision: 0, currentAtMs: Number.NEGATIVE_INFINITY };
  readonly #catchUp = createCatchUp({ behind: this.#behind, load: (name: string) => this.#loadBehind(name) });
  #loadedOnce = false;

  constructor(options: SnapshotOptions) {
    this.#options = options;
    this.#unknown = new UnknownAgents(options.now);
  }

  /**
   * The program of an agent; a promise only when it has to be loaded. At least of `minRevision`, once
   * `revision` has reached that. Fails with AGENT_NOT_FOUND, or with SERVICE_UNAVAILABLE when the database
   * cannot be reached; throws known failures synchronously.
   */
  programOf(agentName: string, minRevision = 0): LoadedProgram | Promise<LoadedProgram> {
    const entry = this.#entries.get(agentName);
    if (entry === undefined) return this.#loadNew(agentName);
    entry.used = true;
    const { loaded } = entry;
    if (loaded !== null && !entry.outdated) {
      if (minRevision === 0 || loaded.revision(this.#progress) >= minRevision) return loaded;
    }
    return entry.loading ?? this.#startLoading(agentName, entry);
  }

  /** The state of the database known to this process. */
  get progress(): Progress {
    return this.#progress;
  }

  /** There is nothing later than the known revision, as of a time. */
  confirmCurrent(atMs: number): void {
    this.#progress = { revision: this.#progress.revision, currentAtMs: atMs };
  }

  /**
   * Records a change made through this process. Affected programs decide nothing more until they are
   * reloaded. It counts as known once `follow` has received it, because other changes may precede it.
   */
  changedHere(change: RecordedChange): void {
    this.#invalidate(change, true);
    this.catchUp();
  }

  /** Applies the next changes, in order, without gaps. Older programs decide until new ones are loaded. */
  follow(changes: readonly RecordedChange[]): void {
    for (const change of changes) {
      this.#invalidate(change, false);
      this.#progress = { ...this.#progress, revision: change.revision };
    }
    this.catchUp();
  }

  /** Anything may have changed up to a revision: reloads everything, the older programs decide until then. */
  refreshAll(revision: number): void {
    this.#invalidate({ revision, agents: 'any', controls: [] }, false);
    this.#progress = { ...this.#progress, revision };
    this.catchUp();
  }

  /** The database was replaced by an earlier revision: it was restored. All known state is invalid. */
  startOver(revision: number): void {
    this.#unknown.clear();
    this.#behind.clear();
    for (const [agentName, entry] of this.#entries) this.#forget(agentName, entry);
    this.#progress = { ...this.#progress, revision };
  }

  /**
   * Resumes loading outdated agents, and those not read from the database. To be called periodically while
   * that answers: an agent whose load failed would otherwise keep its older program forever.
   */
  catchUp(): void {
    // The database is reachable again.
    for (const agentName of this.#kept) {
      this.#entries.get(agentName)?.loaded?.fallBehind(this.#progress);
      this.#behind.add(agentName);
    }
    this.#catchUp();
  }

  /** Whether any agent could be loaded since the start. */
  get loadedOnce(): boolean {
    return this.#loadedOnce;
  }

  /** Number of agents in memory. */
  get size(): number {
    return this.#entries.size;
  }

  /** When the oldest program still in use was certainly the latest. */
  get oldestCurrentAtMs(): number {
    let oldest = this.#progress.currentAtMs;
    for (const agentName of this.#behind) {
      const loaded = this.#entries.get(agentName)?.loaded;
      if (loaded) oldest = Math.min(oldest, loaded.currentAtMs(this.#progress));
    }
    return oldest;
  }

  #invalidate(change: RecordedChange, here: boolean): void {
    if (change.agents === 'any') {
      this.#unknown.clear();
      for (const [agentName, entry] of this.#entries) this.#demand(agentName, entry, change.revision, here);
      return;
    }
    for (const agentName of change.agents) {
      this.#unknown.delete(agentName);
      const entry = this.#entries.get(agentName);
      if (entry !== undefined) this.#demand(agentName, entry, change.revision, here);
    }
    if (change.controls.length === 0) return;
    const controls = new Set(change.controls);
    for (const [agentName, entry] of this.#entries) {
      // The controls of a running load are not known yet.
      const concerned =
        entry.loading !== null || entry.loaded?.program.controlIds.some((id) => controls.has(id));
      if (concerned) this.#demand(agentName, entry, change.revision, here);
    }
  }

  #demand(agentName: string, entry: Entry, revision: number, here: boolean): void {
    if (entry.loaded !== null && entry.loaded.readRevision >= revision) return;
    entry.needed = Math.max(entry.needed, revision);
    if (entry.loaded === null) return;
    entry.loaded.fallBehind(this.#progress);
    entry.outdated ||= here;
    this.#behind.add(agentName);
  }

  /** A failure is reported to the evaluations that need the program. */
  #loadBehind(agentName: string): Promise<LoadedProgram> | null {
    const entry = this.#entries.get(agentName);
    if (entry === undefined) this.#behind.delete(agentName);
    return entry?.loading === null ? this.#startLoading(agentName, entry) : null;
  }

  #loadNew(agentName: string): Promise<LoadedProgram> {
    if (this.#unknown.has(agentName)) throw agentNotFound(agentName);
    const entry: Entry = { loaded: null, loading: null, outdated: false, needed: 0, used: true };
    this.#makeRoom();
    this.#entries.set(agentName, entry);
    return this.#startLoading(agentName, entry);
  }

  #startLoading(agentName: string, entry: Entry): Promise<LoadedProgram> {
    const loading = this.#load(agentName, entry).finally(() => {
      entry.loading = null;
    });
    entry.loading = loading;
    return loading;
  }

  async #load(agentName: string, entry: Entry): Promise<LoadedProgram> {
    for (let attempt = 1; attempt <= MAX_LOAD_ATTEMPTS; attempt += 1) {
      const startedAtMs = this.#options.now();
      const { revision, program, keptAtMs } = await this.#loadOrForget(agentName, entry);
      if (revision < entry.needed) continue;
      this.#behind.delete(agentName);
      // It may still be about to decide, and no longer receives changes.
      entry.loaded?.fallBehind(this.#progress);
      if (program === null) {
        this.#forget(agentName, entry);
        this.#unknown.add(agentName);
        throw agentNotFound(agentName);
      }
      const isKept = keptAtMs !== undefined;
      const loaded = new LoadedProgram(program, revision, keptAtMs ?? startedAtMs, isKept);
      this.#setProgram(agentName, entry, loaded);
      entry.outdated = false;
      this.#loadedOnce = true;
      return loaded;
    }
    if (entry.loaded === null) this.#entries.delete(agentName);
    throw unavailable('The controls of the agent change faster than they can be loaded.');
  }

  async #loadOrForget(agentName: string, entry: Entry): Promise<LoadResult> {
    try {
      // Never an older one than the last one that decided.
      return await this.#options.load(agentName, Math.max(entry.needed, entry.loaded?.readRevision ?? 0));
    } catch (error) {
      // Entries without a program are useless; names that cannot be loaded must not fill the memory.
      if (entry.loaded === null) this.#entries.delete(agentName);
      throw error;
    }
  }

  #setProgram(agentName: string, entry: Entry, loaded: LoadedProgram): void {
    if (this.#entries.get(agentName) !== entry) {
      // Evicted while loading; callers waiting for it still receive it.
      entry.loaded = loaded;
      return;
    }
    this.#memory.add(loaded.program);
    if (entry.loaded !== null) this.#memory.remove(entry.loaded.program);
    entry.loaded = loaded;
    if (loaded.isKept) this.#kept.add(agentName);
    else this.#kept.delete(agentName);
    // This agent is still loading, so it stays, whatever its size.
    this.#makeRoom(0);
  }

  #forget(agentName: string, entry: Entry): void {
    this.#entries.delete(agentName);
    this.#kept.delete(agentName);
    if (entry.loaded !== null) this.#memory.remove(entry.loaded.program);
  }

  /**
   * Makes room for `added` more agents. Second chance: the first agent not used since the last eviction is
   * evicted; each one passed over loses its mark.
   */
  #makeRoom(added = 1): void {
    const { maxAgents, maxBytes } = this.#options;
    for (const [agentName, entry] of this.#entries) {
      if (this.#entries.size + added <= maxAgents && this.#memory.bytes <= maxBytes) return;
      if (entry.loading !== null) continue;
      if (!entry.used) {
        // It may still be about to decide, and no longer receives changes.
        entry.loaded?.fallBehind(this.#progress);
        this.#forget(agentName, entry);
        continue;
      }
      entry.used = false;
      this.#entries.delete(agentName);
      this.#entries.set(agentName, entry);
    }
  }
}
