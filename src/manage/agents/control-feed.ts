import { type AgentKey, nameOfKey, type TargetKey, targetOfKey } from '../../contract/call/namespace.js';
import { createWakeTurns } from '../../contract/call/wake-turns.js';
import { draining } from '../../contract/errors/draining.js';
import { type AgentState, createAgentControlStore } from '../../decide/agent-state/agent-control-store.js';
import { agentNotFound } from '../../decide/agent-state/agent-errors.js';
import type { EvaluatorRegistry } from '../../kernel/core/evaluator.js';
import { createCatchUp } from '../../storage/database/catch-up.js';
import type { RecordedChange } from '../../storage/database/change-log.js';
import type { DbClient } from '../../storage/database/database.js';
import { unavailable } from '../../storage/database/errors.js';
import { loadedInTime } from '../../storage/database/in-time.js';
import { scopeOfKey } from '../../storage/database/scoped.js';
import { linkedControl } from './agent-controls.js';
import { KnownRevisions } from './known-revisions.js';
import { type Followed, WatchedAgent } from './watched-agent.js';

export interface ControlFeedOptions {
  readonly client: DbClient;
  readonly registry: EvaluatorRegistry;
  /** The state of the database known to this process. */
  readonly followed: () => Followed;
  /** Monotonic clock, in milliseconds. */
  readonly now: () => number;
  readonly maxWatchers?: number;
}

/** Concurrent streams: those of 200 full HTTP/2 connections. Each costs some kilobytes. */
const MAX_WATCHERS = 50_000;
/**
 * How long an agent is kept after its last stream or list, in milliseconds, and how many of them: a client that opens
 * streams and resets them, or lists controls, does not make them be loaded each time.
 */
const KEPT_MS = 10_000;
const MAX_KEPT = 16;
/** Attempts to read a revision known to exist. The result of each is sent, so no stream waits for all. */
const MAX_LOAD_ATTEMPTS = 100;

/**
 * The controls of watched agents. An agent is loaded once per change, for any number of streams. Changes
 * during a load, or while a reader is slow, are combined.
 */
