import { setImmediate as nextTurn } from 'node:timers/promises';

/** Longest turn of the event loop, in milliseconds. A single item may take longer. */
export const TURN_MS = 5;

/**
 * Turns of long evaluations. Each turn of the event loop has one, however many evaluations wait, so that they hold up
 * other calls together no longer than one of them.
 */
export function createSharedTurns(): () => Promise<void> {
  const waiting: (() => void)[] = [];
  const serve = (): void => {
    waiting.shift()?.();
    if (waiting.length > 0) setImmediate(serve);
  };
  return () =>
    new Promise((resolve) => {
      waiting.push(resolve);
      if (waiting.length === 1) setImmediate(serve);
    });
}

/** Maps a list, yielding to the event loop periodically. */
export async function mapInTurns<T, Mapped>(
  items: readonly T[],
  map: (item: T) => Mapped,
): Promise<Mapped[]> {
  return runInTurns(mapSteps(items, map));
}

/** Runs work that yields after each small part, yielding to the event loop periodically. */
export async function runInTurns<Result>(steps: Generator<void, Result>): Promise<Result> {
  let turnBegan = performance.now();
  for (;;) {
    const step = steps.next();
    if (step.done === true) return step.value;
    if (performance.now() - turnBegan < TURN_MS) continue;
    await nextTurn();
    turnBegan = performance.now();
  }
}

function* mapSteps<T, Mapped>(items: readonly T[], map: (item: T) => Mapped): Generator<void, Mapped[]> {
  const mapped: Mapped[] = [];
  for (const item of items) {
    mapped.push(map(item));
    yield;
  }
  return mapped;
}
