import type { AgentKey } from '../../contract/call/namespace.js';
import { BoundedMap } from '../../contract/runtime/bounded-map.js';

/** Unknown agent names are cached this long, so that a stray client does not cause a query per step. */
const UNKNOWN_AGENT_MS = 1_000;
/** Most cached unknown agent names. Names are chosen by callers. */
const MAX_UNKNOWN_AGENTS = 10_000;

/** Agents that were not found, for a short time. */
export class UnknownAgents {
  readonly #until = new BoundedMap<AgentKey, number>({ entries: MAX_UNKNOWN_AGENTS });
  readonly #now: () => number;

  /** `now` is a monotonic clock, in milliseconds. */
  constructor(now: () => number) {
    this.#now = now;
  }

  has(agent: AgentKey): boolean {
    const until = this.#until.get(agent);
    if (until === undefined) return false;
    if (this.#now() < until) return true;
    this.#until.delete(agent);
    return false;
  }

  add(agent: AgentKey): void {
    this.#until.set(agent, this.#now() + UNKNOWN_AGENT_MS);
  }

  /** An agent may exist now. */
  delete(agent: AgentKey): void {
    this.#until.delete(agent);
  }

  clear(): void {
    this.#until.clear();
  }
}
