import { type AgentKey, nameOfKey, type TargetKey } from '../../contract/call/namespace.js';
import { createCatchUp } from '../../storage/database/catch-up.js';
import { anyChange, type RecordedChange } from '../../storage/database/change-log.js';
import { isStorable } from '../../storage/database/text.js';
import { agentNotFound } from '../agent-state/agent-errors.js';
import { AgentEntries } from './agent-entries.js';
import { type AgentEntry, deciding, lacksMetadata } from './agent-entry.js';
import { AgentLoader, MAX_LOAD_ATTEMPTS, MAX_READ_AT_ONCE, tooManyChanges } from './agent-loader.js';
import { type ControlSet, ControlSets, concernedBy } from './control-sets.js';
import type { LoadedProgram, Progress } from './loaded-program.js';
import { MemoryLedger } from './memory-ledger.js';
import type { ProgramBuilder } from './program-builder.js';
import type { StateReader } from './state-reader.js';
import type { StepSchemaLibrary } from './step-schema-library.js';
import { UnboundTargets } from './unbound-targets.js';
import { UnknownAgents } from './unknown-agents.js';

export interface SnapshotOptions {
  readonly reader: StateReader;
  readonly builder: Omit<ProgramBuilder, 'definitionsOf'>;
  readonly stepSchemas: StepSchemaLibrary;
  /** Agents kept in memory, and pairs of an agent and a target; those not used recently are evicted. */
  readonly maxAgents: number;
  /** Estimated memory limit of the agents and their programs, in bytes. */
  readonly maxBytes: number;
  /** Monotonic clock, in milliseconds. */
  readonly now: () => number;
}

/** Outdated agents that are loaded at the same time, without an evaluation that waits for them. */
const MAX_CATCHING_UP = 1_000;

const NONE: ReadonlySet<number> = new Set();

/**
 * The compiled controls that each agent has now. Agents with the same links share a set of controls, and its
 * program. A change made through this process applies to the next evaluation; a change made elsewhere applies once
 * it was detected and loaded, and until then the older program decides, and states its revision.
 */
export class Snapshot {
  readonly #agents: AgentEntries;
  readonly #sets: ControlSets;
  readonly #unknown: UnknownAgents;
  readonly #unbound = new UnboundTargets();
  readonly #loader: AgentLoader;
  readonly #loadBehind: () => void;
  #progress: Progress = { revision: 0, currentAtMs: Number.NEGATIVE_INFINITY };

