import { agentNotFound } from '../agents/agent-errors.js';
import type { ControlProgram } from '../evaluation/types.js';
import { MemoryLedger } from './memory-ledger.js';

/** Loads and compiles the controls of an agent; null when there is no such agent. */
export type LoadProgram = (agentName: string) => Promise<ControlProgram | null>;

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

/** Agents loaded at the same time without an evaluation waiting for them: a change must not flood the database. */
const MAX_REFRESHERS = 8;

interface Entry {
  program: ControlProgram | null;
  loading: Promise<ControlProgram> | null;
  /** The program must not be used any more: this process changed what it was made from. */
  outdated: boolean;
  /** Counts invalidations, so that a load that began before one is not taken for its result. */
  generation: number;
  /** Asked for since the last search for room. */
  used: boolean;
}

/**
 * Which compiled controls an agent has now. A change made through this process is seen by the next evaluation; a
 * change made elsewhere is seen once it was noticed and loaded, and until then the older program decides.
 */
export class Snapshot {
  readonly #options: SnapshotOptions;
  readonly #entries = new Map<string, Entry>();
  readonly #memory = new MemoryLedger();
  readonly #unknown = new Map<string, number>();
  /** Agents whose programs are older than what is stored. */
  readonly #behind = new Set<string>();
  /** Loads under way that no evaluation waits for. */
  #refreshers = 0;
  #askedAgain = false;
  #loadedOnce = false;

  constructor(options: SnapshotOptions) {
    this.#options = options;
  }

  /**
   * The program of an agent; a promise only when it has to be loaded. Rejects with AGENT_NOT_FOUND, or with
   * SERVICE_UNAVAILABLE when the database cannot be reached.
   */
  programOf(agentName: string): ControlProgram | Promise<ControlProgram> {
    const entry = this.#entries.get(agentName);
    if (entry === undefined) return this.#loadNew(agentName);
    entry.used = true;
    if (entry.program !== null && !entry.outdated) return entry.program;
    return entry.loading ?? this.#startLoading(agentName, entry);
  }

  /** An agent was registered, or its links changed, through this process. */
  agentChanged(agentName: string): void {
    this.#unknown.delete(agentName);
    const entry = this.#entries.get(agentName);
    if (entry !== undefined) this.#invalidate(agentName, entry);
  }

  /** A control was changed or deleted through this process. */
  controlChanged(controlId: number): void {
    for (const [agentName, entry] of this.#entries) {
      // What a running load has read already cannot be known, so it starts over.
      if (entry.loading !== null || entry.program?.controlIds.includes(controlId)) {
        this.#invalidate(agentName, entry);
      }
    }
  }

  /** Something was changed elsewhere: everything is loaded anew, the older programs decide until then. */
  refreshAll(): void {
    this.#unknown.clear();
    for (const [agentName, entry] of this.#entries) {
      entry.generation += 1;
      this.#behind.add(agentName);
    }
    this.catchUp();
  }

  /**
   * Goes on loading what is behind. To be called now and then: an agent whose load failed would otherwise keep its
   * older program for good.
   */
  catchUp(): void {
    // A refresher under way may be about to give up, and then it would not see what it is asked for now.
    this.#askedAgain = this.#refreshers > 0;
    while (this.#refreshers < MAX_REFRESHERS && this.#refreshers < this.#behind.size) {
      this.#refreshers += 1;
      void this.#refreshBehind().finally(() => {
        this.#refreshers -= 1;
        if (this.#refreshers === 0 && this.#askedAgain) this.catchUp();
      });
    }
  }

  /** Whether some agent could be loaded since the start. */
  get loadedOnce(): boolean {
    return this.#loadedOnce;
  }

  /** Number of agents in memory. */
  get size(): number {
    return this.#entries.size;
  }

  #invalidate(agentName: string, entry: Entry): void {
    entry.generation += 1;
    entry.outdated = true;
    this.#behind.add(agentName);
    this.catchUp();
  }

  /** Loads one agent after the other. Gives up at the first failure: the database does not answer. */
  async #refreshBehind(): Promise<void> {
    // What is added to the set or taken from it in the meantime is seen, so several of these share the work.
    for (const agentName of this.#behind) {
      const entry = this.#entries.get(agentName);
      if (entry === undefined) this.#behind.delete(agentName);
      else if (entry.loading === null && !(await this.#loads(agentName, entry))) return;
    }
  }

  /** Whether an agent could be loaded. A failure is reported to the evaluations that need the program. */
  async #loads(agentName: string, entry: Entry): Promise<boolean> {
    try {
      await this.#startLoading(agentName, entry);
      return true;
    } catch {
      // An agent that is gone is no reason to stop.
      return !this.#behind.has(agentName);
    }
  }

  #loadNew(agentName: string): Promise<ControlProgram> {
    const knownUntil = this.#unknown.get(agentName);
    if (knownUntil !== undefined) {
      if (this.#options.now() < knownUntil) return Promise.reject(agentNotFound(agentName));
      this.#unknown.delete(agentName);
    }
    const entry: Entry = { program: null, loading: null, outdated: true, generation: 0, used: true };
    this.#makeRoom();
    this.#entries.set(agentName, entry);
    return this.#startLoading(agentName, entry);
  }

  #startLoading(agentName: string, entry: Entry): Promise<ControlProgram> {
    const loading = this.#load(agentName, entry).finally(() => {
      entry.loading = null;
    });
    entry.loading = loading;
    return loading;
  }

  async #load(agentName: string, entry: Entry): Promise<ControlProgram> {
    for (;;) {
      const { generation } = entry;
      const program = await this.#loadOrForget(agentName, entry);
      if (entry.generation !== generation) continue;
      this.#behind.delete(agentName);
      if (program === null) {
        this.#forget(agentName, entry);
        this.#rememberUnknown(agentName);
        throw agentNotFound(agentName);
      }
      this.#setProgram(entry, program);
      entry.outdated = false;
      this.#loadedOnce = true;
      return program;
    }
  }

  async #loadOrForget(agentName: string, entry: Entry): Promise<ControlProgram | null> {
    try {
      return await this.#options.load(agentName);
    } catch (error) {
      // An entry without a program is worth nothing; names that cannot be loaded must not fill the memory.
      if (entry.program === null) this.#entries.delete(agentName);
      throw error;
    }
  }

  #rememberUnknown(agentName: string): void {
    if (this.#unknown.size >= MAX_UNKNOWN_AGENTS) this.#unknown.clear();
    this.#unknown.set(agentName, this.#options.now() + UNKNOWN_AGENT_MS);
  }

  #setProgram(entry: Entry, program: ControlProgram): void {
    this.#memory.add(program);
    if (entry.program !== null) this.#memory.remove(entry.program);
    entry.program = program;
    // This agent is still loading, so it stays, however large it is.
    this.#makeRoom(0);
  }

  #forget(agentName: string, entry: Entry): void {
    this.#entries.delete(agentName);
    if (entry.program !== null) this.#memory.remove(entry.program);
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
        this.#forget(agentName, entry);
        continue;
      }
      entry.used = false;
      this.#entries.delete(agentName);
      this.#entries.set(agentName, entry);
    }
  }
}