export class ControlFeed {
  readonly #options: ControlFeedOptions;
  /** By the key of the agent, followed by that of its target. */
  readonly #agents = new Map<string, WatchedAgent>();
  /** Agents with a change that is not loaded. */
  readonly #behind = new Set<WatchedAgent>();
  readonly #catchUp = createCatchUp({
    behind: this.#behind,
    load: (agent: WatchedAgent) => (agent.loading === null ? this.#load(agent) : null),
  });
  readonly #known: KnownRevisions;
  readonly #toWake = new Set<WatchedAgent>();
  readonly #wakeReaders = createWakeTurns((batch) => this.#wakeSome(batch));
  /** Agents without a stream, with the time until which they are kept; those without one for longest first. */
  readonly #kept = new Map<WatchedAgent, number>();
  #watchers = 0;
  /** Counts database restores: results read before one are discarded. */
  #generation = 0;
  #closed = false;

  constructor(options: ControlFeedOptions) {
    this.#options = options;
    this.#known = new KnownRevisions(options);
  }

  /** Number of open streams. */
  get watchers(): number {
    return this.#watchers;
  }

  /** Number of watched agents. */
  get size(): number {
    return this.#agents.size - this.#kept.size;
  }

  /**
   * The agent, working on a target if one is given, once its controls are known up to `fromRevision`, unless the database itself is at an earlier
   * revision; `isCurrent` when the controls of that revision are certainly the current ones. `leave` must be
   * called at the end of the watch. Rejects with AGENT_NOT_FOUND, CORRUPTED_DATA or SERVICE_UNAVAILABLE.
   */
  async join(
    key: AgentKey,
    fromRevision: number,
    target: TargetKey | null = null,
  ): Promise<{ readonly agent: WatchedAgent; readonly isCurrent: boolean }> {
    const { maxWatchers = MAX_WATCHERS } = this.#options;
    if (this.#closed) throw shuttingDown();
    if (this.#watchers >= maxWatchers) throw unavailable('Too many streams tell of controls.');
    const agent = this.#use(key, target);
    this.#watchers += 1;
    try {
      await this.#loadUpTo(agent, fromRevision);
      const { position } = agent;
      const isUnchanged = await this.#known.isUnchangedSince(agent, fromRevision);
      if (agent.failure !== null) throw agent.failure;
      if (!agent.loaded)
        throw unavailable('The controls of the agent change faster than they can be loaded.');
      return { agent, isCurrent: isUnchanged && position === agent.position };
    } catch (error) {
      this.leave(agent);
      throw error;
    }
  }

  /**
   * The agent with its controls of a revision, which the database has just told; null if they cannot be told from here.
   * It must be read at once. Rejects like `join`.
   */
  async at(key: AgentKey, revision: number, target: TargetKey | null = null): Promise<WatchedAgent | null> {
    if (this.#closed) return null;
    const agent = this.#use(key, target);
    try {
      await this.#loadUpTo(agent, revision);
      if (agent.failure !== null) throw agent.failure;
      // A database that was restored is at an earlier revision.
      return agent.loaded && agent.revision === revision ? agent : null;
    } finally {
      this.#release(agent);
    }
  }

  leave(agent: WatchedAgent): void {
    this.#watchers -= 1;
    this.#release(agent);
  }

  #use(key: AgentKey, target: TargetKey | null): WatchedAgent {
    const place = placeOf({ key, target });
    const agent = this.#agents.get(place) ?? new WatchedAgent(key, target, this.#options.followed);
    this.#agents.set(place, agent);
    this.#kept.delete(agent);
    agent.users += 1;
    return agent;
  }

  async #loadUpTo(agent: WatchedAgent, revision: number): Promise<void> {
    if (!agent.loaded || agent.revision < revision) await this.#load(agent);
    // A load already running may have begun before that revision.
    if (agent.revision < revision) await this.#load(agent);
  }

  #release(agent: WatchedAgent): void {
    agent.users -= 1;
    if (agent.users > 0) return;
    if (agent.failure !== null || !agent.loaded || this.#closed) {
      this.#forget(agent);
      return;
    }
    this.#kept.set(agent, this.#options.now() + KEPT_MS);
    this.#forgetKept();
  }

  /** Receives changes; see `ChangeFollower`. */
  changed(changes: readonly RecordedChange[]): void {
    this.#forgetKept();
    for (const change of changes) {
      const { revision, agents } = change;
      // The log does not cover what was before it.
      if (agents === 'any') this.#known.beginsAt(revision);
      const named = agents === 'any' ? null : new Set(agents);
      for (const agent of [...this.#agents.values()]) {
        const isConcerned = named === null || named.has(agent.key) || agent.mayHave(change);
        if (isConcerned) this.#demand(agent, revision);
      }
    }
    this.catchUp();
  }

  /** The database was restored: resends all state on every stream. `told` is the latest revision before. */
  startOver(told: number): void {
    for (const agent of this.#kept.keys()) this.#forget(agent);
    this.#generation += 1;
    this.#known.beginsAt(told + 1);
    for (const agent of this.#agents.values()) {
      agent.startOver(this.#options.followed());
      this.#behind.add(agent);
    }
    this.catchUp();
  }

  /** Resumes loading outdated agents. To be called periodically, because loads may fail. */
  catchUp(): void {
    this.#forgetKept();
    this.#catchUp();
  }

  /** Ends every stream with DRAINING, and rejects new ones. */
  close(): void {
    this.#closed = true;
    for (const agent of [...this.#agents.values()]) this.#fail(agent, shuttingDown());
  }

  #demand(agent: WatchedAgent, revision: number): void {
    if (!agent.demand(revision)) return;
    // Without a stream it is not worth a load.
    if (this.#kept.has(agent)) this.#forget(agent);
    else this.#behind.add(agent);
  }

  #load(agent: WatchedAgent): Promise<void> {
    agent.loading ??= this.#loadUntilCurrent(agent).finally(() => {
      agent.loading = null;
    });
    return agent.loading;
  }

  async #loadUntilCurrent(agent: WatchedAgent): Promise<void> {
    const { client, now } = this.#options;
    const store = createAgentControlStore(scopeOfKey(agent.key, client));
    const target = agent.target === null ? null : targetOfKey(agent.target);
    for (let attempt = 1; attempt <= MAX_LOAD_ATTEMPTS && agent.failure === null; attempt += 1) {
      const generation = this.#generation;
      const startedAtMs = now();
      const state = await loadedInTime(store.stateOf(nameOfKey(agent.key), target));
      if (generation !== this.#generation) continue;
      this.#take(agent, state, startedAtMs);
      if (agent.isBehind) continue;
      this.#behind.delete(agent);
      return;
    }
  }

  /** Throws the error that ends the streams: without an unreadable control a client would decide wrongly. */
  #take(agent: WatchedAgent, state: AgentState, atMs: number): void {
    const { controls } = state;
    try {
      if (controls === null) throw agentNotFound(nameOfKey(agent.key));
      const present = (row: (typeof controls)[number]) => linkedControl(row, this.#options.registry);
      if (agent.take(state, atMs, controls, present)) this.#wake(agent);
    } catch (error) {
      this.#fail(agent, error as Error);
      throw error;
    }
  }

  #fail(agent: WatchedAgent, error: Error): void {
    agent.failure ??= error;
    this.#forget(agent);
    this.#wake(agent);
  }

  #forget(agent: WatchedAgent): void {
    this.#behind.delete(agent);
    this.#kept.delete(agent);
    const place = placeOf(agent);
    if (this.#agents.get(place) === agent) this.#agents.delete(place);
  }

  #forgetKept(): void {
    const now = this.#options.now();
    for (const [agent, untilMs] of this.#kept) {
      if (untilMs > now && this.#kept.size <= MAX_KEPT) return;
      this.#forget(agent);
    }
  }

  #wake(agent: WatchedAgent): void {
    agent.callWaiting();
    this.#toWake.add(agent);
    this.#wakeReaders();
  }

  #wakeSome(batch: number): boolean {
    const [agent] = this.#toWake;
    if (agent !== undefined) {
      // Moves the agent to the end, so that agents take turns.
      this.#toWake.delete(agent);
      if (agent.wakeSome(batch)) this.#toWake.add(agent);
    }
    return this.#toWake.size > 0;
  }
}

/** A key of a target begins with a bracket, which no key of an agent has. */
function placeOf({ key, target }: Pick<WatchedAgent, 'key' | 'target'>): string {
  return target === null ? key : key + target;
}

function shuttingDown(): Error {
  return draining('Call again, with the revision of the last message.');
}
