import { agentNotFound } from '../agents/agent-errors.js';
import type { ControlProgram } from '../core/types.js';
import { createCatchUp } from '../database/catch-up.js';
import type { RecordedChange } from '../database/change-log.js';
import { unavailable } from '../database/errors.js';
import { LoadedProgram, type Progress } from './loaded-program.js';
import { MemoryLedger } from './memory-ledger.js';

/** What an agent has at one revision. */
export interface LoadResult {
  readonly revision: number;
  /** Null when there is no such agent. */
  readonly program: ControlProgram | null;
  /**
   * Set when the database could not be asked, and the program is that of the last known good file: when that was
   * certainly the latest, in milliseconds of the clock of the snapshot.
   */
  readonly keptAtMs?: number;
}

/**
 * Loads and compiles the controls of an agent, all read at the same revision; `needed` at least, unless the database
 * says that an earlier one is the latest.
 */
export type LoadProgram = (agentName: string, needed: number) => Promise<LoadResult>;

export interface SnapshotOptions {
  readonly load: LoadProgram;
  /** Agents kept in memory; those not asked for lately make room for others. */
  readonly maxAgents: number;
  /** About how much memory their programs may take, in bytes. */
  readonly maxBytes: number;
  /** Milliseconds of a clock that never goes back. */
  readonly now: () => number;
}

/** Unknown agent names are remembered this long, so that a stray client does not query the database at every step. */
const UNKNOWN_AGENT_MS = 1_000;
/** Unknown agent names remembered at most. Names are chosen by callers. */
const MAX_UNKNOWN_AGENTS = 10_000;

/** Attempts to read a revision that is known to exist: ended by changes during each of them, or a restored database. */
const MAX_LOAD_ATTEMPTS = 100;

interface Entry {
  loaded: LoadedProgram | null;
  loading: Promise<LoadedProgram> | null;
  /** The program must not decide any more: this process changed what it was made from. */
  outdated: boolean;
  /** A load must have read at least this revision; one that began before a change is not taken for its result. */
  needed: number;
  /** Asked for since the last search for room. */
  used: boolean;
}

/**
 * Which compiled controls an agent has now. A change made through this process is seen by the next evaluation; a
 * change made elsewhere is seen once it was noticed and loaded, and until then the older program decides, and says of
 * which revision it is.
 */
export class Snapshot {
  readonly #options: SnapshotOptions;
  readonly #entries = new Map<string, Entry>();
  readonly #memory = new MemoryLedger();
  readonly #unknown = new Map<string, number>();
  /** Agents whose programs are older than what is stored. */
  readonly #behind = new Set<string>();
  /** Agents whose programs are from the last known good file. */
  readonly #kept = new Set<string>();
  #progress: Progress = { revision: 0, currentAtMs: Number.NEGATIVE_INFINITY };
  readonly #catchUp = createCatchUp({ behind: this.#behind, load: (name: string) => this.#loadBehind(name) });
  #loadedOnce = false;

  constructor(options: SnapshotOptions) {
    this.#options = options;
  }

  /**
   * The program of an agent; a promise only when it has to be loaded. Of at least `minRevision`, once `revision` has
   * reached that. Fails with AGENT_NOT_FOUND, or with SERVICE_UNAVAILABLE when the database cannot be reached; it throws
   * what it knows at once.
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

  /** How far this process has followed the changes. */
  get progress(): Progress {
    return this.#progress;
  }

  /** There is nothing later than the revision known, as of a time. */
  confirmCurrent(atMs: number): void {
    this.#progress = { revision: this.#progress.revision, currentAtMs: atMs };
  }

  /**
   * A change was made through this process. What it concerns decides nothing more until it is loaded anew. It counts
   * as known once `follow` has seen it, because others may have changed something before it.
   */
  changedHere(change: RecordedChange): void {
    this.#invalidate(change, true);
    this.catchUp();
  }

