/**
 * A fixed number of places that one evaluation fills as it goes and empties at its end. Emptying costs as much as was
 * filled, not as much as there is room, so it is cheap to use again.
 */
export class Slots<T> {
  readonly #values: (T | undefined)[];
  readonly #filled: number[] = [];
  #count = 0;

  constructor(size: number) {
    this.#values = new Array(size).fill(undefined);
  }

  /** Undefined where nothing was put since the last `clear`. */
  get(slot: number): T | undefined {
    return this.#values[slot];
  }

  /** To be called once for each slot before the next `clear`. */
  put(slot: number, value: T): void {
    this.#values[slot] = value;
    this.#filled[this.#count] = slot;
    this.#count += 1;
  }

  clear(): void {
    for (let index = 0; index < this.#count; index += 1) {
      const slot = this.#filled[index];
      if (slot !== undefined) this.#values[slot] = undefined;
    }
    this.#count = 0;
  }
}
