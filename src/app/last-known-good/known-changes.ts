import type { AgentKey, TargetKey } from '../../contract/call/namespace.js';
import type { ControlLinks } from '../../decide/agent-state/control-links.js';
import type { RecordedChange } from '../../storage/database/change-log.js';

/** Most agents, controls, policies and targets tracked; beyond that, everything counts as changed. */
const MAX_REMEMBERED = 100_000;

/** What has changed, or was used. */
interface Changed {
  readonly agents?: readonly AgentKey[];
  readonly controls?: readonly number[];
  readonly policies?: readonly number[] | undefined;
  readonly targets?: readonly TargetKey[];
}

/**
 * Tracks changes as far as needed to determine the minimum revision of a kept state that is valid for links and
 * controls. Until `startedAt` is called no state is valid.
 */
export class KnownChanges {
  /** Changes up to this revision may affect everything. */
  #all = Number.POSITIVE_INFINITY;
  readonly #agents = new Map<AgentKey, number>();
  readonly #controls = new Map<number, number>();
  readonly #policies = new Map<number, number>();
  readonly #targets = new Map<TargetKey, number>();

  /** Changes are tracked after this revision. Earlier ones are unknown. */
  startedAt(revision: number): void {
    this.#forgetAll(revision);
  }

  /** Called with committed changes. */
  changed(changes: readonly RecordedChange[]): void {
    for (const { revision, agents, controls, policies, targets } of changes) {
      if (agents === 'any') this.#allUpTo(revision);
      this.used({ agents: agents === 'any' ? [] : agents, controls, policies, targets }, revision);
    }
  }

  /** The database was restored to an earlier state; `told` is the latest revision known before that. */
  startOver(told: number): void {
    // Only states saved afterwards belong to the restored database: their revisions are greater.
    this.#forgetAll(told + 1);
  }

  /** These were read from the database at this revision; an older state must not replace them. */
  used({ agents = [], controls = [], policies = [], targets = [] }: Changed, revision: number): void {
    for (const agent of agents) raise(this.#agents, agent, revision);
    for (const id of controls) raise(this.#controls, id, revision);
    for (const id of policies) raise(this.#policies, id, revision);
    for (const target of targets) raise(this.#targets, target, revision);
    this.#makeRoom(revision);
  }

  /** The minimum revision of a state whose links of an agent, and bindings of a target, are valid. */
  neededForLinks(agent: AgentKey, target: TargetKey | null): number {
    const ofTarget = target === null ? 0 : (this.#targets.get(target) ?? 0);
    return Math.max(this.#all, this.#agents.get(agent) ?? 0, ofTarget);
  }

  /** The minimum revision of a state whose controls are valid for links that have these. */
  neededForControls({ policyIds }: ControlLinks, controlIds: readonly number[]): number {
    let needed = this.#all;
    for (const id of policyIds) needed = Math.max(needed, this.#policies.get(id) ?? 0);
    for (const id of controlIds) needed = Math.max(needed, this.#controls.get(id) ?? 0);
    return needed;
  }

  #makeRoom(revision: number): void {
    if (this.#tracked().reduce((sum, { size }) => sum + size, 0) <= MAX_REMEMBERED) return;
    let latest = Math.max(revision, this.#all);
    for (const tracked of this.#tracked()) {
      for (const one of tracked.values()) latest = Math.max(latest, one);
    }
    this.#forgetAll(latest);
  }

  /** Marks every agent as changed up to a revision. Later known changes are kept. */
  #allUpTo(revision: number): void {
    this.#all = Math.max(revision, this.#all);
    for (const tracked of this.#tracked()) {
      for (const [key, one] of tracked) if (one <= this.#all) tracked.delete(key);
    }
  }

  #forgetAll(revision: number): void {
    this.#all = revision;
    for (const tracked of this.#tracked()) tracked.clear();
  }

  #tracked(): Map<unknown, number>[] {
    return [this.#agents, this.#controls, this.#policies, this.#targets];
  }
}

function raise<Key>(revisions: Map<Key, number>, key: Key, revision: number): void {
  revisions.set(key, Math.max(revision, revisions.get(key) ?? 0));
}
