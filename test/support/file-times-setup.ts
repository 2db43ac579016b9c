import { appendFileSync, mkdirSync, readFileSync } from 'node:fs';
import path from 'node:path';
import { afterAll, expect } from 'vitest';

/** Ticks of the kernel in a second, as Linux shows them to programs. */
const TICKS = 100;

/** Where `.ci/run` wants to know which files take long. */
const folder = process.env.TEST_RESULTS_FOLDER;
if (folder !== undefined) {
  const begun = { wall: performance.now(), cpu: cpuSeconds() };
  afterAll(() => {
    const file = path.relative(process.cwd(), expect.getState().testPath ?? '');
    const times = { file, wall: (performance.now() - begun.wall) / 1_000, cpu: cpuSeconds() - begun.cpu };
    mkdirSync(folder, { recursive: true });
    appendFileSync(path.join(folder, 'times.jsonl'), `${JSON.stringify(times)}\n`);
  });
}

/** Processor time of this process, its threads, and its children that have ended. */
function cpuSeconds(): number {
  try {
    // The name of the process, which may have blanks, is in parentheses: utime is the twelfth field behind it.
    const fields = readFileSync('/proc/self/stat', 'utf8').split(') ').at(-1)?.split(' ') ?? [];
    return fields.slice(11, 15).reduce((sum, ticks) => sum + Number(ticks), 0) / TICKS;
  } catch {
    const { user, system } = process.cpuUsage();
    return (user + system) / 1e6;
  }
}
