import { createRegularLook, type RegularLook } from '../../contract/runtime/regular-look.js';
import type { RepeatLog } from '../../contract/runtime/repeat-log.js';
import type { Database } from '../../storage/database/database.js';
import type { SampleMeter } from './sample-meter.js';
import { countSamples, removeSamples } from './sample-store.js';
import type { SamplingRegistry } from './sampling-registry.js';

const FIRST_MS = 1_000;
const INTERVAL_MS = 60_000;

export interface SampleUpkeepOptions {
  readonly database: Pick<Database, 'bulk'>;
  readonly rules: Pick<SamplingRegistry, 'isEmpty' | 'readings'>;
  readonly meter: SampleMeter;
  readonly failures: Pick<RepeatLog, 'failed'>;
  /** Milliseconds since 1970. */
  readonly now: () => number;
  readonly intervalMs?: number;
}

/**
 * Removes samples whose time is over, and counts the others. One of several processes on a port must; those of several hosts do
 * so beside each other. While there is neither a rule nor a sample, it asks nothing.
 */
export function createSampleUpkeep(options: SampleUpkeepOptions): RegularLook {
  const { database, rules, meter, failures, now, intervalMs = INTERVAL_MS } = options;
  /** Whether there may be samples: they outlive their rules. */
  let mayBeSome = true;
  let lookedAt = -1;
  const regular = createRegularLook({
    firstMs: Math.min(FIRST_MS, intervalMs),
    intervalMs,
    async look() {
      // A rule may have come and gone.
      if (!mayBeSome && rules.isEmpty && rules.readings === lookedAt) return;
      try {
        lookedAt = rules.readings;
        const hasRules = !rules.isEmpty;
        const nowMs = now();
        let { count, firstEndMs } = await countSamples(database);
        while (firstEndMs !== null && firstEndMs <= nowMs && !regular.isClosed) {
          if ((await removeSamples(database, { endedAtMs: nowMs })) > 0) continue;
          ({ count, firstEndMs } = await countSamples(database));
        }
        meter.counted(count);
        mayBeSome = hasRules || count > 0;
      } catch (error) {
        failures.failed('samples', 'samples whose time is over cannot be removed now', error);
      }
    },
  });
  return regular;
}
