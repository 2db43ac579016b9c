import http from 'node:http';
import { setTimeout as pause } from 'node:timers/promises';
import { Prisma } from '../../../gen/prisma/sqlite/client.js';
import { type PostgresServer, startPostgresServer } from '../../../scripts/postgres-server.mjs';
import { rebuildRollups } from '../../../src/observe/events/sql/rollup-rebuild.js';
import { openDatabase } from '../../../src/storage/database/database.js';
import { Random } from '../../serve/wire/random.js';
import { restClient } from '../../support/http.js';
import { denyWord, seeder } from '../../support/seed.js';
import { type CompiledService, type ServiceProcess, spawnService } from '../../support/service-process.js';
import { until } from '../../support/until.js';

/** How the server goes away: `pg_ctl stop -m immediate` and a start, or `pg_ctl restart -m fast`. */
export const OUTAGES = ['immediate stop', 'fast restart'] as const;
export type Outage = (typeof OUTAGES)[number];

export interface OutageOptions {
  readonly compiled: CompiledService;
  readonly workers: number;
  /** Outages of each kind, in turn, all met by the same service. */
  readonly outages: number;
  readonly seed: number;
}

/** What the runs found. */
export interface OutageReport {
  readonly outages: number;
  /** Evaluations of the loaded agent. */
  readonly evaluations: number;
  readonly acknowledgedEvents: number;
  readonly acknowledgedControls: number;
  /** Requests that were refused or got no answer, and were sent again. */
  readonly refused: number;
  /** The longest time from the start of the server until an event and a control were stored again. */
  readonly slowestReturnMs: number;
  /** Processes that ended, primary or worker. */
  readonly deaths: number;
  /** Evaluations of the loaded agent without its verdict. */
  readonly unanswered: number;
  /** Acknowledged, but not stored. */
  readonly lost: number;
  /** Stored or counted more than once. */
  readonly doubled: number;
}

/** A report as it has to be. */
export const NOTHING_LOST = {
  deaths: 0,
  unanswered: 0,
  lost: 0,
  doubled: 0,
} satisfies Partial<OutageReport>;

const AGENT = 'outage-bot-01';
const EVENT_CONNECTIONS = 6;
const CONTROL_CONNECTIONS = 2;
const EVALUATION_CONNECTIONS = 4;
/** Between two evaluations on one connection: their matches are events too, and there must not be too many. */
const EVALUATION_PAUSE_MS = 4;
const RETRY_PAUSE_MS = 20;
const LONGEST_LOAD_MS = 300;
const LONGEST_ABSENCE_MS = 600;

interface Answer {
  readonly status: number;
  readonly text: string;
}

/** One request on a connection; null when there is no whole answer. */
function send(agent: http.Agent, url: string, method: string, body: unknown): Promise<Answer | null> {
  return new Promise((resolve) => {
    const request = http.request(url, { method, agent, headers: { 'content-type': 'application/json' } });
    request.on('error', () => resolve(null));
    request.on('response', (response) => {
      let text = '';
      response.setEncoding('utf8').on('data', (chunk: string) => {
        text += chunk;
      });
      response.on('error', () => resolve(null));
      response.on('close', () =>
        resolve(response.complete ? { status: response.statusCode ?? 0, text } : null),
      );
    });
    request.end(JSON.stringify(body));
  });
}

/**
 * Takes PostgreSQL away from a service again and again while it stores events and controls and evaluates a loaded
 * agent, and compares what it acknowledged with what is stored.
 */
