import type { StepComparison } from '../core/step-schemas.js';
import type { ControlSet } from './control-sets.js';
import type { LoadedProgram, Progress } from './loaded-program.js';
import type { MemoryLedger } from './memory-ledger.js';

/** Memory of an agent besides its name, in bytes. */
const AGENT_BYTES = 300;

/** An agent in memory. */
export interface AgentEntry {
  readonly name: string;
  /** The controls it has; null until it is loaded. */
  readonly set: ControlSet | null;
  /** Decides instead of the program of the set, while the two are of different revisions. */
  readonly own: LoadedProgram | null;
  /** How its steps are compared with their registered schemas, as of the links; null if they are not. */
  readonly comparison: StepComparison | null;
  /** The program that decided last, with the comparison; null without one. */
  compared: { readonly of: LoadedProgram; readonly program: LoadedProgram } | null;
  /** Whether the links are certainly those of the latest known revision. */
  readonly isCurrent: boolean;
  /** Its own program must not decide any more: this process changed its links or controls. */
  outdated: boolean;
  /** Links read before this revision are discarded. */
  needed: number;
  /** The revision the links were read at. */
  readonly readRevision: number;
  readonly loading: Promise<void> | null;
  /** The tick of `AgentEntries` at the last use; 0 before the first one. */
  lastUse: number;
  /** The tick at which an eviction passed over it; 0 if none has. */
  passedAt: number;
  /** The hour since 1970 in which its use was taken for the record. */
  takenHour: number;
}

/** What an agent is loaded with. */
export interface GivenControls {
  /** Held for the agent. */
  readonly set: ControlSet;
  readonly own: LoadedProgram | null;
  readonly comparison: StepComparison | null;
  /** The revision the links were read at. */
  readonly readRevision: number;
  /** Whether the links, or the own program, come from the last known good file. */
  readonly isKept: boolean;
}

type Writable<T> = { -readonly [Key in keyof T]: T[Key] };

/** The program that decides for an agent; null when none may. */
export function deciding(entry: AgentEntry): LoadedProgram | null {
  const loaded = decidingProgram(entry);
  const { comparison, compared } = entry;
  if (comparison === null || loaded === null) return loaded;
  if (compared?.of === loaded) return compared.program;
  const program = loaded.comparing(comparison);
  entry.compared = { of: loaded, program };
  return program;
}

function decidingProgram({ own, set, outdated }: AgentEntry): LoadedProgram | null {
  if (own !== null) return outdated ? null : own;
  return set === null || set.outdated ? null : set.loaded;
}

export interface AgentEntriesOptions {
  readonly maxAgents: number;
  readonly maxBytes: number;
  readonly memory: MemoryLedger;
  /** Called for a set that an agent does not have any more. */
  readonly release: (set: ControlSet) => void;
}

/** The agents in memory, and their programs. */
export class AgentEntries {
  readonly #options: AgentEntriesOptions;
  readonly #entries = new Map<string, Writable<AgentEntry>>();
  /** Entries whose links are older than the stored ones. */
  readonly behind = new Set<AgentEntry>();
  /** Entries with something of the last known good file, besides what their sets have of it. */
  readonly kept = new Set<AgentEntry>();
  /** Entries that are being loaded. */
  readonly loading = new Set<AgentEntry>();
  readonly #apart = new Set<AgentEntry>();
  #tick = 1;
  /** Ticks of the last call of `takeUsed`, and of the one before it. */
  #takenAt = 1;
  #recentFrom = 1;

  constructor(options: AgentEntriesOptions) {
    this.#options = options;
  }

  get size(): number {
    return this.#entries.size;
  }

  get(agentName: string): AgentEntry | undefined {
    return this.#entries.get(agentName);
  }

  has(entry: AgentEntry): boolean {
    return this.#entries.get(entry.name) === entry;
  }

  all(): IterableIterator<AgentEntry> {
    return this.#entries.values();
  }

  /** Entries with a program of their own. */
  apart(): Iterable<AgentEntry> {
    return this.#apart;
  }

  /** Whether more agents, or more memory for them, would evict others. */
  isFull(added: number): boolean {
    const { maxAgents, maxBytes, memory } = this.#options;
    return this.#entries.size + added > maxAgents || memory.bytes > maxBytes;
  }

