/** How much a `BoundedMap` may hold. */
export interface MapBounds<Value> {
  /** Most entries. */
  readonly entries: number;
  /** Most of what the values weigh together; the last one is kept whatever it weighs. */
  readonly weight?: number;
  readonly weightOf?: (value: Value) => number;
}

/** Changes of a small map after which its iterator is made anew, so that this is not done at each of them. */
const MIN_CHANGES = 100;

/**
 * A map whose oldest entries go when there are too many. The oldest one was set longest ago; where `use` reads, it was
 * used longest ago. Setting a known key again changes its value, not its age.
 */
export class BoundedMap<Key, Value> extends Map<Key, Value> {
  readonly #bounds: MapBounds<Value>;
  readonly #weightOf: (value: Value) => number;
  #weight = 0;
  /**
   * Every entry it has passed is gone, and new ones are behind it. A new iterator for each removal would pass all places
   * of entries that are gone, each time.
   */
  #oldest = this.keys();
  /** Since the iterator moved. */
  #changes = 0;

  constructor(bounds: MapBounds<Value>) {
    super();
    this.#bounds = bounds;
    this.#weightOf = bounds.weightOf ?? (() => 0);
  }

  override set(key: Key, value: Value): this {
    const before = this.get(key);
    if (before !== undefined) this.#weight -= this.#weightOf(before);
    this.#weight += this.#weightOf(value);
    super.set(key, value);
    this.#changed();
    const { entries, weight = 0 } = this.#bounds;
    while (this.size > entries || (this.#weight > weight && this.size > 1)) {
      this.delete(this.#oldest.next().value as Key);
      this.#changes = 0;
    }
    return this;
  }

  /** The value of a key, which becomes the youngest one. */
  use(key: Key): Value | undefined {
    const value = this.get(key);
    if (value === undefined) return undefined;
    super.delete(key);
    super.set(key, value);
    this.#changed();
    return value;
  }

  override delete(key: Key): boolean {
    const value = this.get(key);
    if (value !== undefined) this.#weight -= this.#weightOf(value);
    this.#changed();
    return super.delete(key);
  }

  override clear(): void {
    super.clear();
    this.#weight = 0;
  }

  /** An iterator that does not move keeps every table alive that V8 has replaced since, of all entries of its time. */
  #changed(): void {
    this.#changes += 1;
    if (this.#changes <= Math.max(this.size, MIN_CHANGES)) return;
    this.#oldest = this.keys();
    this.#changes = 0;
  }
}
