/** Plain JavaScript, because threads that start from a file without TypeScript import it too. */
import os from 'node:os';

/** How much less urgent than its process a background thread is. A tenth of the processor, where that is busy. */
const NICENESS = 10;
/** The least urgent there is. */
const MAX_NICENESS = 19;

/**
 * Makes the calling thread less urgent than the one that evaluates, so that it waits where the processors are busy.
 * Only Linux has priorities of threads; elsewhere this changes nothing.
 */
export function runInBackground() {
  if (process.platform !== 'linux') return;
  try {
    os.setPriority(Math.min(MAX_NICENESS, os.getPriority() + NICENESS));
  } catch {
    // A sandbox may forbid it; then the thread is as urgent as all others.
  }
}
