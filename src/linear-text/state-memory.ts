/** Most memory of the states of all patterns together, in bytes; a search that is under way may go beyond it. */
export const MAX_TOTAL_STATE_BYTES = 64 * 1024 * 1024;

/** Something whose memory can be had back. */
export interface Releasable {
  release(): void;
}

let used = 0;
let holders: WeakRef<Releasable>[] = [];

/** Takes note of a holder that has begun to take memory. It may be collected like any other object. */
export function hold(holder: Releasable): void {
  holders.push(new WeakRef(holder));
}

/** Takes note of memory taken by a holder. What a holder gives back by itself stays counted until all are released. */
export function take(bytes: number): void {
  used += bytes;
}

/** Releases all holders when they have taken too much together. To be called between searches only. */
export function releaseWhenFull(): void {
  if (used <= MAX_TOTAL_STATE_BYTES) return;
  const released = holders;
  used = 0;
  holders = [];
  for (const holder of released) holder.deref()?.release();
}