export async function outageRuns({ compiled, workers, outages, seed }: OutageOptions): Promise<OutageReport> {
  const random = new Random(seed);
  const postgres = await startPostgresServer({ survivesCrash: true });
  const service = await spawnService(compiled, {
    environment: {
      DATABASE_URL: postgres.url,
      SERVICE_WORKERS: String(workers),
      SERVICE_LOG_JSON: 'true',
      SERVICE_OBSERVABILITY_FLUSH_INTERVAL_SECONDS: '0.2',
    },
  });
  try {
    const url = await service.listening();
    const load = await startLoad(url, random);
    let slowestReturnMs = 0;
    for (let count = 0; count < outages; count += 1) {
      for (const kind of OUTAGES) {
        await pause(random.below(LONGEST_LOAD_MS));
        slowestReturnMs = Math.max(slowestReturnMs, await goAway(kind, postgres, service, load, random));
      }
    }
    await load.stop();
    const ended = service.process.exitCode !== null || service.process.signalCode !== null;
    const deaths = (ended ? 1 : 0) + (service.stdout().match(/"a worker ended/g)?.length ?? 0);
    service.process.kill('SIGTERM');
    await service.ended;
    return {
      outages: outages * OUTAGES.length,
      evaluations: load.evaluations,
      acknowledgedEvents: load.events.size,
      acknowledgedControls: load.controls.size,
      refused: load.refused,
      slowestReturnMs: Math.round(slowestReturnMs),
      deaths,
      unanswered: load.unanswered,
      ...(await compare(postgres.url, load)),
    };
  } finally {
    await service.dispose();
    await postgres.stop();
  }
}

/** One outage. Resolves when writes of both kinds are stored again, with the milliseconds since the server came back. */
async function goAway(
  kind: Outage,
  postgres: PostgresServer,
  service: ServiceProcess,
  load: Load,
  random: Random,
): Promise<number> {
  if (kind === 'immediate stop') {
    await postgres.crash();
    await pause(random.below(LONGEST_ABSENCE_MS));
  } else await postgres.pause();
  await postgres.resume();
  const startMs = performance.now();
  const [events, controls] = [load.events.size, load.controls.size];
  await until(
    () => service.process.exitCode ?? service.process.signalCode ?? load,
    (state) => state !== load || (load.events.size > events && load.controls.size > controls),
  );
  return performance.now() - startMs;
}

/** The requests of all clients, until it is stopped. */
interface Load {
  /** Ids of acknowledged events, and names of acknowledged controls. */
  readonly events: ReadonlySet<string>;
  readonly controls: ReadonlySet<string>;
  readonly evaluations: number;
  readonly unanswered: number;
  readonly refused: number;
  stop(): Promise<void>;
}

async function startLoad(url: string, random: Random): Promise<Load> {
  const call = restClient(url);
  const seed = seeder(call);
  // A busy machine may make the first of all changes so slow that it is given up.
  const isRegistered = () =>
    seed.agent(AGENT).then(
      () => true,
      () => false,
    );
  await until(isRegistered, (answer) => answer);
  await seed.link(AGENT, await seed.control('denies'));
  const events = new Set<string>();
  const controls = new Set<string>();
  const counts = { evaluations: 0, unanswered: 0, refused: 0 };
  const agents: http.Agent[] = [];
  let stopped = false;
  let last = 0;
  const connection = (): http.Agent => {
    const agent = new http.Agent({ keepAlive: true, maxSockets: 1 });
    agents.push(agent);
    return agent;
  };

  /** Sends a request again until it is acknowledged, as clients do, or everything stops. */
  async function deliver(attempt: () => Promise<boolean>): Promise<boolean> {
    for (;;) {
      if (await attempt()) return true;
      counts.refused += 1;
      if (stopped) return false;
      await pause(RETRY_PAUSE_MS);
    }
  }

  async function sendEvents(agent: http.Agent): Promise<void> {
    while (!stopped) {
      last += 1;
      const ids = Array.from({ length: 1 + random.below(40) }, (_, index) => `event-${last}-${index}`);
      const body = { events: ids.map(eventOf) };
      const isStored = await deliver(async () => {
        const answer = await send(agent, `${url}/api/v1/observability/events`, 'POST', body);
        return answer?.status === 202 && JSON.parse(answer.text).status === 'queued';
      });
      if (isStored) for (const id of ids) events.add(id);
    }
  }

  async function createControls(agent: http.Agent): Promise<void> {
    while (!stopped) {
      last += 1;
      const name = `control-${last}`;
      const isStored = await deliver(async () => {
        const answer = await send(agent, `${url}/api/v1/controls`, 'PUT', { name, data: denyWord('bad') });
        // 409: an attempt without an answer has created it.
        return answer?.status === 200 || answer?.status === 409;
      });
      if (isStored) controls.add(name);
    }
  }

  const evaluation = {
    agent_name: AGENT,
    stage: 'pre',
    step: { type: 'llm', name: 'answer', input: 'bad' },
  };

  async function evaluates(agent: http.Agent): Promise<void> {
    const answer = await send(agent, `${url}/api/v1/evaluation`, 'POST', evaluation);
    counts.evaluations += 1;
    if (answer?.status !== 200 || JSON.parse(answer.text).is_safe !== false) counts.unanswered += 1;
  }

  async function evaluateAll(agent: http.Agent): Promise<void> {
    while (!stopped) {
      await evaluates(agent);
      await pause(EVALUATION_PAUSE_MS);
    }
  }

  // With several workers: each of them has loaded the agent before its database goes away.
  const evaluating = Array.from({ length: EVALUATION_CONNECTIONS }, connection);
  for (const agent of evaluating) await evaluates(agent);
  const running = [
    ...evaluating.map(evaluateAll),
    ...Array.from({ length: EVENT_CONNECTIONS }, () => sendEvents(connection())),
    ...Array.from({ length: CONTROL_CONNECTIONS }, () => createControls(connection())),
  ];
  return {
    events,
    controls,
    get evaluations() {
      return counts.evaluations;
    },
    get unanswered() {
      return counts.unanswered;
    },
    get refused() {
      return counts.refused;
    },
    async stop() {
      stopped = true;
      await Promise.all(running);
      for (const agent of agents) agent.destroy();
    },
  };
}

function eventOf(id: string): object {
  return {
    control_execution_id: id,
    trace_id: 'trace',
    span_id: 'span',
    agent_name: 'reporting-bot-01',
    control_id: 1,
    control_name: 'reported',
    check_stage: 'pre',
    applies_to: 'llm_call',
    action: 'deny',
    matched: true,
    confidence: 1,
    timestamp: new Date().toISOString(),
  };
}

/** What is stored beside what was acknowledged. */
async function compare(databaseUrl: string, load: Load): Promise<{ lost: number; doubled: number }> {
  const database = await openDatabase({ url: databaseUrl });
  try {
    const read = async (query: Prisma.Sql) => (await database.bulk.read('search', query)).map(([one]) => one);
    const events = (await read(Prisma.sql`SELECT "control_execution_id" FROM "all_events"`)).map(String);
    const controls = (await read(Prisma.sql`SELECT "name" FROM "controls"`)).map(String);
    const [counted] = await read(Prisma.sql`SELECT "events" FROM "event_log"`);
    const known = new Set([...events, ...controls]);
    const { corrected } = await rebuildRollups({ database, now: () => Date.now() });
    const missing = [...load.events, ...load.controls].filter((name) => !known.has(name)).length;
    const repeated = events.length + controls.length - known.size;
    return { lost: missing, doubled: repeated + Math.abs(Number(counted) - events.length) + corrected };
  } finally {
    await database.close();
  }
}
