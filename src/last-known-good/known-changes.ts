import type { RecordedChange } from '../database/change-log.js';

/** Agents and controls remembered at most; with more, every agent counts as changed. */
const MAX_REMEMBERED = 10_000;

/**
 * What this process knows of changes, as far as it has to, to tell of which revision a kept state must be to be right
 * for an agent. Until `startedAt` is called no state is.
 */
export class KnownChanges {
  /** What came before this revision may concern every agent. */
  #all = Number.POSITIVE_INFINITY;
  readonly #agents = new Map<string, number>();
  readonly #controls = new Map<number, number>();

  /** The process begins to follow changes after this revision. What came before it is not known. */
  startedAt(revision: number): void {
    this.#forgetAll(revision);
  }

  /** Changes are committed. */
  changed(changes: readonly RecordedChange[]): void {
    for (const { revision, agents, controls } of changes) {
      if (agents === 'any') this.#allUpTo(revision);
      else for (const name of agents) this.used(name, revision);
      for (const id of controls) {
        this.#controls.set(id, Math.max(revision, this.#controls.get(id) ?? 0));
      }
      this.#makeRoom(revision);
    }
  }

  /** The database was restored to an earlier state; `told` is the latest revision known before that. */
  startOver(told: number): void {
    // Only what was saved after it is a state of the restored database: its revisions are greater.
    this.#forgetAll(told + 1);
  }

  /** A program of the agent was made from the database at this revision: an older state must not follow it. */
  used(agentName: string, revision: number): void {
    this.#agents.set(agentName, Math.max(revision, this.#agents.get(agentName) ?? 0));
    this.#makeRoom(revision);
  }

  /** The revision from which on a state is right for an agent that has these controls in it. */
  neededFor(agentName: string, controlIds: readonly number[]): number {
    let needed = Math.max(this.#all, this.#agents.get(agentName) ?? 0);
    for (const id of controlIds) needed = Math.max(needed, this.#controls.get(id) ?? 0);
    return needed;
  }

  #makeRoom(revision: number): void {
    if (this.#agents.size + this.#controls.size > MAX_REMEMBERED) {
      let latest = Math.max(revision, this.#all);
      for (const revisions of [this.#agents.values(), this.#controls.values()]) {
        for (const one of revisions) latest = Math.max(latest, one);
      }
      this.#forgetAll(latest);
    }
  }

  /** Every agent may have changed up to a revision. What is known of later ones stays. */
  #allUpTo(revision: number): void {
    this.#all = Math.max(revision, this.#all);
    for (const [name, one] of this.#agents) if (one <= this.#all) this.#agents.delete(name);
    for (const [id, one] of this.#controls) if (one <= this.#all) this.#controls.delete(id);
  }

  #forgetAll(revision: number): void {
    this.#all = revision;
    this.#agents.clear();
    this.#controls.clear();
  }
}
