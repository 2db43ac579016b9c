import { setImmediate as nextTurn } from 'node:timers/promises';

/** How long work goes on before others get a turn, in milliseconds. One item may take longer by itself. */
const TURN_MS = 5;

/** Maps a list, leaving the event loop to others now and then. */
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
