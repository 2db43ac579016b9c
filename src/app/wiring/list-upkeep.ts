import { createRegularLook } from '../../contract/runtime/regular-look.js';
import type { RepeatLog } from '../../contract/runtime/repeat-log.js';

/** Delay of the first look after the start of a process, and the interval of later ones, in milliseconds. */
const FIRST_LOOK_MS = 100;
const LOOK_INTERVAL_MS = 10_000;

/** Completes what programs of an earlier version, which run before and during an upgrade, do not store. */
export interface ListUpkeep {
  /** Looks soon, and then at every interval. One of several processes on a port must. */
  start(): void;
  /** Never rejects. */
  close(): Promise<void>;
}

export interface ListUpkeepOptions {
  /** Each completes one kind of data. */
  readonly works: readonly (() => Promise<void>)[];
  /** The last known revision; without a new one there is nothing to complete. */
  readonly revision: () => number;
  readonly failures: Pick<RepeatLog, 'failed'>;
}

export function createListUpkeep({ works, revision, failures }: ListUpkeepOptions): ListUpkeep {
  let completeAt: number | undefined;
  const { start, close } = createRegularLook({
    firstMs: FIRST_LOOK_MS,
    intervalMs: LOOK_INTERVAL_MS,
    async look() {
      const before = revision();
      if (before === completeAt) return;
      try {
        for (const work of works) await work();
        completeAt = before;
      } catch (error) {
        failures.failed('list upkeep', 'what earlier versions stored could not be completed now', error);
      }
    },
  });
  return { start, close };
}
