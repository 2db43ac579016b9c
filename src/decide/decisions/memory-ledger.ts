import type { ControlProgram, SizedPart } from '../../kernel/core/types.js';

/**
 * Adds up the memory of programs. A program, and a part that programs share, is counted once, from the first
 * holder until the last one is removed: only then can its memory be freed.
 */
export class MemoryLedger {
  /** Number of times that a program was added, and of programs that hold a part. */
  readonly #holders = new Map<SizedPart, number>();
  #bytes = 0;

  /** Estimated memory of everything together, in bytes. */
  get bytes(): number {
    return this.#bytes;
  }

  add(program: ControlProgram): void {
    if (this.#hold(program)) for (const part of program.sharedParts) this.#hold(part);
  }

  /** Reverts one `add`. */
  remove(program: ControlProgram): void {
    if (this.#release(program)) for (const part of program.sharedParts) this.#release(part);
  }

  /** Adds a part that is no part of a program, and that agents share. */
  addPart(part: SizedPart): void {
    this.#hold(part);
  }

  /** Reverts one `addPart`. */
  removePart(part: SizedPart): void {
    this.#release(part);
  }

  /** Counts memory besides programs; a negative number reverts it. */
  addBytes(bytes: number): void {
    this.#bytes += bytes;
  }

  /** True for the first holder. */
  #hold(part: SizedPart): boolean {
    const holders = this.#holders.get(part) ?? 0;
    this.#holders.set(part, holders + 1);
    if (holders === 0) this.#bytes += part.sizeBytes;
    return holders === 0;
  }

  /** True for the last holder. */
  #release(part: SizedPart): boolean {
    const holders = (this.#holders.get(part) ?? 1) - 1;
    if (holders > 0) {
      this.#holders.set(part, holders);
      return false;
    }
    this.#holders.delete(part);
    this.#bytes -= part.sizeBytes;
    return true;
  }
}
