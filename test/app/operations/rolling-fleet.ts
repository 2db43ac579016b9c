import { randomUUID } from 'node:crypto';
import pg from 'pg';
import { createClient } from '../../../packages/client/src/node.js';
import { PATIENT_MS, seedAgent } from '../../client/client-harness.js';
import { keepAsking } from '../../client/keep-asking.js';
import { startTcpBalancer } from '../../client/tcp-balancer.js';
import {
  type CompiledService,
  type Exit,
  type ServiceProcess,
  spawnService,
} from '../../support/service-process.js';
import { until } from '../../support/until.js';

const CONCURRENCY = 8;
/** Between an answer and the next question: faster than events can be stored, they would be dropped in any case. */
const ASK_EVERY_MS = 20;
/** Answers and stored events between two steps. */
const MORE = 100;
const TRACE = 'published-while-rolling';
const PUBLISH_EVERY_MS = 5;

/** A replica that serves. */
export interface Replica {
  readonly service: ServiceProcess;
  readonly url: string;
}

/** What clients found; everything but the first two has to be empty. */
export interface FleetReport {
  readonly answers: number;
  readonly published: number;
  /** Evaluations that failed, and those with a wrong verdict. */
  readonly failed: readonly unknown[];
  readonly wrong: readonly unknown[];
  /** Decisions of answers without an event, and published events that are not stored exactly once. */
  readonly decisionsWithoutEvent: readonly string[];
  readonly lostEvents: readonly string[];
  readonly refusedEvents: readonly string[];
  /** Ends of replicas other than in order. */
  readonly unclean: readonly Exit[];
}

/** Replicas on one PostgreSQL database behind a balancer, with clients that evaluate and publish all the time. */
export interface Fleet {
  readonly replicas: readonly Replica[];
  /** Replaces the oldest replica, as a rolling update does: one more, then one fewer. Returns when clients went on. */
  replace(release: CompiledService, environment?: Record<string, string>): Promise<Replica>;
  /** Starts a process beside the replicas, which gets no clients. */
  spawn(release: CompiledService, environment?: Record<string, string>): Promise<ServiceProcess>;
  /** Waits until clients got further answers, and stored further events. */
  goesOn(): Promise<void>;
  /** Ends clients, then replicas, and compares what is stored with what was acknowledged. */
  finish(): Promise<FleetReport>;
  /** Ends whatever still runs. */
  dispose(): Promise<void>;
}

export async function startFleet(
  databaseUrl: string,
  size: number,
  first: CompiledService,
  firstEnvironment?: Record<string, string>,
): Promise<Fleet> {
  const running: ServiceProcess[] = [];
  const unclean: Exit[] = [];

  async function spawn(release: CompiledService, more: Record<string, string> = {}) {
    const environment = {
      DATABASE_URL: databaseUrl,
      SERVICE_LOG_JSON: 'true',
      SERVICE_OBSERVABILITY_RECORD: 'all',
      SERVICE_OBSERVABILITY_FLUSH_INTERVAL_SECONDS: '0.2',
      ...more,
    };
    const service = await spawnService(release, { environment });
    running.push(service);
    return service;
  }
  async function start(release: CompiledService, more?: Record<string, string>): Promise<Replica> {
    const service = await spawn(release, more);
    return { service, url: await service.listening() };
  }
  async function end({ service }: Replica): Promise<void> {
    service.process.kill('SIGTERM');
    const exit = await service.ended;
    if (exit.code !== 0) unclean.push(exit);
  }

  let replicas = await Promise.all(Array.from({ length: size }, () => start(first, firstEnvironment)));
  await seedAgent(replicas[0]?.url ?? '');
  const balancer = await startTcpBalancer();
  const route = () => balancer.setTargets(replicas.map(({ url }) => url));
  route();
  const client = createClient({ baseUrl: balancer.url, timeoutMs: PATIENT_MS });
  const asked = keepAsking(client, CONCURRENCY, ASK_EVERY_MS);
  const refusedEvents: string[] = [];
  const publisher = client.publishEvents({
    intervalMs: 20,
    maxWaiting: Number.MAX_SAFE_INTEGER,
    onRefused: (_event, error) => refusedEvents.push(String(error)),
  });
  const published: string[] = [];
  const publishing = setInterval(() => {
    const id = randomUUID();
    published.push(id);
    publisher.add({ ...PUBLISHED, controlExecutionId: id });
  }, PUBLISH_EVERY_MS);

  const goesOn = async () => {
    const { length } = asked.answers;
    await until(
      () => asked.answers.length,
      (count) => count > length + MORE,
    );
    await publisher.flush();
  };

  return {
    get replicas() {
      return replicas;
    },
    async replace(release, environment) {
      const replacement = await start(release, environment);
      const [oldest, ...others] = replicas;
      replicas = [...others, replacement];
      route();
      if (oldest !== undefined) await end(oldest);
      await goesOn();
      return replacement;
    },
    spawn,
    goesOn,
    async finish() {
      clearInterval(publishing);
      await publisher.close();
      const { failures, wrong } = await asked.stop();
      client.close();
      balancer.close();
      for (const replica of replicas) await end(replica);
      const decisions = asked.answers.map(({ evaluation }) =>
        evaluation.evaluated ? evaluation.decisionId : '',
      );
      const stored = await storedEvents(databaseUrl);
      return {
        answers: asked.answers.length,
        published: published.length,
        failed: failures,
        wrong,
        decisionsWithoutEvent: decisions.filter((id) => !stored.decisions.has(id)),
        lostEvents: published.filter((id) => stored.published.get(id) !== 1),
        refusedEvents,
        unclean,
      };
    },
    async dispose() {
      clearInterval(publishing);
      for (const service of running) await service.dispose();
    },
  };
}

/** What a report is when nothing went wrong. */
export const NOTHING_LOST = {
  failed: [],
  wrong: [],
  decisionsWithoutEvent: [],
  lostEvents: [],
  refusedEvents: [],
  unclean: [],
};

const PUBLISHED = {
  agentName: 'publishing-agent',
  traceId: TRACE,
  spanId: 'span',
  controlId: 1,
  controlName: 'reported',
  checkStage: 1,
  appliesTo: 2,
  action: 3,
  matched: true,
  confidence: 1,
};

async function storedEvents(databaseUrl: string) {
  const client = new pg.Client({ connectionString: databaseUrl });
  await client.connect();
  try {
    const { rows } = await client.query<{ id: string; decision: string | null; trace: string }>(
      'SELECT control_execution_id AS id, decision_id AS decision, trace_id AS trace FROM all_events',
    );
    const published = new Map<string, number>();
    for (const { id, trace } of rows) if (trace === TRACE) published.set(id, (published.get(id) ?? 0) + 1);
    return { published, decisions: new Set(rows.map(({ decision }) => decision)) };
  } finally {
    await client.end();
  }
}
