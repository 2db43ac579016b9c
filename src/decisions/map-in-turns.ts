import { setImmediate as nextTurn } from 'node:timers/promises';

/** Longest turn of the event loop, in milliseconds. A single item may take longer. */
const TURN_MS = 5;

/** Maps a list, yielding to the event loop periodically. */
export async function mapInTurns<T, Mapped>(
  items: readonly T[],
  map: (item: T) => Mapped,
): Promise<Mapped[]> {
  const mapped: Mapped[] = [];
  let turnBegan = performance.now();
  for (const item of items) {
    mapped.push(map(item));
    if (performance.now() - turnBegan < TURN_MS) continue;
    await nextTurn();
    turnBegan = performance.now();
  }
  return mapped;
}
