import { setTimeout as pause } from 'node:timers/promises';

const PAUSE_MS = 20;

/**
 * Longest time that a test waits for one thing, in milliseconds. It only turns a wait without end into an error that
 * says what was seen last; on a busy machine, what takes a moment elsewhere takes as long as it takes.
 */
const LIMIT_MS = 300_000;

/** Asks again and again until `check` holds, and returns what was asked for. */
export async function until<T>(ask: () => Promise<T> | T, check: (answer: T) => boolean): Promise<T> {
  const deadline = performance.now() + LIMIT_MS;
  for (;;) {
    const answer = await ask();
    if (check(answer)) return answer;
    if (performance.now() > deadline) {
      throw new Error(`not within ${LIMIT_MS} ms; the last answer was ${JSON.stringify(answer)}`);
    }
    await pause(PAUSE_MS);
  }
}
