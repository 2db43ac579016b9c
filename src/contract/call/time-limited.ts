/**
 * Waits for a promise, but not longer than `limitMs` milliseconds; then the result is that of `late`, or its error. The
 * later result of the promise is ignored, also an error.
 */
export async function timeLimited<T, Late>(
  work: Promise<T>,
  limitMs: number,
  late: () => Late,
): Promise<T | Awaited<Late>> {
  let timer: NodeJS.Timeout | undefined;
  const limit = new Promise<void>((resolve) => {
    timer = setTimeout(resolve, limitMs);
  }).then(late);
  try {
    return await Promise.race([work, limit]);
  } finally {
    clearTimeout(timer);
  }
}
