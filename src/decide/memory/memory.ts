import { randomBytes } from 'node:crypto';
import { CellCache } from './cell-cache.js';
import type { Reducers } from './cell-state.js';
import { DecisionLoop } from './decision-loop.js';
import { createForeignMemory } from './foreign-memory.js';
import type { Job } from './job.js';
import type { EntryWriter } from './job-entries.js';
import { KnownRules } from './known-rules.js';
import { LocalMemory } from './local-memory.js';
import { createMemoryAdmin } from './memory-admin.js';
import type { MemoryMeter } from './memory-meter.js';
import type { Memory } from './memory-types.js';
import { createRepairs } from './repairs.js';
import { Room } from './room.js';
import type { MemoryStore } from './store/memory-store.js';
import { type MemoryLog, type MemoryTimes, StoreLink } from './store-link.js';
import { createUpkeep } from './upkeep.js';

const CACHE_BYTES = 64 * 1024 * 1024;

export interface MemoryOptions {
  /** Called when the memory is first needed, and again after it failed. The store is not opened yet. */
  readonly openStore: () => Promise<MemoryStore>;
  readonly reducers: Reducers;
  /** How long a decision waits for the store, in milliseconds. */
  readonly timeoutMs: number;
  /** How long entries are kept at least, in milliseconds. */
  readonly maxWindowMs: number;
  /** Bounds of a namespace. */
  readonly maxKeys: number;
  readonly maxBytes: number;
  /** Most memory for cells that the process knows, in bytes. */
  readonly cacheBytes?: number;
  readonly log: MemoryLog;
  readonly meter: MemoryMeter;
  /** Why the store may lose what it acknowledged; null if it does not, or while that is unknown. */
  readonly volatility?: () => string | null;
  readonly times?: MemoryTimes;
}

/** What of the memory of this process needs attention. */
export interface MemoryTroubles {
  /** Why the store does not answer. */
  readonly problem: string | null;
  /** Why the store may lose what it acknowledged; null if it does not. */
  readonly volatility: string | null;
  /** Keys whose memory cannot be read, since the process began. */
  readonly damagedKeys: number;
  /** Whether keys were refused in the last hour because there was no room for them. */
  readonly isFull: boolean;
}

/** Memory, and what is watched of it. */
export interface WatchedMemory extends Memory {
  troubles(): MemoryTroubles;
}

const REFUSAL_TOLD_US = 3_600_000_000;

/** Creates the memory. Nothing is opened before the first step that needs it. */
export function createMemory(options: MemoryOptions): WatchedMemory {
  const { openStore, reducers, timeoutMs, log, meter, times = REAL_TIMES } = options;
  const entriesKeptUs = options.maxWindowMs * 1_000;
  const context = { reducers, stepsKeptUs: entriesKeptUs };
  const cells = new CellCache(context, options.cacheBytes ?? CACHE_BYTES);
  const rules = new KnownRules(times.monotonicUs);
  let isUsed = false;

  const link = new StoreLink({
    openStore,
    times,
    log,
    meter,
    onOpen: () => upkeep.start(),
    onVoid() {
      cells.clear();
      rules.clear();
      local.forget();
    },
  });
  const writer = createWriter(entriesKeptUs);
  const local = new LocalMemory({
    writer,
    nowUs: () => link.nowUs(),
    cellOf: (name) => cells.cellOf(name, link.nowUs()).copy(),
    sinceUs: (namespace, ruleId) => rules.sinceUs(namespace, ruleId),
  });
  const repairs = createRepairs({ link, cells, log, timeoutMs, reducers, entriesKeptUs });
  const room = new Room({ maxCells: options.maxKeys, maxBytes: options.maxBytes });
  const loop = new DecisionLoop({
    link,
    cells,
    room,
    rules,
    local,
    writer,
    times,
    timeoutMs,
    log,
    meter,
    onDamage: (cell) => void repairs.repair(cell),
  });
  const upkeep = createUpkeep({
    link,
    loop,
    rules,
    times,
    timeoutMs,
    entriesKeptUs,
    room,
    maxBytes: options.maxBytes,
    meter,
    log,
  });

  function submit(job: Job, signal?: AbortSignal): Promise<unknown> {
    isUsed = true;
    return loop.submit(job, signal);
  }

  /** Waits for the store, at most for its time limit. */
  async function opened(): Promise<void> {
    isUsed = true;
    if (link.ids !== null || loop.isDown) return;
    try {
      await link.open(timeoutMs);
    } catch (error) {
      loop.down(error);
    }
  }

  const ids = () => link.ids ?? local.ids;
  return {
    ready: () => (link.ids === null ? opened().then(() => ids().hash) : link.ids.hash),
    run: (plan, signal) =>
      // The value of a job is that of its plan.
      submit({ ...plan, decide: (view) => plan.decide(view) }, signal) as Promise<never>,
    foreign: createForeignMemory({
      submit,
      async hashKey() {
        await opened();
        return link.hashKey ?? local.hashKey;
      },
    }),
    ...createMemoryAdmin({ link, context, timeoutMs, submit, forget: () => cells.clear() }),
    status(namespace) {
      const use = upkeep.useOf(namespace);
      return {
        store: link.kind,
        isUsed,
        isAvailable: loop.problem === null,
        problem: loop.problem,
        cells: use?.cells ?? 0,
        bytes: use?.bytes ?? 0,
        evicted: use?.evicted ?? 0,
      };
    },
    troubles: () => ({
      problem: loop.problem,
      volatility: options.volatility?.() ?? null,
      damagedKeys: repairs.damagedKeys,
      isFull: upkeep.refusedAtUs !== null && times.monotonicUs() - upkeep.refusedAtUs < REFUSAL_TOLD_US,
    }),
    async close() {
      upkeep.stop();
      await loop.close();
      await link.close();
    },
  };
}

function createWriter(marksKeptUs: number): EntryWriter {
  let last = 0;
  return {
    id: randomBytes(6).toString('base64url'),
    next() {
      last += 1;
      return last;
    },
    marksKeptUs,
  };
}

const REAL_TIMES: MemoryTimes = {
  monotonicUs: () => performance.now() * 1_000,
  wallUs: () => Date.now() * 1_000,
  after(ms, then, keepsAlive) {
    const timer = setTimeout(then, ms);
    if (!keepsAlive) timer.unref();
    return () => clearTimeout(timer);
  },
};
