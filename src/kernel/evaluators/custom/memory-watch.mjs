// @ts-check
/**
 * A thread in the process of a custom evaluator. It ends that process when it needs too much memory, of which
 * the engine limits objects but not buffers, or when the service has ended; also while a check never ends.
 */
import { writeSync } from 'node:fs';
import { workerData } from 'node:worker_threads';

/** Interval of the measurement while a check runs, and of looking for the service otherwise, in milliseconds. */
const BUSY_INTERVAL_MS = 50;
const IDLE_INTERVAL_MS = 10_000;

const { isBusy, maxMemoryBytes, parent } =
  /** @type {{ isBusy: Int32Array<SharedArrayBuffer>; maxMemoryBytes: number; parent: number }} */ (
    workerData
  );
const never = new Int32Array(new SharedArrayBuffer(4));

for (;;) {
  Atomics.wait(isBusy, 0, 0, IDLE_INTERVAL_MS);
  Atomics.wait(never, 0, 0, BUSY_INTERVAL_MS);
  if (process.ppid !== parent) process.kill(process.pid, 'SIGKILL');
  if (process.memoryUsage.rss() <= maxMemoryBytes) continue;
  writeSync(
    2,
    `Ended: the process grew too much: it needs more than ${Math.round(maxMemoryBytes / 2 ** 20)} MiB of memory\n`,
  );
  process.kill(process.pid, 'SIGKILL');
}
