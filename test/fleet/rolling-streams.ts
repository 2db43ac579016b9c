import { startTcpBalancer } from '../client/tcp-balancer.js';
import { restClient } from '../support/http.js';
import { metric, parseMetrics } from '../support/prometheus.js';
import { seeder } from '../support/seed.js';
import { type CompiledService, type ServiceProcess, spawnService } from '../support/service-process.js';
import { until } from '../support/until.js';
import { type MovingTally, movingClient } from './moving-client.js';

const AGENT = 'moving-agent';

export interface RollingOptions {
  readonly compiled: CompiledService;
  readonly databaseUrl: string;
  readonly clients: number;
  /** Messages of one client at a time. */
  readonly concurrency: number;
  readonly restarts: number;
  readonly maxAgeSeconds: number;
}

export interface RollingResult {
  readonly tally: MovingTally;
  /** Evaluations by the records of the service: each has one match. */
  readonly evaluated: number;
  /** Streams on each replica at the end of each phase. */
  readonly spread: { readonly phase: string; readonly streams: number[]; readonly ages: number }[];
}

/**
 * Two replicas behind a balancer that knows nothing of HTTP/2, and clients whose streams are never idle. All begin on
 * one replica; then the other is added; then they are replaced one after the other, while the clients go on.
 */
export async function rollStreams(options: RollingOptions): Promise<RollingResult> {
  const { compiled, databaseUrl, maxAgeSeconds } = options;
  const running = new Set<ServiceProcess>();
  const spread: RollingResult['spread'][number][] = [];
  const start = async () => {
    const service = await spawnService(compiled, {
      environment: {
        DATABASE_URL: databaseUrl,
        SERVICE_MAX_CONNECTION_AGE_SECONDS: String(maxAgeSeconds),
        SERVICE_MAX_STREAM_AGE_SECONDS: String(maxAgeSeconds * 2),
        SERVICE_EVENT_RETENTION_DAYS: '0',
        OBSERVABILITY_FLUSH_INTERVAL_SECONDS: '0.1',
      },
    });
    running.add(service);
    return { service, url: await service.listening() };
  };
  try {
    let [first, second] = [await start(), await start()];
    const seed = seeder(restClient(first.url));
    await seed.linked(AGENT, 'no-bad');
    const balancer = await startTcpBalancer();
    balancer.setTargets([first.url]);
    const clients = Array.from({ length: options.clients }, () =>
      movingClient(balancer.url, AGENT, options.concurrency),
    );

    /** Waits until each replica has at least a third of the streams. */
    const untilSpread = async (phase: string): Promise<void> => {
      const begunAt = performance.now();
      const streams = await until(
        () => Promise.all([streamsOf(first.url), streamsOf(second.url)]),
        (counts) => Math.min(...counts) >= options.clients / 3,
      );
      spread.push({ phase, streams, ages: (performance.now() - begunAt) / (maxAgeSeconds * 1000) });
    };
    await until(
      () => clients.reduce((sum, { tally }) => sum + tally.answered, 0),
      (answered) => answered > options.clients,
    );
    balancer.setTargets([first.url, second.url]);
    await untilSpread('a replica was added');
    for (let round = 1; round <= options.restarts; round += 1) {
      // The balancer does not know that it stops.
      first.service.process.kill('SIGTERM');
      const { code } = await first.service.ended;
      if (code !== 0) throw new Error(`a replica ended with ${code}: ${first.service.stderr()}`);
      const replacement = await start();
      balancer.setTargets([second.url, replacement.url]);
      [first, second] = [second, replacement];
      await untilSpread(`replica ${round} was replaced`);
    }
    const tallies = await Promise.all(clients.map((client) => client.stop()));
    const tally = tallies.reduce((sum, one) => ({
      sent: sum.sent + one.sent,
      answered: sum.answered + one.answered,
      again: sum.again + one.again,
      notices: sum.notices + one.notices,
      wrong: [...sum.wrong, ...one.wrong],
      ends: [...sum.ends, ...one.ends],
    }));
    balancer.close();
    // The last events are stored before a process ends.
    for (const { service } of [first, second]) {
      service.process.kill('SIGTERM');
      await service.ended;
    }
    return { tally, evaluated: await recorded(start), spread };
  } finally {
    for (const service of running) await service.dispose();
  }
}

/** Open streams of evaluations on a replica. */
async function streamsOf(url: string): Promise<number> {
  const text = await (await fetch(`${url}/metrics`)).text();
  const labels = { rpc: 'enforcement.v1.EvaluationService/EvaluateStream', protocol: 'grpc' };
  try {
    return metric(parseMetrics(text), 'control_enforcement_server_streams_open', labels);
  } catch {
    return 0;
  }
}

/** The number of events that the service has stored. */
async function recorded(start: () => Promise<{ url: string }>): Promise<number> {
  const { url } = await start();
  const reply = await restClient(url)('POST', '/api/v1/observability/events/query', { limit: 1 });
  return Number(reply.body.total);
}
