/** Random choices that a seed repeats: mulberry32, a public-domain generator by Tommy Ettinger. */
export class Random {
  #state: number;

  constructor(seed: number) {
    this.#state = seed;
  }

  /** 0 up to, but not including, 1. */
  fraction(): number {
    this.#state = (this.#state + 0x6d2b79f5) | 0;
    let mixed = Math.imul(this.#state ^ (this.#state >>> 15), 1 | this.#state);
    mixed = (mixed + Math.imul(mixed ^ (mixed >>> 7), 61 | mixed)) ^ mixed;
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32;
  }

  /** 0 up to, but not including, `limit`. */
  below(limit: number): number {
    return Math.floor(this.fraction() * limit);
  }

  chance(probability: number): boolean {
    return this.fraction() < probability;
  }

  pick<Item>(items: readonly Item[]): Item {
    return items[this.below(items.length)] as Item;
  }

  /** Mostly few. */
  count(most: number): number {
    return Math.floor(this.fraction() ** 3 * (most + 1));
  }

  list<Item>(count: number, make: () => Item): Item[] {
    return Array.from({ length: count }, make);
  }
}

/** The seed of a test of the main suite: the same in every run, so that it fails for what changed and not by chance. */
export function caseSeed(): number {
  return Number(process.env.VERIFY_SEED ?? 20_261_125);
}

/** The seed of a long run: VERIFY_SEED, or another one each time. */
export function fuzzSeed(): number {
  return Number(process.env.VERIFY_SEED ?? Math.floor(Math.random() * 2 ** 31));
}
