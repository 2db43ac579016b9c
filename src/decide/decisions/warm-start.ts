import type { RepeatLog } from '../../contract/runtime/repeat-log.js';
import type { AgentUseStore } from '../agent-state/agent-use-store.js';
import type { Snapshot } from './snapshot.js';

/** Interval in which uses are recorded, in milliseconds. */
const RECORD_INTERVAL_MS = 300_000;
/** An agent in use is recorded once in this time, in milliseconds. */
const HOUR_MS = 3_600_000;
/** Uses before this are forgotten, in milliseconds. */
const KEPT_MS = 30 * 24 * HOUR_MS;
/** Longest time that readiness waits for agents, in milliseconds; loading goes on after it. */
const READY_LIMIT_MS = 30_000;

export interface WarmStartOptions {
  /** Agents loaded at the start; 0 loads none and records no uses. */
  readonly agents: number;
  readonly snapshot: Pick<Snapshot, 'preload' | 'takeUsed'>;
  readonly uses: AgentUseStore;
  readonly log: { info(facts: object, message: string): void };
  readonly failures: Pick<RepeatLog, 'failed'>;
  /** Whether the database answers. */
  readonly databaseUp: () => boolean;
  /** Milliseconds since 1970. */
  readonly now: () => number;
  readonly readyLimitMs?: number;
}

/** Loads the agents that were used last, before they are evaluated, and records which ones are used. */
export interface WarmStart {
  /** Whether the process is not ready because agents are being loaded. */
  readonly isLoading: boolean;
  /** Begins to load, and to record. */
  start(): void;
  /** Records the last uses. Never rejects. */
  close(): Promise<void>;
}

export function createWarmStart(options: WarmStartOptions): WarmStart {
  const { agents, snapshot, uses, log, failures, databaseUp, now, readyLimitMs = READY_LIMIT_MS } = options;
  let isLoading = false;
  let closed = false;
  let timer: NodeJS.Timeout | undefined;
  let recording: Promise<void> = Promise.resolve();

  async function load(): Promise<void> {
    isLoading = true;
    const limit = setTimeout(() => {
      isLoading = false;
    }, readyLimitMs).unref();
    const beganMs = now();
    try {
      const loaded = await snapshot.preload(await uses.lastUsed(agents), () => closed);
      log.info({ agents: loaded, ms: now() - beganMs }, 'the agents used last are loaded');
    } catch (error) {
      failures.failed('preload', 'the agents used last could not be loaded', error);
    } finally {
      clearTimeout(limit);
      isLoading = false;
    }
  }

  /** An agent whose recording fails is recorded an hour later. */
  async function record(): Promise<void> {
    if (!databaseUp()) return;
    const atMs = now();
    const names = snapshot.takeUsed(Math.floor(atMs / HOUR_MS));
    if (agents === 0 || names.length === 0) return;
    try {
      await uses.record(names, atMs);
      await uses.forgetBefore(atMs - KEPT_MS);
    } catch (error) {
      failures.failed('agent uses', 'it could not be recorded which agents are used', error);
    }
  }

  function recordNext(): void {
    recording = recording.then(record);
  }

  return {
    get isLoading() {
      return isLoading;
    },
    start() {
      if (agents > 0) void load();
      timer = setInterval(recordNext, RECORD_INTERVAL_MS).unref();
    },
    async close() {
      closed = true;
      clearInterval(timer);
      recordNext();
      await recording;
    },
  };
}
