import { spawn } from 'node:child_process';
import path from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';
import { createSqlEventStore } from '../../../src/observe/events/sql/sql-event-store.js';
import type { EventStore } from '../../../src/observe/events/store/event-store.js';
import { timeWindow } from '../../../src/observe/events/store/time-range.js';
import { type Database, openDatabase } from '../../../src/storage/database/database.js';
import type { Random } from '../../serve/wire/random.js';
import type { DatabaseKind } from '../../support/databases.js';
import { restClient } from '../../support/http.js';
import { seeder } from '../../support/seed.js';
import { type CompiledService, type ServiceProcess, spawnService } from '../../support/service-process.js';
import { SENDER_AGENT, startSenders } from './event-senders.js';
import { createLandedEvents, LANDED_AGENTS, landedAgent, landedId } from './landed-events.js';

export interface UpgradeOptions {
  readonly compiled: CompiledService;
  readonly kind: DatabaseKind;
  /** Address of an empty database. */
  readonly databaseUrl: string;
  /** Events that the database of the last release has. */
  readonly events: number;
  /** Their times are spread over this many days, at most 29. */
  readonly days: number;
  /** How long events and evaluations come in after the service has started. */
  readonly loadMs: number;
  readonly random: Random;
}

/** What an upgrade showed; all but the first five have to be 0. */
export interface UpgradeReport {
  /** Time from the start of the process until it listened. */
  readonly startMs: number;
  readonly evaluations: number;
  /** Longest time between two verdicts. */
  readonly longestGapMs: number;
  /** Events that were acknowledged during and after the upgrade. */
  readonly acknowledged: number;
  readonly stored: number;
  /** Evaluations without a verdict. */
  readonly failures: number;
  /** Old events that were not found by their id while the service ran, or afterwards. */
  readonly oldMissing: number;
  /** Acknowledged events that were not found afterwards. */
  readonly newMissing: number;
  /** Differences of totals from what was stored and sent, by agent. */
  readonly miscounted: number;
  /** The same of the statistics. */
  readonly differing: number;
  /** Rollups that a rebuild had to correct. */
  readonly corrected: number;
}

/** A report as it has to be. */
export const NOTHING_WRONG = {
  failures: 0,
  oldMissing: 0,
  newMissing: 0,
  miscounted: 0,
  differing: 0,
  corrected: 0,
} satisfies Partial<UpgradeReport>;

const EVALUATED = 'evaluated-bot-1';
const CLIENT = path.join(import.meta.dirname, 'evaluation-client.mjs');
/** Old events that are looked up, evenly distributed. */
const LOOKED_UP = 20;

/** Starts the service with the database of the last release, and uses it while it brings the events up to date. */
export async function upgradeRun(options: UpgradeOptions): Promise<UpgradeReport> {
  const { compiled, kind, databaseUrl, events, days, loadMs, random } = options;
  await createLandedEvents(kind, databaseUrl, { count: events, days, nowMs: Date.now() });
  const began = performance.now();
  const service = await spawnService(compiled, {
    environment: {
      DATABASE_URL: databaseUrl,
      SERVICE_EVENT_RETENTION_DAYS: '0',
      SERVICE_EVENT_TAKEOVER_SECONDS: '0',
    },
  });
  try {
    const url = await service.listening();
    const startMs = Math.round(performance.now() - began);
    const client = await evaluateIn(url);
    const senders = startSenders(() => url, random);
    const end = performance.now() + loadMs;
    let oldMissing = 0;
    do {
      oldMissing += await missingOver(url, events);
      await pause(100);
      // On a busy machine the client takes its time to start.
    } while (performance.now() < end || !client.hasBegun());
    await senders.finish();
    const evaluated = await client.stop();
    await stop(service);
    const database = await openDatabase({ url: databaseUrl });
    try {
      const compared = await compare(database, events, senders.acknowledged);
      return {
        startMs,
        ...evaluated,
        acknowledged: senders.acknowledged.size,
        ...compared,
        oldMissing: oldMissing + compared.oldMissing,
      };
    } finally {
      await database.close();
    }
  } finally {
    await service.dispose();
  }
}

async function stop(service: ServiceProcess): Promise<void> {
  service.process.kill('SIGTERM');
  await service.ended;
}

/** Evaluates in a process of its own, until it is stopped. */
async function evaluateIn(url: string) {
  const { agent, control, link } = seeder(restClient(url));
  await agent(EVALUATED);
  await link(EVALUATED, await control('denies'));
  const child = spawn(process.execPath, [CLIENT, url, EVALUATED], { stdio: ['ignore', 'pipe', 'inherit'] });
  let text = '';
  child.stdout.setEncoding('utf8').on('data', (chunk: string) => {
    text += chunk;
  });
  const ended = new Promise((resolve) => child.once('close', resolve));
  return {
    hasBegun: () => text.includes('\n'),
    async stop(): Promise<Pick<UpgradeReport, 'evaluations' | 'failures' | 'longestGapMs'>> {
      child.kill('SIGTERM');
      await ended;
      return JSON.parse(text.split('\n')[1] ?? '');
    },
  };
}

const lookedUp = (events: number) =>
  Array.from({ length: LOOKED_UP }, (_, index) =>
    landedId(1 + Math.floor((index * (events - 1)) / (LOOKED_UP - 1))),
  );

/** How many old events the service itself does not find. */
async function missingOver(url: string, events: number): Promise<number> {
  const call = restClient(url);
  let missing = 0;
  for (const id of lookedUp(events)) {
    const { body } = await call('POST', '/api/v1/observability/events/query', { control_execution_id: id });
    if (body.events?.[0]?.control_execution_id !== id || body.total !== 1) missing += 1;
  }
  return missing;
}

async function compare(database: Database, events: number, acknowledged: ReadonlySet<string>) {
  const store = createSqlEventStore({ database, now: () => Date.now() });
  try {
    const found = new Set<string>();
    for await (const part of store.search.walk({ agent_name: SENDER_AGENT }))
      for (const { control_execution_id: id } of part) found.add(id);
    let oldMissing = 0;
    for (const control_execution_id of lookedUp(events)) {
      const page = await store.search.page({ control_execution_id }, { limit: 2 });
      if (page.events.length !== 1) oldMissing += 1;
    }
    const expected = new Map([[SENDER_AGENT, found.size]]);
    for (let index = 0; index < LANDED_AGENTS; index += 1) {
      expected.set(landedAgent(index), Math.floor((events - index) / LANDED_AGENTS) + (index === 0 ? 0 : 1));
    }
    let miscounted = 0;
    let differing = 0;
    for (const [agentName, count] of expected) {
      miscounted += Math.abs((await store.search.count({ agent_name: agentName })) - count);
      differing += Math.abs((await countedOf(store, agentName)) - count);
    }
    return {
      stored: await store.search.count({}),
      oldMissing,
      newMissing: [...acknowledged].filter((id) => !found.has(id)).length,
      miscounted,
      differing,
      corrected: (await store.rebuildStatistics()).corrected,
    };
  } finally {
    await store.close();
  }
}

/** What the statistics of 30 days, which have all events, count of an agent. */
async function countedOf(store: EventStore, agentName: string): Promise<number> {
  const { buckets } = await store.statistics.count({
    agentName,
    controlId: null,
    window: timeWindow('30d', Date.now()),
    byBucket: false,
    agents: 0,
    controls: 1,
    topControls: 0,
  });
  return [...buckets.values()].reduce((sum, { executions }) => sum + Number(executions), 0);
}
