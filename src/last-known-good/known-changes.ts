import type { RecordedChange } from '../database/change-log.js';

/** Most agents and controls tracked; beyond that, every agent counts as changed. */
const MAX_REMEMBERED = 10_000;

/**
 * Tracks changes as far as needed to determine the minimum revision of a kept state that is valid for an
 * agent. Until `startedAt` is called no state is valid.
 */
export class KnownChanges {
  /** Changes up to this revision may affect every agent. */
  #all = Number.POSITIVE_INFINITY;
  readonly #agents = new Map<string, number>();
  readonly #controls = new Map<number, number>();

  /** Changes are tracked after this revision. Earlier ones are unknown. */
  startedAt(revision: number): void {
    this.#forgetAll(revision);
  }

  /** Called with committed changes. */
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
    // Only states saved afterwards belong to the restored database: their revisions are greater.
    this.#forgetAll(told + 1);
  }

  /** The agent was compiled from the database at this revision; an older state must not replace it. */
  used(agentName: string, revision: number): void {
    this.#agents.set(agentName, Math.max(revision, this.#agents.get(agentName) ?? 0));
    this.#makeRoom(revision);
  }

  /** The minimum revision of a state that is valid for an agent with these controls. */
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

  /** Marks every agent as changed up to a revision. Later known changes are kept. */
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
