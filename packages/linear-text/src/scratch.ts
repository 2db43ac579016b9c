/**
 * Buffers in which sets of instructions are built. Shared by all patterns, because searches do not
 * interleave.
 */
export const scratch = {
  /** Instructions still to be visited. */
  stack: new Int32Array(0),
  /** The instructions of the current state, and of the next one. */
  source: new Int32Array(0),
  target: new Int32Array(0),
  /** The number of the last visit that reached an instruction. */
  marks: new Int32Array(0),
  mark: 0,
};

/** Grows the buffers for a program of `size` instructions. */
export function reserve(size: number): void {
  if (scratch.marks.length >= size) return;
  // An instruction is pushed by at most two others, besides the first one.
  scratch.stack = new Int32Array(2 * size + 2);
  scratch.source = new Int32Array(size);
  scratch.target = new Int32Array(size);
  scratch.marks = new Int32Array(size);
  scratch.mark = 0;
}

/** Begins a new visit, in which no instruction is marked. */
export function nextMark(): void {
  if (scratch.mark === 0x7fffffff) {
    scratch.marks.fill(0);
    scratch.mark = 0;
  }
  scratch.mark += 1;
}
