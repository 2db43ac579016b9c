import type { AgentKey, TargetKey } from '../../contract/call/namespace.js';
import type { StepComparison } from '../../kernel/core/step-schemas.js';
import { type AgentEntry, bytesOf, type GivenControls, newEntry } from './agent-entry.js';
import type { KeptMetadata } from './agent-metadata.js';
import type { ControlSet } from './control-sets.js';
import type { LoadedProgram, Progress } from './loaded-program.js';
import type { MemoryLedger } from './memory-ledger.js';
import { PairEntries } from './pair-entries.js';

type Writable<T> = { -readonly [Key in keyof T]: T[Key] };

export interface AgentEntriesOptions {
  /** Most agents, and most pairs of an agent and a target. */
  readonly maxAgents: number;
  readonly maxBytes: number;
  readonly memory: MemoryLedger;
  /** Called for a set that an agent does not have any more. */
  readonly release: (set: ControlSet) => void;
}

/** The agents in memory, and their programs. */
export class AgentEntries {
  readonly #options: AgentEntriesOptions;
  readonly #entries = new Map<AgentKey, AgentEntry>();
  readonly #pairs = new PairEntries<AgentEntry>();
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

  /** Number of agents. */
  get size(): number {
    return this.#entries.size;
  }

  /** Number of pairs of an agent and a target. */
  get pairs(): number {
    return this.#pairs.entries.size;
  }

  get(agent: AgentKey, target: TargetKey | null = null): AgentEntry | undefined {
    return target === null ? this.#entries.get(agent) : this.#pairs.get(agent, target);
  }

  has(entry: AgentEntry): boolean {
    return this.get(entry.key, entry.target) === entry;
  }

  *all(): Generator<AgentEntry> {
    yield* this.#entries.values();
    yield* this.#pairs.entries.values();
  }

  /** The entries of an agent: without a target, and with each. */
  *ofAgent(agent: AgentKey): Generator<AgentEntry> {
    const entry = this.#entries.get(agent);
    if (entry !== undefined) yield entry;
    yield* this.#pairs.ofAgent(agent);
  }

  /** The entries of all agents that work on a target. */
  ofTarget(target: TargetKey): Iterable<AgentEntry> {
    return this.#pairs.ofTarget(target);
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

  /** Entries used since the call before the last one of `takeUsed`, and then the others. */
  *usedFirst(): Generator<AgentEntry> {
    const recent = this.#recentFrom;
    for (const entry of this.all()) if (entry.lastUse >= recent) yield entry;
    for (const entry of this.all()) if (entry.lastUse < recent) yield entry;
  }

  /** Agents that were used since the last call, with a target or without, and not taken in the same hour before. */
  takeUsed(hour: number): AgentKey[] {
    const used = new Set<AgentKey>();
    for (const entry of this.all()) {
      if (entry.lastUse < this.#takenAt || entry.takenHour === hour) continue;
      entry.takenHour = hour;
      used.add(entry.key);
    }
    this.#tick += 1;
    this.#recentFrom = this.#takenAt;
    this.#takenAt = this.#tick;
    return [...used];
  }

  /** Counts up; distinguishes uses before and after an event. */
  get tick(): number {
    return this.#tick;
  }

  /** Adds an agent, or one that works on a target, for which others are evicted if necessary. */
  add(key: AgentKey, target: TargetKey | null = null): AgentEntry {
    this.makeRoom(target === null ? 1 : 0, target === null ? 0 : 1);
    const entry = newEntry(key, target);
    if (target === null) this.#entries.set(key, entry);
    else this.#pairs.add(entry, target);
    this.#options.memory.addBytes(bytesOf(entry));
    return entry;
  }

  /** Gives an agent the set of its links, which must be held for it, and a program of its own if necessary. */
  give(entry: AgentEntry, { set, own, comparison, metadata, readRevision, isKept }: GivenControls): void {
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
    this.#setMetadata(entry, metadata);
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
    if (entry.target === null) this.#entries.delete(entry.key);
    else this.#pairs.delete(entry, entry.target);
    this.behind.delete(entry);
    this.kept.delete(entry);
    this.#setOwn(entry, null);
    this.#setComparison(entry, null);
    this.#setMetadata(entry, null);
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

  #setMetadata(entry: AgentEntry, metadata: KeptMetadata | null): void {
    const { memory } = this.#options;
    if (metadata !== null) memory.addPart(metadata);
    if (entry.metadata !== null) memory.removePart(entry.metadata);
    (entry as Writable<AgentEntry>).metadata = metadata;
    entry.compared = null;
  }

  /**
   * Makes room for more agents, and for more pairs of an agent and a target. Pairs go first: targets are chosen by callers,
   * and must not displace agents. Second chance: the first entry not used since an eviction passed over it is evicted.
   */
  makeRoom(agents: number, pairs = 0): void {
    const { maxAgents, maxBytes, memory } = this.#options;
    const isFullOf = (entries: ReadonlyMap<unknown, AgentEntry>, added: number) => (): boolean =>
      entries.size > 0 && (entries.size + added > maxAgents || memory.bytes > maxBytes);
    this.#evict(this.#pairs.entries, isFullOf(this.#pairs.entries, pairs));
    this.#evict(this.#entries, isFullOf(this.#entries, agents));
  }

  #evict<Key>(entries: Map<Key, AgentEntry>, isFull: () => boolean): void {
    if (!isFull()) return;
    const passedAt = this.#tick;
    this.#tick += 1;
    for (const [key, entry] of entries) {
      if (!isFull()) return;
      if (entry.loading !== null) continue;
      if (entry.lastUse <= entry.passedAt) {
        this.forget(entry);
        continue;
      }
      entry.passedAt = passedAt;
      entries.delete(key);
      entries.set(key, entry);
    }
  }
}
