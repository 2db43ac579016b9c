import { setTimeout as sleep } from 'node:timers/promises';

export interface MeasurePlan {
  readonly seconds: number;
  /** Evaluations a second, each begun at its time; null for one after the other. */
  readonly rate: number | null;
  /** Those under way at a time. */
  readonly concurrency: number;
  readonly signal: AbortSignal;
}

export interface Measured {
  readonly count: number;
  readonly perSecond: number;
  /** In microseconds; with a rate from the time when they should have begun, so that waiting counts. */
  readonly p50Us: number;
  readonly p99Us: number;
  /** Those that began more than a millisecond after their time. */
  readonly late: number;
}

/** Most durations that are kept: later ones replace them in turn. */
const MAX_KEPT = 1_000_000;
const MAX_WARM_UP_MS = 1_000;

/** Calls works in turn for a time, after a short time without measuring. Rejects with what a work throws. */
export async function measure(
  works: readonly (() => Promise<unknown>)[],
  { seconds, rate, concurrency, signal }: MeasurePlan,
): Promise<Measured> {
  const durations: number[] = [];
  let next = 0;
  const call = (): Promise<unknown> => {
    const work = works[next % works.length];
    next += 1;
    return work === undefined ? Promise.resolve() : work();
  };
  const warmUntil = performance.now() + Math.min(MAX_WARM_UP_MS, seconds * 250);
  do await call();
  while (performance.now() < warmUntil && !signal.aborted);

  const begun = performance.now();
  const end = begun + seconds * 1_000;
  let count = 0;
  let started = 0;
  let late = 0;
  async function loop(): Promise<void> {
    for (;;) {
      const dueMs = rate === null ? performance.now() : begun + (started / rate) * 1_000;
      started += 1;
      if (dueMs >= end || performance.now() >= end || signal.aborted) return;
      const waitMs = dueMs - performance.now();
      if (waitMs >= 1) await sleep(waitMs, undefined, { signal }).catch(() => {});
      else while (performance.now() < dueMs);
      if (rate !== null && performance.now() - dueMs > 1) late += 1;
      await call();
      durations[count % MAX_KEPT] = (performance.now() - dueMs) * 1_000;
      count += 1;
    }
  }
  await Promise.all(Array.from({ length: Math.floor(concurrency) }, loop));
  const passedS = (performance.now() - begun) / 1_000;
  durations.sort((one, other) => one - other);
  const at = (share: number): number =>
    durations[Math.min(durations.length - 1, Math.floor(durations.length * share))] ?? 0;
  return { count, perSecond: count / passedS, p50Us: at(0.5), p99Us: at(0.99), late };
}