  constructor({ reader, builder, stepSchemas, maxAgents, maxBytes, now }: SnapshotOptions) {
    const memory = new MemoryLedger();
    const progress = () => this.#progress;
    this.#sets = new ControlSets({
      reader,
      builder,
      progress,
      memory,
      onGrown: () => this.#agents.makeRoom(0),
      now,
    });
    const release = (set: ControlSet) => this.#sets.release(set);
    this.#agents = new AgentEntries({ maxAgents, maxBytes, memory, release });
    this.#unknown = new UnknownAgents(now);
    this.#loader = new AgentLoader({
      reader,
      agents: this.#agents,
      sets: this.#sets,
      unknown: this.#unknown,
      unbound: this.#unbound,
      stepSchemas,
      progress,
    });
    this.#loadBehind = createCatchUp({
      behind: this.#agents.behind,
      // A failure is reported to the evaluations that need the program.
      load: (entry: AgentEntry) => (entry.loading === null ? this.#loader.load(entry) : null),
      maxAtOnce: MAX_CATCHING_UP,
    });
  }

  /**
   * The program of an agent that works on a target, null for none; a promise only when it has to be loaded. At least of `minRevision`, once
   * `revision` has reached that. Fails with AGENT_NOT_FOUND, or with SERVICE_UNAVAILABLE when the database
   * cannot be reached; throws known failures synchronously.
   */
  programOf(
    agent: AgentKey,
    target: TargetKey | null = null,
    minRevision = 0,
  ): LoadedProgram | Promise<LoadedProgram> {
    const entry = this.#entryOf(agent, target);
    entry.lastUse = this.#agents.tick;
    const loaded = deciding(entry);
    if (loaded !== null) {
      if (minRevision === 0 || loaded.revision(this.#progress) >= minRevision) return loaded;
    }
    return this.#awaited(agent, target, minRevision);
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

  /**
   * Applies the next changes, in order, without gaps. Older programs decide until new ones are loaded, but for those that
   * are affected by one of the revisions `here`, which this process made.
   */
  follow(changes: readonly RecordedChange[], here: ReadonlySet<number> = NONE): void {
    for (const change of changes) {
      this.#invalidate(change, here.has(change.revision));
      this.#progress = { ...this.#progress, revision: change.revision };
    }
    this.catchUp();
  }

  /**
   * Anything may have changed up to a revision: reloads everything. The older programs decide until then, unless a change
   * of this process is among them.
   */
  refreshAll(revision: number, isHere = false): void {
    this.follow([anyChange(revision)], isHere ? new Set([revision]) : NONE);
  }

  /** The database was replaced by an earlier revision: it was restored. All known state is invalid. */
  startOver(revision: number): void {
    this.#unknown.clear();
    this.#unbound.clear();
    for (const entry of this.#agents.all()) this.#agents.forget(entry);
    // Also those that are held by running loads.
    this.#sets.clear();
    this.#progress = { ...this.#progress, revision };
  }

  /**
   * Resumes loading outdated agents, and those not read from the database. To be called periodically while
   * that answers: an agent whose load failed would otherwise keep its older program forever.
   */
  catchUp(): void {
    for (const entry of this.#agents.kept) this.#agents.fallBehind(entry, this.#progress);
    for (const entry of this.#agents.apart()) this.#rejoin(entry);
    this.#sets.catchUp();
    this.#loadBehind();
  }

  /**
   * Loads agents that are not in memory, in batches, until one does not fit or `isOver`. Returns their number.
   * Rejects when all agents of a batch fail to load.
   */
  async preload(agents: readonly AgentKey[], isOver: () => boolean): Promise<number> {
    let loaded = 0;
    for (let from = 0; from < agents.length; from += MAX_READ_AT_ONCE) {
      const some = agents
        .slice(from, from + MAX_READ_AT_ONCE)
        .filter((agent) => this.#agents.get(agent) === undefined);
      if (isOver() || this.#agents.isFull(some.length)) break;
      const results = await Promise.allSettled(
        some.map(async (agent) => this.#loader.load(this.#add(agent, null))),
      );
      const failed = results.filter((result) => result.status === 'rejected');
      loaded += results.length - failed.length;
      // Single agents may have been deleted.
      if (failed[0] !== undefined && failed.length === results.length) throw failed[0].reason;
    }
    return loaded;
  }

  /** Agents that were used since the last call and not taken in the same hour since 1970 before. */
  takeUsed(hour: number): AgentKey[] {
    return this.#agents.takeUsed(hour);
  }

  /** Whether any agent could be loaded since the start. */
  get loadedOnce(): boolean {
    return this.#loader.loadedOnce;
  }

  /** Number of agents in memory. */
  get size(): number {
    return this.#agents.size;
  }

  /** Number of pairs of an agent and a target in memory. */
  get pairs(): number {
    return this.#agents.pairs;
  }

  /** Number of distinct sets of controls in memory. */
  get sets(): number {
    return this.#sets.size;
  }

  /** When the oldest program still in use was certainly the latest. */
  get oldestCurrentAtMs(): number {
    let oldest = Math.min(this.#progress.currentAtMs, this.#sets.oldestCurrentAtMs);
    for (const { own } of this.#agents.behind) {
      if (own !== null) oldest = Math.min(oldest, own.currentAtMs(this.#progress));
    }
    return oldest;
  }

  #invalidate(change: RecordedChange, here: boolean): void {
    const { revision, agents, targets } = change;
    if (agents === 'any') {
      this.#unknown.clear();
      this.#unbound.clear();
      // Loaded in this order.
      for (const entry of this.#agents.usedFirst()) this.#demandLinks(entry, revision, here);
    } else {
      for (const agent of agents) {
        this.#unknown.delete(agent);
        for (const entry of this.#agents.ofAgent(agent)) this.#demandLinks(entry, revision, here);
      }
      for (const target of targets) {
        this.#unbound.delete(target);
        for (const entry of this.#agents.ofTarget(target)) this.#demandLinks(entry, revision, here);
      }
      this.#invalidateUnsettled(change, here);
    }
    this.#sets.invalidate(change, here);
  }

  /** Agents that do not simply have the program of their set: what they have, or will have, is not known to it. */
  #invalidateUnsettled(change: RecordedChange, here: boolean): void {
    const concerns = concernedBy(change);
    if (concerns === null) return;
    for (const entry of this.#agents.loading) this.#demand(entry, change.revision, here);
    for (const entry of this.#agents.behind) this.#demand(entry, change.revision, here);
    for (const entry of this.#agents.apart()) {
      const { set, own } = entry;
      if (set === null || own === null || own.readRevision >= change.revision) continue;
      if (concerns(set.links, own.program)) this.#demand(entry, change.revision, here);
    }
  }

  #demandLinks(entry: AgentEntry, revision: number, here: boolean): void {
    if (entry.set === null || entry.readRevision < revision) this.#demand(entry, revision, here);
  }

  #demand(entry: AgentEntry, revision: number, here: boolean): void {
    entry.needed = Math.max(entry.needed, revision);
    if (entry.set === null) return;
    this.#agents.fallBehind(entry, this.#progress);
    entry.outdated ||= here;
  }

  /** An own program is not needed once the set is known to be of the same revision. */
  #rejoin(entry: AgentEntry): void {
    const { own, set } = entry;
    if (own === null || !entry.isCurrent || set?.isCurrent !== true) return;
    if (own.readRevision <= this.#progress.revision) this.#agents.rejoin(entry);
  }

  /** A target without bindings adds nothing: the agent without a target decides. */
  #entryOf(agent: AgentKey, target: TargetKey | null): AgentEntry {
    const bound = target === null || this.#unbound.has(target) ? null : target;
    return this.#agents.get(agent, bound) ?? this.#add(agent, bound);
  }

  #add(agent: AgentKey, target: TargetKey | null): AgentEntry {
    if (!isStorable(agent) || this.#unknown.has(agent)) throw agentNotFound(nameOfKey(agent));
    return this.#agents.add(agent, target);
  }

  async #awaited(agent: AgentKey, target: TargetKey | null, minRevision: number): Promise<LoadedProgram> {
    for (let attempt = 1; attempt <= MAX_LOAD_ATTEMPTS; attempt += 1) {
      const entry = this.#entryOf(agent, target);
      entry.lastUse = this.#agents.tick;
      const loaded = deciding(entry);
      // As of now: changes between this moment and the evaluation do not apply to it.
      if (loaded !== null && loaded.revision(this.#progress) >= minRevision)
        return loaded.until(this.#progress);
      const { set, own, loading } = entry;
      const isOfSet = set !== null && own === null && loading === null && !lacksMetadata(entry);
      // A set that is not current then may be ahead of what is known here: the agent gets a program of its own.
      await (isOfSet && attempt === 1 ? this.#sets.load(set) : this.#loader.load(entry));
    }
    throw tooManyChanges();
  }
}
