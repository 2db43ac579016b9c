import http from 'node:http';
import { setTimeout as pause } from 'node:timers/promises';
import { Prisma } from '../../../gen/prisma/sqlite/client.js';
import { createEventPruner } from '../../../src/observe/events/event-pruner.js';
import { createSqlRetention } from '../../../src/observe/events/sql/event-pruning.js';
import { rebuildRollups } from '../../../src/observe/events/sql/rollup-rebuild.js';
import { createStatisticsStore } from '../../../src/observe/events/sql/statistics-store.js';
import { timeWindow } from '../../../src/observe/events/store/time-range.js';
import { type Database, openDatabase } from '../../../src/storage/database/database.js';
import { caseSeed, Random } from '../../serve/wire/random.js';
import { NO_FAILURES } from '../../support/failures.js';
import { type CompiledService, type ServiceProcess, spawnService } from '../../support/service-process.js';
import { until } from '../../support/until.js';

/** What the service was doing when it was killed. */
const MOMENTS = ['while events came in', 'at its start', 'while it was pruned'] as const;
type Moment = (typeof MOMENTS)[number];

/** What the runs found; everything but the first three has to be 0. */
export interface CrashReport {
  readonly kills: Record<Moment, number>;
  readonly acknowledged: number;
  readonly stored: number;
  /** Acknowledged, but not stored. */
  readonly lost: number;
  /** Stored more than once. */
  readonly duplicated: number;
  /** Stored, but never sent. */
  readonly unknown: number;
  /** Difference between the number of events that is kept and the number of rows. */
  readonly miscounted: number;
  /** Difference between what the statistics count and the rows. */
  readonly differing: number;
  /** Sums that a rebuild had to correct. */
  readonly corrected: number;
  /** Pruned events that statistics have lost, or made up. */
  readonly prunedDiffering: number;
  /** Events that a pruning after all of this left although they are too old. */
  readonly left: number;
}

/** A report as it has to be. */
export const NOTHING_WRONG = {
  lost: 0,
  duplicated: 0,
  unknown: 0,
  miscounted: 0,
  differing: 0,
  corrected: 0,
  prunedDiffering: 0,
  left: 0,
} satisfies Partial<CrashReport>;

export interface CrashOptions {
  readonly compiled: CompiledService;
  readonly databaseUrl: string;
  readonly kills: number;
  readonly seed?: number;
  /** How long the service runs at most after a first acknowledgement before it is killed. */
  readonly longestRunMs?: number;
}

const CONNECTIONS = 8;
const RETENTION_DAYS = 1;
const HOUR_MS = 3_600_000;
const RECENT = 'crashed-bot-recent';
const OLD = 'crashed-bot-old';
/** How long the service runs at most after its start before it is killed. */
const LONGEST_START_MS = 700;

/** Events of one request. The ids follow from it, so that little has to be remembered. */
interface Batch {
  readonly name: string;
  readonly size: number;
  readonly agent: string;
}

const idsOf = ({ name, size }: Batch) => Array.from({ length: size }, (_, index) => `${name}-${index}`);

/**
 * Kills the service again and again while it stores events as fast as it can, and holds what it acknowledged against
 * what is stored. What was not acknowledged is sent again to the next process, as clients do, and so is some of what
 * was: both must be there once.
 */
