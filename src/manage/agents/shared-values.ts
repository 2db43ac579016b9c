/** Values kept per state; most readers need the same one. */
const MAX_SHARED = 64;

/** Values that are made once for all readers of a state, and forgotten with it. */
export class SharedValues<Value> {
  #state = '';
  readonly #values = new Map<string, Value>();

  /** The value of a key in a state. */
  of(state: string, key: string, make: () => Value): Value {
    if (state !== this.#state) this.#values.clear();
    this.#state = state;
    const known = this.#values.get(key);
    if (known !== undefined) return known;
    const value = make();
    if (this.#values.size < MAX_SHARED) this.#values.set(key, value);
    return value;
  }
}
