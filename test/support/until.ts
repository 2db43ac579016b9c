import { setTimeout as pause } from 'node:timers/promises';

const PAUSE_MS = 20;

/** Asks again and again until `check` holds, and returns what was asked for; rejects after `limitMs`. */
export async function until<T>(
  ask: () => Promise<T> | T,
  check: (answer: T) => boolean,
  limitMs = 15_000,
): Promise<T> {
  const deadline = performance.now() + limitMs;
  for (;;) {
    const answer = await ask();
    if (check(answer)) return answer;
    if (performance.now() > deadline) {
      throw new Error(`not within ${limitMs} ms; the last answer was ${JSON.stringify(answer)}`);
    }
    await pause(PAUSE_MS);
  }
}
