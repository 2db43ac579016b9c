import type { DecisionLoop } from './decision-loop.js';
import type { KnownRules } from './known-rules.js';
import type { MemoryMeter } from './memory-meter.js';
import type { Room } from './room.js';
import { type NamespaceUse, RULE_GAP_US } from './store/memory-store.js';
import type { MemoryLog, MemoryTimes, StoreLink } from './store-link.js';

/** How often the clock of the store is looked at while there are no steps: a new process must not meet a clock that was set. */
const BEAT_MS = 2_000;
const SWEEP_EVERY_BEATS = 15;

export interface UpkeepOptions {
  readonly link: StoreLink;
  readonly loop: DecisionLoop;
  readonly rules: KnownRules;
  readonly times: MemoryTimes;
  readonly timeoutMs: number;
  readonly entriesKeptUs: number;
  readonly room: Room;
  readonly maxBytes: number;
  readonly meter: MemoryMeter;
  readonly log: MemoryLog;
}

export interface Upkeep {
  /** Begins when the store was opened for the first time. */
  start(): void;
  stop(): void;
  /** As of the last sweep, but for that of the start; undefined for a namespace that keeps nothing, or before. */
  useOf(namespace: string): NamespaceUse | undefined;
  /** When a key was last refused, by the monotonic clock in microseconds, to some seconds; null if none was. */
  readonly refusedAtUs: number | null;
}

/** What is done regularly while the store is open: the clock, the rules, and sweeps. */
export function createUpkeep(options: UpkeepOptions): Upkeep {
  const { link, loop, rules, times, timeoutMs, entriesKeptUs, room, maxBytes, meter, log } = options;
  let cancel: (() => void) | null = null;
  let refusedAtUs: number | null = null;
  let uses: ReadonlyMap<string, NamespaceUse> = new Map();
  let refusals = 0;
  let beats = 0;

  async function sweep(isFirst = false): Promise<void> {
    try {
      const store = await link.open(timeoutMs);
      const nowUs = link.nowUs();
      const counted = room.counting();
      const report = await store.sweep({
        nowUs,
        entriesBeforeUs: nowUs - entriesKeptUs,
        maxBytes,
        agentsFrom: room.share,
        rulesBeforeUs: nowUs - 2 * RULE_GAP_US,
      });
      counted(report.uses);
      if (!isFirst) uses = new Map(report.uses.map((use) => [use.namespace, use]));
      meter.swept(report.expired);
    } catch (error) {
      log.failed('memory sweep', 'the store of memory cannot be swept now', error);
    }
  }

  function tellRefusals(): void {
    const more = room.refusals - refusals;
    if (more === 0) return;
    refusals = room.refusals;
    refusedAtUs = times.monotonicUs();
    meter.refused(more);
    const message =
      'there is no room for new keys in the memory of controls; steps that need one fail closed';
    log.told('warn', 'memory full', message, { refusals: more });
  }

  function next(): void {
    cancel = times.after(
      BEAT_MS,
      () => {
        beats += 1;
        tellRefusals();
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
      if (cancel !== null) return;
      next();
      // Until then there seems to be room for everything.
      void sweep(true);
    },
    stop() {
      cancel?.();
    },
    useOf: (namespace) => uses.get(namespace),
    get refusedAtUs() {
      return refusedAtUs;
    },
  };
}
