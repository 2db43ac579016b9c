/** The longest time that is tried, in milliseconds. */
const LONGEST_MS = 120_000;

/**
 * Runs `attempt` with `firstMs`, and with twice as much again and again as long as it fails: for time limits that are
 * part of what is tested, and that a busy machine must not make too short for everything else. What is wrong fails
 * with every limit, and then with the last error.
 */
export async function withGrowingTime<T>(firstMs: number, attempt: (ms: number) => Promise<T>): Promise<T> {
  for (let ms = firstMs; ; ms *= 2) {
    try {
      return await attempt(ms);
    } catch (error) {
      if (2 * ms > LONGEST_MS) throw error;
    }
  }
}
