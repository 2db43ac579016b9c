/** How much a `BoundedMap` may hold. */
export interface MapBounds<Value> {
  /** Most entries. */
  readonly entries: number;
  /** Most of what the values weigh together; the last one is kept whatever it weighs. */
  readonly weight?: number;
  readonly weightOf?: (value: Value) => number;
}

/**
 * A map whose oldest entries go when there are too many. The oldest one was set longest ago; where `use` reads, it was
 * used longest ago. Setting a known key again changes its value, not its age.
 */
export class BoundedMap<Key, Value> extends Map<Key, Value> {
  readonly #bounds: MapBounds<Value>;
  readonly #weightOf: (value: Value) => number;
  #weight = 0;
  /**
   * Every entry it has passed is gone, and new ones are behind it. A new iterator would pass all places of entries that
   * are gone, each time.
   */
  readonly #oldest = this.keys();

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
    const { entries, weight = 0 } = this.#bounds;
    while (this.size > entries || (this.#weight > weight && this.size > 1)) {
      this.delete(this.#oldest.next().value as Key);
    }
    return this;
  }

  /** The value of a key, which becomes the youngest one. */
  use(key: Key): Value | undefined {
    const value = this.get(key);
    if (value === undefined) return undefined;
    super.delete(key);
    super.set(key, value);
    return value;
  }

  override delete(key: Key): boolean {
    const value = this.get(key);
    if (value !== undefined) this.#weight -= this.#weightOf(value);
    return super.delete(key);
  }

  override clear(): void {
    super.clear();
    this.#weight = 0;
  }
}
