/** Bytes of calls that a caller may have at once, and per second after that, before it counts as heavy. */
const BURST_BYTES = 1_048_576;
const BYTES_PER_SECOND = 2_097_152;

/** The bytes that a caller sent and received lately. */
export class ByteDebt {
  #bytes = 0;
  #atMs = 0;

  /** Adds the bytes of a request or a reply. */
  charge(bytes: number, nowMs: number): void {
    this.#bytes = this.#left(nowMs) + bytes;
    this.#atMs = nowMs;
  }

  /** Whether there were so many that its next calls wait behind those of others. */
  isHeavy(nowMs: number): boolean {
    return this.#left(nowMs) > BURST_BYTES;
  }

  #left(nowMs: number): number {
    const paid = ((nowMs - this.#atMs) * BYTES_PER_SECOND) / 1_000;
    // Bounded, so that a caller that had very many is not heavy for long afterwards.
    return Math.min(Math.max(0, this.#bytes - paid), 4 * BURST_BYTES);
  }
}
