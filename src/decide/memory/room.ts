import type { NamespaceUse } from './store/memory-store.js';

/** An agent may begin this part of the keys of a namespace. */
const SHARE = 1 / 4;

export interface RoomLimits {
  /** Keys and bytes of a namespace. */
  readonly maxCells: number;
  readonly maxBytes: number;
}

/**
 * How many keys namespaces and agents have. Keys are never forgotten for others before their time: beyond its bounds a
 * namespace begins no new ones, and an agent beyond its share. Counts are those of the last sweep and what this process has begun
 * since, so that several processes together may exceed a bound by what they begin between two sweeps.
 */
export class Room {
  readonly #limits: RoomLimits;
  #uses: ReadonlyMap<string, NamespaceUse> = new Map();
  /** Keys that were begun since: by namespace, and by namespace and agent. */
  readonly #begun = new Map<string, number>();
  #refusals = 0;

  constructor(limits: RoomLimits) {
    this.#limits = limits;
  }

  /** Most keys that an agent begins. */
  get share(): number {
    return Math.max(1, Math.floor(this.#limits.maxCells * SHARE));
  }

  /** How often there was no room. */
  get refusals(): number {
    return this.#refusals;
  }

  /** Whether the agent may begin no key; `times` as many as usual are allowed. */
  isFull(namespace: string, agent: string, times = 1): boolean {
    const use = this.#uses.get(namespace);
    const cells = (use?.cells ?? 0) + (this.#begun.get(namespace) ?? 0);
    const own = (use?.agents.get(agent) ?? 0) + (this.#begun.get(ofAgent(namespace, agent)) ?? 0);
    const { maxCells, maxBytes } = this.#limits;
    const isFull =
      cells >= times * maxCells || own >= times * this.share || (use?.bytes ?? 0) >= times * maxBytes;
    if (isFull) this.#refusals += 1;
    return isFull;
  }

  /** The agent begins a key. */
  begun(namespace: string, agent: string): void {
    for (const key of [namespace, ofAgent(namespace, agent)]) {
      this.#begun.set(key, (this.#begun.get(key) ?? 0) + 1);
    }
  }

  /** A sweep begins, which counts what was begun before. Returns what takes its result. */
  counting(): (uses: readonly NamespaceUse[]) => void {
    const counted = [...this.#begun];
    return (uses) => {
      this.#uses = new Map(uses.map((use) => [use.namespace, use]));
      for (const [key, count] of counted) {
        const left = (this.#begun.get(key) ?? 0) - count;
        if (left > 0) this.#begun.set(key, left);
        else this.#begun.delete(key);
      }
    };
  }
}

/** Names of namespaces have no blanks. */
const ofAgent = (namespace: string, agent: string): string => `${namespace} ${agent}`;
