import { BoundedMap } from '../contract/bounded-map.js';

/** Unknown agent names are cached this long, so that a stray client does not cause a query per step. */
const UNKNOWN_AGENT_MS = 1_000;
/** Most cached unknown agent names. Names are chosen by callers. */
const MAX_UNKNOWN_AGENTS = 10_000;

/** Names of agents that were not found, for a short time. */
export class UnknownAgents {
  readonly #until = new BoundedMap<string, number>({ entries: MAX_UNKNOWN_AGENTS });
  readonly #now: () => number;

  /** `now` is a monotonic clock, in milliseconds. */
  constructor(now: () => number) {
    this.#now = now;
  }

  has(agentName: string): boolean {
    const until = this.#until.get(agentName);
    if (until === undefined) return false;
    if (this.#now() < until) return true;
    this.#until.delete(agentName);
    return false;
  }

  add(agentName: string): void {
    this.#until.set(agentName, this.#now() + UNKNOWN_AGENT_MS);
  }

  /** An agent may exist now. */
  delete(agentName: string): void {
    this.#until.delete(agentName);
  }

  clear(): void {
    this.#until.clear();
  }
}