export async function crashRuns(options: CrashOptions): Promise<CrashReport & { readonly seed: number }> {
  const { compiled, databaseUrl, kills, seed = caseSeed(), longestRunMs = 1_500 } = options;
  /** Of their own, so that the seed repeats them whatever is sent meanwhile. */
  const moments = new Random(seed);
  const random = new Random(seed + 1);
  const environment = {
    DATABASE_URL: databaseUrl,
    SERVICE_EVENT_RETENTION_DAYS: String(RETENTION_DAYS),
    SERVICE_LOG_JSON: 'true',
  };
  const sent: Batch[] = [];
  const acknowledged = new Set<Batch>();
  let acknowledgements = 0;
  const killed: Record<Moment, number> = {
    'while events came in': 0,
    'at its start': 0,
    'while it was pruned': 0,
  };

  function newBatch(run: number): Batch {
    return {
      name: `${run}-${sent.length}`,
      size: 1 + random.below(random.chance(0.2) ? 20 : 400),
      agent: random.chance(0.3) ? OLD : RECENT,
    };
  }

  /** Other content each time: the first one that was stored counts. */
  function bodyOf(batch: Batch): string {
    const ageMs = () => (batch.agent === OLD ? 30 * HOUR_MS : 0) + random.below(10 * HOUR_MS);
    const events = idsOf(batch).map((control_execution_id) => ({
      control_execution_id,
      trace_id: batch.name,
      span_id: 'span',
      agent_name: batch.agent,
      control_id: random.below(5),
      control_name: 'crashed',
      check_stage: 'pre',
      applies_to: 'llm_call',
      action: 'deny',
      matched: random.chance(0.5),
      confidence: random.below(1_000) / 1_000,
      execution_duration_ms: random.below(1_000) / 8,
      timestamp: new Date(Date.now() - ageMs()).toISOString(),
    }));
    return JSON.stringify({ events });
  }

  /** The next batch to send: one without an acknowledgement, now and then one with it, mostly a new one. */
  function next(run: number, unacknowledged: Batch[]): Batch {
    const again = unacknowledged.pop();
    if (again !== undefined) return again;
    const earlier = sent[random.below(Math.max(1, sent.length))];
    // It is forgotten that an old one was stored.
    if (earlier !== undefined && earlier.agent === RECENT && random.chance(0.1)) return earlier;
    const batch = newBatch(run);
    sent.push(batch);
    return batch;
  }

  async function ingestUntilDeath(url: string, run: number): Promise<void> {
    const agent = new http.Agent({ keepAlive: true, maxSockets: CONNECTIONS });
    const unacknowledged = sent.filter((one) => one.agent === RECENT && !acknowledged.has(one));
    const connection = async () => {
      for (;;) {
        const batch = next(run, unacknowledged);
        const outcome = await post(url, agent, bodyOf(batch));
        if (outcome === 'gone') return;
        if (outcome !== 'stored') continue;
        acknowledged.add(batch);
        acknowledgements += 1;
      }
    };
    await Promise.all(Array.from({ length: CONNECTIONS }, connection));
    agent.destroy();
  }

  const running: ServiceProcess[] = [];
  async function start(...args: string[]): Promise<ServiceProcess> {
    const one = await spawnService(compiled, { environment, arguments: args });
    running.push(one);
    return one;
  }

  async function killOnce(run: number): Promise<void> {
    // Each once at first, however few runs there are.
    const moment = MOMENTS[run] ?? moments.pick(MOMENTS);
    killed[moment] += 1;
    const service = await start();
    if (moment === 'at its start') {
      await pause(moments.below(LONGEST_START_MS));
      service.process.kill('SIGKILL');
    } else {
      const url = await service.listening();
      const before = acknowledgements;
      const ingesting = ingestUntilDeath(url, run);
      await until(
        () => acknowledgements,
        (count) => count > before,
      );
      if (moment === 'while it was pruned') {
        const pruning = await start('prune-events');
        // It takes so long to start.
        await pause(LONGEST_START_MS / 2 + moments.below(longestRunMs));
        pruning.process.kill('SIGKILL');
      } else {
        await pause(moments.below(longestRunMs));
      }
      service.process.kill('SIGKILL');
      await ingesting;
    }
    for (const one of running.splice(0)) await one.dispose();
  }

  try {
    for (let run = 0; run < kills; run += 1) await killOnce(run);
  } finally {
    for (const one of running) await one.dispose();
  }
  // The last process that opens it must find all of it.
  const database = await openDatabase({ url: databaseUrl });
  try {
    return { seed, kills: killed, ...(await compare(database, sent, acknowledged)) };
  } finally {
    await database.close();
  }
}

/** `gone` when there was no whole reply, `refused` when it was one that acknowledges nothing. */
function post(url: string, agent: http.Agent, body: string): Promise<'stored' | 'refused' | 'gone'> {
  return new Promise((resolve) => {
    const request = http.request(`${url}/api/v1/observability/events`, {
      method: 'POST',
      agent,
      headers: { 'content-type': 'application/json' },
    });
    request.on('error', () => resolve('gone'));
    request.on('response', (response) => {
      let text = '';
      response.setEncoding('utf8').on('data', (chunk: string) => {
        text += chunk;
      });
      response.on('error', () => resolve('gone'));
      response.on('close', () => {
        if (!response.complete) resolve('gone');
        else
          resolve(response.statusCode === 202 && JSON.parse(text).status === 'queued' ? 'stored' : 'refused');
      });
    });
    request.end(body);
  });
}

async function compare(
  database: Database,
  sent: readonly Batch[],
  acknowledged: ReadonlySet<Batch>,
): Promise<Omit<CrashReport, 'kills'>> {
  const now = () => Date.now();
  const log = { info: () => {} };
  await createEventPruner({
    retention: createSqlRetention(database, now),
    retentionDays: RETENTION_DAYS,
    log,
    failures: NO_FAILURES,
    now,
  }).prune();
  const read = (query: Prisma.Sql) => database.bulk.read('search', query);
  const rows = await read(Prisma.sql`
    SELECT "agent_name", "control_execution_id" FROM "all_events" ORDER BY "position"`);
  const stored = rows.filter(([agent]) => agent === RECENT).map(([, id]) => String(id));
  const known = new Set(stored);
  const ids = (batches: Iterable<Batch>, agent: string) =>
    [...batches].filter((one) => one.agent === agent).flatMap(idsOf);
  const everSent = new Set(ids(sent, RECENT));
  const safe = ids(acknowledged, RECENT);
  const [logRow] = await read(Prisma.sql`SELECT "events" FROM "event_log"`);
  const counted = async (agentName: string) => {
    const query = { agentName, controlId: null, byBucket: false, agents: 0, controls: 1, topControls: 0 };
    const { buckets } = await createStatisticsStore(database).count({
      ...query,
      window: timeWindow('30d', now()),
    });
    return [...buckets.values()].reduce((sum, one) => sum + Number(one.executions), 0);
  };
  const countedOld = await counted(OLD);
  const atLeast = ids(acknowledged, OLD).length;
  const atMost = ids(sent, OLD).length;
  const { corrected } = await rebuildRollups({ database, now });
  return {
    acknowledged: safe.length + atLeast,
    stored: stored.length,
    lost: safe.filter((id) => !known.has(id)).length,
    duplicated: stored.length - known.size,
    unknown: stored.filter((id) => !everSent.has(id)).length,
    miscounted: Math.abs(Number(logRow?.[0]) - rows.length),
    differing: Math.abs((await counted(RECENT)) - stored.length),
    corrected,
    prunedDiffering: Math.max(0, atLeast - countedOld, countedOld - atMost),
    left: rows.length - stored.length,
  };
}