  /** The next changes, in order and without a gap. The older programs decide until the new ones are loaded. */
  follow(changes: readonly RecordedChange[]): void {
    for (const change of changes) {
      this.#invalidate(change, false);
      this.#progress = { ...this.#progress, revision: change.revision };
    }
    this.catchUp();
  }

  /** Anything may have changed up to a revision: everything is loaded anew, the older programs decide until then. */
  refreshAll(revision: number): void {
    this.#invalidate({ revision, agents: 'any', controls: [] }, false);
    this.#progress = { ...this.#progress, revision };
    this.catchUp();
  }

  /** The database is another one, at an earlier revision: it was restored. Nothing that is known holds any more. */
  startOver(revision: number): void {
    this.#unknown.clear();
    this.#behind.clear();
    for (const [agentName, entry] of this.#entries) this.#forget(agentName, entry);
    this.#progress = { ...this.#progress, revision };
  }

  /**
   * Goes on loading what is behind, and what was not read from the database. To be called now and then while that
   * answers: an agent whose load failed would otherwise keep its older program for good.
   */
  catchUp(): void {
    // The database can be asked again.
    for (const agentName of this.#kept) {
      this.#entries.get(agentName)?.loaded?.fallBehind(this.#progress);
      this.#behind.add(agentName);
    }
    this.#catchUp();
  }

  /** Whether some agent could be loaded since the start. */
  get loadedOnce(): boolean {
    return this.#loadedOnce;
  }

  /** Number of agents in memory. */
  get size(): number {
    return this.#entries.size;
  }

  /** When the oldest program that still decides was certainly the latest. */
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
      // What a running load is going to have cannot be known.
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
    const knownUntil = this.#unknown.get(agentName);
    if (knownUntil !== undefined) {
      if (this.#options.now() < knownUntil) throw agentNotFound(agentName);
      this.#unknown.delete(agentName);
    }
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
      // It may still be about to decide, and is not told of changes any more.
      entry.loaded?.fallBehind(this.#progress);
      if (program === null) {
        this.#forget(agentName, entry);
        this.#rememberUnknown(agentName);
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
      // Never an older one than the one that decided last.
      return await this.#options.load(agentName, Math.max(entry.needed, entry.loaded?.readRevision ?? 0));
    } catch (error) {
      // An entry without a program is worth nothing; names that cannot be loaded must not fill the memory.
      if (entry.loaded === null) this.#entries.delete(agentName);
      throw error;
    }
  }

  #rememberUnknown(agentName: string): void {
    if (this.#unknown.size >= MAX_UNKNOWN_AGENTS) this.#unknown.clear();
    this.#unknown.set(agentName, this.#options.now() + UNKNOWN_AGENT_MS);
  }

  #setProgram(agentName: string, entry: Entry, loaded: LoadedProgram): void {
    if (this.#entries.get(agentName) !== entry) {
      // Forgotten while it was loaded; those who wait for it still get it.
      entry.loaded = loaded;
      return;
    }
    this.#memory.add(loaded.program);
    if (entry.loaded !== null) this.#memory.remove(entry.loaded.program);
    entry.loaded = loaded;
    if (loaded.isKept) this.#kept.add(agentName);
    else this.#kept.delete(agentName);
    // This agent is still loading, so it stays, however large it is.
    this.#makeRoom(0);
  }

  #forget(agentName: string, entry: Entry): void {
    this.#entries.delete(agentName);
    this.#kept.delete(agentName);
    if (entry.loaded !== null) this.#memory.remove(entry.loaded.program);
  }

  /**
   * Makes room for `added` more agents. Second chance: the first agent not asked for since the last search goes; each
   * one passed over loses its mark.
   */
  #makeRoom(added = 1): void {
    const { maxAgents, maxBytes } = this.#options;
    for (const [agentName, entry] of this.#entries) {
      if (this.#entries.size + added <= maxAgents && this.#memory.bytes <= maxBytes) return;
      if (entry.loading !== null) continue;
      if (!entry.used) {
        // It may still be about to decide, and is not told of changes any more.
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
