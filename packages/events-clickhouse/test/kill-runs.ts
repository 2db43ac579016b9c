import { mkdtempSync, rmSync } from 'node:fs';
import http from 'node:http';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';
import { createEventStore } from '../../../src/app/wiring/event-store.js';
import { readConfig } from '../../../src/contract/config/config.js';
import type { EventStore } from '../../../src/observe/events/store/event-store.js';
import { timeWindow } from '../../../src/observe/events/store/time-range.js';
import { openDatabase } from '../../../src/storage/database/database.js';
import { caseSeed, Random } from '../../../test/serve/wire/random.js';
import { startClickHouse } from '../../../test/support/clickhouse-process.js';
import {
  type CompiledService,
  type ServiceProcess,
  spawnService,
} from '../../../test/support/service-process.js';
import { until } from '../../../test/support/until.js';

/** What is killed while events come in. */
const VICTIMS = ['the service', 'ClickHouse', 'both'] as const;
type Victim = (typeof VICTIMS)[number];

export interface KillReport {
  readonly seed: number;
  readonly kills: Record<Victim, number>;
  readonly acknowledged: number;
  readonly stored: number;
  /** Acknowledged, but not stored. */
  readonly lost: number;
  /** Stored more than once. */
  readonly duplicated: number;
  /** Stored, but never sent. */
  readonly unknown: number;
  /** Difference between what the statistics count and what is stored. */
  readonly differing: number;
  /** Sums that a rebuild had to correct. */
  readonly corrected: number;
}

/** A report as it has to be. */
export const NOTHING_WRONG = { lost: 0, duplicated: 0, unknown: 0, differing: 0, corrected: 0 };

export interface KillOptions {
  readonly compiled: CompiledService;
  /** Of the controls. */
  readonly databaseUrl: string;
  readonly kills: number;
  readonly seed?: number;
  /** How long ClickHouse stays away at most after it was killed, in milliseconds. */
  readonly longestOutageMs?: number;
}

const CONNECTIONS = 4;
/** How long the service runs at most before something is killed. */
const LONGEST_RUN_MS = 1_500;

/** Events of one request, whose ids follow from it. */
interface Batch {
  readonly name: string;
  readonly size: number;
}

const idsOf = ({ name, size }: Batch) => Array.from({ length: size }, (_, index) => `${name}-${index}`);

/**
 * Kills the service and ClickHouse again and again while events come in. What was not acknowledged is sent again, and
 * now and then what was: at the end everything acknowledged has to be stored and counted once.
 */
