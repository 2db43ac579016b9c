import type { ControlProgram, SizedPart } from '../core/types.js';

/**
 * Adds up the memory of programs. A shared part is counted once, from the first program that holds it until
 * the last one is removed: only then can its memory be freed.
 */
export class MemoryLedger {
  /** Number of programs that hold a part. */
  readonly #holders = new Map<SizedPart, number>();
  #bytes = 0;

  /** Estimated memory of all programs together, in bytes. */
  get bytes(): number {
    return this.#bytes;
  }

  add(program: ControlProgram): void {
    this.#bytes += program.sizeBytes;
    for (const part of program.sharedParts) {
      const holders = this.#holders.get(part) ?? 0;
      if (holders === 0) this.#bytes += part.sizeBytes;
      this.#holders.set(part, holders + 1);
    }
  }

  /** Reverts one `add`. */
  remove(program: ControlProgram): void {
    this.#bytes -= program.sizeBytes;
    for (const part of program.sharedParts) {
      const holders = (this.#holders.get(part) ?? 1) - 1;
      if (holders > 0) {
        this.#holders.set(part, holders);
        continue;
      }
      this.#holders.delete(part);
      this.#bytes -= part.sizeBytes;
    }
  }
}