  /** Agents used since the call before the last one of `takeUsed`, and then the others. */
  *usedFirst(): Generator<AgentEntry> {
    const recent = this.#recentFrom;
    for (const entry of this.#entries.values()) if (entry.lastUse >= recent) yield entry;
    for (const entry of this.#entries.values()) if (entry.lastUse < recent) yield entry;
  }

  /** Names of agents that were used since the last call and not taken in the same hour before. */
  takeUsed(hour: number): string[] {
    const names: string[] = [];
    for (const entry of this.#entries.values()) {
      if (entry.lastUse < this.#takenAt || entry.takenHour === hour) continue;
      entry.takenHour = hour;
      names.push(entry.name);
    }
    this.#tick += 1;
    this.#recentFrom = this.#takenAt;
    this.#takenAt = this.#tick;
    return names;
  }

  /** Counts up; distinguishes uses before and after an event. */
  get tick(): number {
    return this.#tick;
  }

  /** Adds an agent, for which others are evicted if necessary. */
  add(name: string): AgentEntry {
    this.makeRoom(1);
    const entry = {
      name,
      set: null,
      own: null,
      comparison: null,
      compared: null,
      isCurrent: false,
      outdated: false,
      needed: 0,
      readRevision: 0,
      loading: null,
      lastUse: 0,
      passedAt: 0,
      takenHour: 0,
    };
    this.#entries.set(name, entry);
    this.#options.memory.addBytes(bytesOf(entry));
    return entry;
  }

  /** Gives an agent the set of its links, which must be held for it, and a program of its own if necessary. */
  give(entry: AgentEntry, { set, own, comparison, readRevision, isKept }: GivenControls): void {
    const written: Writable<AgentEntry> = entry;
    const { set: before } = entry;
    written.set = set;
    written.readRevision = readRevision;
    written.isCurrent = true;
    written.outdated = false;
    this.behind.delete(entry);
    if (isKept) this.kept.add(entry);
    else this.kept.delete(entry);
    this.#setOwn(entry, own);
    this.#setComparison(entry, comparison);
    if (before !== null) this.#options.release(before);
    // An agent that is loading stays, whatever its size.
    this.makeRoom(0);
  }

  /** Records a load until it ends; evictions pass over the entry meanwhile. */
  load(entry: AgentEntry, loading: Promise<void>): Promise<void> {
    this.loading.add(entry);
    const ended = loading.finally(() => {
      (entry as Writable<AgentEntry>).loading = null;
      this.loading.delete(entry);
    });
    (entry as Writable<AgentEntry>).loading = ended;
    return ended;
  }

  /** Its program decides as of `progress` until the agent is loaded again, whatever happens to the set. */
  fallBehind(entry: AgentEntry, progress: Progress): void {
    if (entry.own === null) entry.outdated ||= entry.set?.outdated ?? false;
    this.#setOwn(entry, (entry.own ?? entry.set?.loaded ?? null)?.until(progress) ?? null);
    (entry as Writable<AgentEntry>).isCurrent = false;
    this.behind.add(entry);
  }

  /** The program of the set decides again. */
  rejoin(entry: AgentEntry): void {
    this.#setOwn(entry, null);
  }

  forget(entry: AgentEntry): void {
    if (!this.has(entry)) return;
    this.#entries.delete(entry.name);
    this.behind.delete(entry);
    this.kept.delete(entry);
    this.#setOwn(entry, null);
    this.#setComparison(entry, null);
    if (entry.set !== null) this.#options.release(entry.set);
    this.#options.memory.addBytes(-bytesOf(entry));
  }

  #setOwn(entry: AgentEntry, own: LoadedProgram | null): void {
    const { memory } = this.#options;
    if (own !== null) memory.add(own.program);
    if (entry.own !== null) memory.remove(entry.own.program);
    (entry as Writable<AgentEntry>).own = own;
    if (own === null) this.#apart.delete(entry);
    else this.#apart.add(entry);
  }

  #setComparison(entry: AgentEntry, comparison: StepComparison | null): void {
    const { memory } = this.#options;
    if (comparison !== null) memory.addPart(comparison.schemas);
    if (entry.comparison !== null) memory.removePart(entry.comparison.schemas);
    (entry as Writable<AgentEntry>).comparison = comparison;
    entry.compared = null;
  }

  /**
   * Makes room for `added` more agents. Second chance: the first agent not used since an eviction passed over it
   * is evicted.
   */
  makeRoom(added: number): void {
    if (!this.isFull(added)) return;
    const passedAt = this.#tick;
    this.#tick += 1;
    for (const [name, entry] of this.#entries) {
      if (!this.isFull(added)) return;
      if (entry.loading !== null) continue;
      if (entry.lastUse <= entry.passedAt) {
        this.forget(entry);
        continue;
      }
      entry.passedAt = passedAt;
      this.#entries.delete(name);
      this.#entries.set(name, entry);
    }
  }
}

function bytesOf({ name }: AgentEntry): number {
  return AGENT_BYTES + 2 * name.length;
}
