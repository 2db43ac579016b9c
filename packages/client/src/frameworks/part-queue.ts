/** Parts that wait for a slow reader before no more of a stream is read. */
const MAX_WAITING_PARTS = 64;

/** Parts of a stream that may be read, between one side that adds them and one that takes them. */
export class PartQueue<Part> {
  readonly #ready: Part[] = [];
  #wake = (): void => {};
  #drained = (): void => {};

  get isEmpty(): boolean {
    return this.#ready.length === 0;
  }

  get isFull(): boolean {
    return this.#ready.length > MAX_WAITING_PARTS;
  }

  put(...more: readonly Part[]): void {
    this.#ready.push(...more);
    this.#wake();
  }

  /** The next part; undefined if none waits. */
  take(): Part | undefined {
    const part = this.#ready.shift();
    if (part !== undefined) this.#drained();
    return part;
  }

  /** Resolves when a part is taken, or when `drained` is called. */
  room(): Promise<void> {
    return new Promise((resolve) => {
      this.#drained = resolve;
    });
  }

  drained(): void {
    this.#drained();
  }

  /** Resolves when there are parts, when there are no more, or when `wake` is called. */
  more(isOver: () => boolean): Promise<void> {
    return new Promise((resolve) => {
      this.#wake = resolve;
      if (!this.isEmpty || isOver()) resolve();
    });
  }

  wake(): void {
    this.#wake();
  }
}
