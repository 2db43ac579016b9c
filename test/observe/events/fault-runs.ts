import { setTimeout as pause } from 'node:timers/promises';
import type { EventStore } from '../../../src/observe/events/store/event-store.js';
import { timeWindow } from '../../../src/observe/events/store/time-range.js';
import type { Random } from '../../serve/wire/random.js';
import { type CompiledService, type ServiceProcess, spawnService } from '../../support/service-process.js';
import { until } from '../../support/until.js';
import { followEvents } from './event-follower.js';
import { SENDER_AGENT, startSenders, WAYS, type Way } from './event-senders.js';

/** The storage of a service, for runs that take it away. */
export interface FaultableStore {
  /** Variables of the service that uses it. */
  readonly environment: Readonly<Record<string, string>>;
  /** Ends the server without an orderly shutdown. Undefined for storage without a server. */
  readonly kill: (() => Promise<void>) | undefined;
  /** Starts the server again, with its data. */
  restart(): Promise<void>;
  /** Opens the event store itself, to read what is in it. */
  open(): Promise<EventStore & AsyncDisposable>;
}

export interface FaultOptions {
  readonly compiled: CompiledService;
  readonly store: FaultableStore;
  /** Kills of the service, and as many of the storage if it has a server. */
  readonly kills: number;
  /** How long the storage is away after each kill of it, in milliseconds, by turns. */
  readonly outagesMs: readonly number[];
  readonly random: Random;
}

/** What the runs found; all but the first four have to be 0. */
export interface FaultReport {
  readonly kills: { readonly service: number; readonly store: number };
  readonly acknowledgements: Readonly<Record<Way, number>>;
  readonly acknowledged: number;
  /** Calls that failed, and were made again. */
  readonly failed: number;
  /** Acknowledged, but not stored. */
  readonly lost: number;
  /** Stored more than once. */
  readonly doubled: number;
  /** Stored, but never sent. */
  readonly unknown: number;
  /** Difference between the exact total and the events that a walk finds. */
  readonly miscounted: number;
  /** Difference between what the statistics count and the events. */
  readonly differing: number;
  /** Rollups that a rebuild had to correct. */
  readonly corrected: number;
  /** Stored, but never sent to the follower of WatchEvents. */
  readonly unwatched: number;
  /** Sent to it more than once, or at a position that is not after the last one. */
  readonly repeated: number;
}

/** A report as it has to be. */
export const NOTHING_WRONG = {
  lost: 0,
  doubled: 0,
  unknown: 0,
  miscounted: 0,
  differing: 0,
  corrected: 0,
  unwatched: 0,
  repeated: 0,
} satisfies Partial<FaultReport>;

/** How long everything runs at most before the next kill. */
const LONGEST_RUN_MS = 600;

/**
 * Kills the service and its storage again and again while events come in over every way and are watched, and compares
 * what was acknowledged with what is stored, counted and watched. After each kill it waits until every way stores
 * events again.
 */
export async function faultRuns(options: FaultOptions): Promise<FaultReport> {
  const { compiled, store, kills, outagesMs, random } = options;
  let service: ServiceProcess | undefined;
  let url = '';
  const start = async () => {
    service = await spawnService(compiled, { environment: { ...store.environment } });
    url = await service.listening();
  };
  const killed = { service: 0, store: 0 };
  await start();
  const senders = startSenders(() => url, random);
  const follower = followEvents(() => url);

  async function allStoreAgain(): Promise<void> {
    const before = { ...senders.acknowledgements };
    await until(
      () => senders.acknowledgements,
      (now) => WAYS.every((way) => now[way] > before[way]),
    );
  }

  try {
    await allStoreAgain();
    for (let run = 0; run < kills; run += 1) {
      await pause(random.below(LONGEST_RUN_MS));
      service?.process.kill('SIGKILL');
      killed.service += 1;
      await service?.dispose();
      await start();
      await allStoreAgain();
      if (store.kill === undefined) continue;
      await pause(random.below(LONGEST_RUN_MS));
      await store.kill();
      killed.store += 1;
      await pause(outagesMs[run % outagesMs.length]);
      await store.restart();
      await allStoreAgain();
    }
    await senders.finish();
    // Where events are acknowledged before they are in the storage, they have to reach it.
    await until(
      () => follower.ids.size,
      (count) => count >= senders.acknowledged.size,
    );
    await follower.stop();
    service?.process.kill('SIGTERM');
    await service?.ended;
    await using opened = await store.open();
    return {
      kills: killed,
      acknowledgements: senders.acknowledgements,
      acknowledged: senders.acknowledged.size,
      failed: senders.failed,
      ...(await compare(opened, senders, follower.ids)),
      repeated: follower.repeated,
    };
  } finally {
    await service?.dispose();
  }
}

async function compare(
  store: EventStore,
  senders: { readonly sent: ReadonlySet<string>; readonly acknowledged: ReadonlySet<string> },
  watched: ReadonlySet<string>,
) {
  const stored: string[] = [];
  for await (const part of store.search.walk({}))
    stored.push(...part.map(({ control_execution_id: id }) => id));
  const known = new Set(stored);
  const { buckets } = await store.statistics.count({
    agentName: SENDER_AGENT,
    controlId: null,
    window: timeWindow('24h', Date.now()),
    byBucket: false,
    agents: 0,
    controls: 1,
    topControls: 0,
  });
  const counted = [...buckets.values()].reduce((sum, { executions }) => sum + Number(executions), 0);
  return {
    lost: [...senders.acknowledged].filter((id) => !known.has(id)).length,
    doubled: stored.length - known.size,
    unknown: [...known].filter((id) => !senders.sent.has(id)).length,
    miscounted: Math.abs((await store.search.count({})) - stored.length),
    differing: Math.abs(counted - stored.length),
    corrected: (await store.rebuildStatistics()).corrected,
    unwatched: [...known].filter((id) => !watched.has(id)).length,
  };
}