export async function killRuns(options: KillOptions): Promise<KillReport> {
  const { compiled, databaseUrl, kills, seed = caseSeed(), longestOutageMs = 1_000 } = options;
  const random = new Random(seed);
  const directory = mkdtempSync(path.join(tmpdir(), 'clickhouse-kills-'));
  const clickHouse = await startClickHouse(path.join(directory, 'data'));
  const environment = {
    DATABASE_URL: databaseUrl,
    SERVICE_EVENT_STORE: `clickhouse://${clickHouse.host}/killed`,
    SERVICE_EVENT_SPOOL_DIR: path.join(directory, 'spool'),
    SERVICE_LOG_JSON: 'true',
  };
  const sent: Batch[] = [];
  const acknowledged = new Set<Batch>();
  let acknowledgements = 0;
  const killed: Record<Victim, number> = { 'the service': 0, ClickHouse: 0, both: 0 };

  function next(): Batch {
    const unacknowledged = sent.find((one) => !acknowledged.has(one) && random.chance(0.5));
    const earlier = sent[random.below(Math.max(1, sent.length))];
    if (unacknowledged !== undefined) return unacknowledged;
    if (earlier !== undefined && random.chance(0.1)) return earlier;
    const batch = { name: `batch-${sent.length}`, size: 1 + random.below(random.chance(0.2) ? 300 : 30) };
    sent.push(batch);
    return batch;
  }

  async function ingest(url: string, isOver: () => boolean): Promise<void> {
    const agent = new http.Agent({ keepAlive: true, maxSockets: CONNECTIONS });
    const connection = async () => {
      while (!isOver()) {
        const batch = next();
        const status = await post(url, agent, bodyOf(batch, random));
        if (status === 'gone') return;
        if (status === 'refused') await pause(20);
        if (status !== 'stored') continue;
        acknowledged.add(batch);
        acknowledgements += 1;
      }
    };
    await Promise.all(Array.from({ length: CONNECTIONS }, connection));
    agent.destroy();
  }

  async function killOnce(service: ServiceProcess, run: number): Promise<void> {
    const victim = VICTIMS[run] ?? random.pick(VICTIMS);
    killed[victim] += 1;
    let isOver = false;
    const ingesting = ingest(await service.listening(), () => isOver);
    const before = acknowledgements;
    await until(
      () => acknowledgements,
      (count) => count > before,
    );
    await pause(random.below(LONGEST_RUN_MS));
    if (victim !== 'ClickHouse') service.process.kill('SIGKILL');
    if (victim !== 'the service') {
      await clickHouse.kill();
      await pause(random.below(longestOutageMs));
      await clickHouse.start();
    }
    isOver = true;
    await ingesting;
    if (victim !== 'ClickHouse') await service.ended;
  }

  try {
    let service: ServiceProcess | undefined;
    for (let run = 0; run < kills; run += 1) {
      const isGone = service === undefined || service.process.signalCode !== null;
      if (isGone) {
        await service?.dispose();
        service = await spawnService(compiled, { environment });
      }
      if (service !== undefined) await killOnce(service, run);
    }
    await service?.dispose();
    // What the last service has left in its spool is stored by the next one.
    const last = await spawnService(compiled, { environment });
    await last.listening();
    const database = await openDatabase({ url: databaseUrl });
    const { observability } = readConfig(environment);
    const store = await createEventStore({ config: observability, database, now: () => Date.now() });
    try {
      return { seed, kills: killed, ...(await compare(store, sent, acknowledged)) };
    } finally {
      await last.dispose();
      await store.close();
      await database.close();
    }
  } finally {
    await clickHouse.kill();
    rmSync(directory, { recursive: true, force: true });
  }
}

/** Other content each time: the first one that was stored counts. */
function bodyOf(batch: Batch, random: Random): string {
  const events = idsOf(batch).map((control_execution_id, index) => ({
    control_execution_id,
    trace_id: batch.name,
    span_id: 'span',
    agent_name: 'killed-bot',
    control_id: index % 5,
    control_name: 'killed',
    check_stage: 'pre',
    applies_to: 'llm_call',
    action: 'deny',
    matched: random.chance(0.5),
    confidence: random.fraction(),
    execution_duration_ms: random.fraction() * 100,
    timestamp: new Date(Date.now() - random.fraction() * 36_000_000).toISOString(),
  }));
  return JSON.stringify({ events });
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
        else if (response.statusCode !== 202) resolve('refused');
        else resolve(JSON.parse(text).status === 'queued' ? 'stored' : 'refused');
      });
    });
    request.end(body);
  });
}

async function compare(
  store: EventStore,
  sent: readonly Batch[],
  acknowledged: ReadonlySet<Batch>,
): Promise<Omit<KillReport, 'kills' | 'seed'>> {
  const safe = [...acknowledged].flatMap(idsOf);
  const storedIds = async () => {
    const ids: string[] = [];
    for await (const part of store.search.walk({}))
      ids.push(...part.map(({ control_execution_id: id }) => id));
    return ids;
  };
  // The spool is emptied beside this.
  await until(
    async () => {
      const stored = new Set(await storedIds());
      return safe.filter((id) => !stored.has(id)).length;
    },
    (missing) => missing === 0,
  ).catch(() => {});
  const stored = await storedIds();
  const known = new Set(stored);
  const everSent = new Set(sent.flatMap(idsOf));
  const { agents } = await store.statistics.count({
    agentName: null,
    controlId: null,
    window: timeWindow('7d', Date.now()),
    byBucket: false,
    agents: 1,
    controls: 1,
    topControls: 0,
  });
  const { corrected } = await store.rebuildStatistics();
  return {
    acknowledged: safe.length,
    stored: stored.length,
    lost: safe.filter((id) => !known.has(id)).length,
    duplicated: stored.length - known.size,
    unknown: stored.filter((id) => !everSent.has(id)).length,
    differing: Math.abs(Number(agents[0]?.executions ?? 0) - stored.length),
    corrected,
  };
}
