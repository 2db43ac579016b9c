/**
 * For `node --import` in a process whose heap a test looks at: SIGUSR2 collects the garbage, and adds a line with the
 * bytes that are left to the file HEAP_REPORT.
 */
import { appendFileSync } from 'node:fs';
import { setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';
import { isMainThread } from 'node:worker_threads';

if (isMainThread) {
  setFlagsFromString('--expose-gc');
  const collect = runInNewContext('gc');
  process.on('SIGUSR2', () => {
    collect();
    const { heapUsed, external } = process.memoryUsage();
    appendFileSync(process.env.HEAP_REPORT, `${heapUsed + external}\n`);
  });
}
