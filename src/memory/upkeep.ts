import type { DecisionLoop } from './decision-loop.js';
import type { KnownRules } from './known-rules.js';
import type { MemoryMeter } from './memory-meter.js';
import { type NamespaceUse, RULE_GAP_US } from './store/memory-store.js';
import type { MemoryLog, MemoryTimes, StoreLink } from './store-link.js';

/** How often the clock of the store is looked at while there are no steps: a new process must not meet a clock that was set. */
const BEAT_MS = 2_000;
const SWEEP_EVERY_BEATS = 15;
/** Most namespaces whose sizes are remembered. */
const MAX_USES = 10_000;

export interface UpkeepOptions {
  readonly link: StoreLink;
  readonly loop: DecisionLoop;
  readonly rules: KnownRules;
  readonly times: MemoryTimes;
  readonly timeoutMs: number;
  readonly entriesKeptUs: number;
  readonly maxCells: number;
  readonly maxBytes: number;
  readonly meter: MemoryMeter;
  readonly log: MemoryLog;
}

export interface Upkeep {
  /** Begins when the store was opened for the first time. */
  start(): void;
  stop(): void;
  /** Undefined for a namespace that keeps nothing, or before the first sweep. */
  useOf(namespace: string): NamespaceUse | undefined;
  /** When a sweep last forgot keys before their time, by the monotonic clock in microseconds; null if none did. */
  readonly evictedAtUs: number | null;
}

/** What is done regularly while the store is open: the clock, the rules, and sweeps. */
export function createUpkeep(options: UpkeepOptions): Upkeep {
  const { link, loop, rules, times, timeoutMs, entriesKeptUs, maxCells, maxBytes, meter, log } = options;
  let uses: ReadonlyMap<string, NamespaceUse> = new Map();
  let cancel: (() => void) | null = null;
  let evictedAtUs: number | null = null;
  let beats = 0;

  async function sweep(): Promise<void> {
    try {
      const store = await link.open(timeoutMs);
      const nowUs = link.nowUs();
      const report = await store.sweep({
        nowUs,
        entriesBeforeUs: nowUs - entriesKeptUs,
        maxCells,
        maxBytes,
        rulesBeforeUs: nowUs - 2 * RULE_GAP_US,
      });
      uses = new Map(report.uses.slice(0, MAX_USES).map((use) => [use.namespace, use]));
      meter.swept(report.expired, report.evicted);
      if (report.evicted === 0) return;
      evictedAtUs = times.monotonicUs();
      log.told(
        'warn',
        'memory evictions',
        'the memory exceeds its bounds; keys that were not used for longest are forgotten',
        {
          keys: report.evicted,
        },
      );
    } catch (error) {
      log.failed('memory sweep', 'the store of memory cannot be swept now', error);
    }
  }

  function next(): void {
    cancel = times.after(
      BEAT_MS,
      () => {
        beats += 1;
        if (!loop.isDown) {
          rules.beat();
          if (times.monotonicUs() - loop.lastExchangeUs >= BEAT_MS * 1_000) loop.beat();
          if (beats % SWEEP_EVERY_BEATS === 0) void sweep();
        }
        next();
      },
      false,
    );
  }

  return {
    start() {
      if (cancel === null) next();
    },
    stop() {
      cancel?.();
    },
    useOf: (namespace) => uses.get(namespace),
    get evictedAtUs() {
      return evictedAtUs;
    },
  };
}
