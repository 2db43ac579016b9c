import type { AgentKey, TargetKey } from '../../contract/call/namespace.js';

/** Something of an agent. */
interface OfAgent {
  readonly key: AgentKey;
}

/** Entries of agents that work on a target. */
export class PairEntries<Entry extends OfAgent> {
  /** In the order in which they were added, or passed over by an eviction. */
  readonly entries = new Map<string, Entry>();
  readonly #ofAgent = new Map<AgentKey, Set<Entry>>();
  readonly #ofTarget = new Map<TargetKey, Set<Entry>>();

  get(agent: AgentKey, target: TargetKey): Entry | undefined {
    return this.entries.get(pairKey(agent, target));
  }

  ofAgent(agent: AgentKey): Iterable<Entry> {
    return this.#ofAgent.get(agent) ?? [];
  }

  ofTarget(target: TargetKey): Iterable<Entry> {
    return this.#ofTarget.get(target) ?? [];
  }

  add(entry: Entry, target: TargetKey): void {
    this.entries.set(pairKey(entry.key, target), entry);
    addTo(this.#ofAgent, entry.key, entry);
    addTo(this.#ofTarget, target, entry);
  }

  delete(entry: Entry, target: TargetKey): void {
    this.entries.delete(pairKey(entry.key, target));
    deleteFrom(this.#ofAgent, entry.key, entry);
    deleteFrom(this.#ofTarget, target, entry);
  }
}

/** A key of a target begins with a bracket, which no key of an agent has. */
function pairKey(agent: AgentKey, target: TargetKey): string {
  return agent + target;
}

function addTo<Key, Entry>(index: Map<Key, Set<Entry>>, key: Key, entry: Entry): void {
  const known = index.get(key);
  if (known === undefined) index.set(key, new Set([entry]));
  else known.add(entry);
}

function deleteFrom<Key, Entry>(index: Map<Key, Set<Entry>>, key: Key, entry: Entry): void {
  const known = index.get(key);
  known?.delete(entry);
  if (known?.size === 0) index.delete(key);
}
