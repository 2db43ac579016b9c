import path from 'node:path';
import { createClient } from '@connectrpc/connect';
import { createGrpcTransport, Http2SessionManager } from '@connectrpc/connect-node';
import { Stage } from '../../../gen/proto/enforcement/v1/control_pb.js';
import { EvaluationService } from '../../../gen/proto/enforcement/v1/evaluation_service_pb.js';
import { startPostgresServer } from '../../../scripts/postgres-server.mjs';
import { startRedisServer } from '../../../scripts/redis-server.mjs';
import { createTestDatabase } from '../../support/databases.js';
import { restClient, untilServed } from '../../support/http.js';
import { seeder } from '../../support/seed.js';
import { compiled, type ServiceProcess, spawnService } from '../../support/service-process.js';

export const STORES = ['sqlite', 'postgresql', 'redis'] as const;
export type StoreName = (typeof STORES)[number];

const SHIFTED_DATE = path.resolve(import.meta.dirname, 'shifted-date.mjs');
/** Wall clocks of the processes, the first ones the most apart: SQLite is on one machine, which has one. */
const SHIFTS_MS = [-300_000, 300_000, 0, 0];

/** What became of a step. */
export type Passing = 'allowed' | 'denied' | 'failed';

export interface StepCall {
  readonly agent: string;
  readonly input?: { readonly [name: string]: number };
  readonly output?: { readonly [name: string]: number };
  readonly stage?: 'pre' | 'post';
  readonly sessionId?: string;
  readonly stepId?: string;
}

/** Processes of the service that share a store of memory, and clients of them. */
export interface Fleet {
  /** Registers an agent with a control, which every later step is decided by. */
  control(agent: string, evaluator: string, config: object, stages?: readonly string[]): Promise<void>;
  /** A client with a connection of its own, to the process of its number. Fails when the process or the check does. */
  client(number: number): (call: StepCall) => Promise<Passing>;
  /** Ends a process of the service at once, and starts another one in its place. */
  replaceProcess(index: number): Promise<void>;
  /** Ends the store at once, and starts it again. For stores that are servers. */
  killStore(): Promise<void>;
  stop(): Promise<void>;
}

/** Starts `processes` processes: of one service with SQLite, else services on one database whose wall clocks differ. */
export async function startFleet(store: StoreName, processes: number): Promise<Fleet> {
  const cleanUps: (() => Promise<void>)[] = [];
  const stop = async () => {
    for (const cleanUp of cleanUps.splice(0).reverse()) await cleanUp();
  };
  try {
    return { ...(await begin(store, processes, cleanUps)), stop };
  } catch (error) {
    await stop();
    throw error;
  }
}

async function begin(
  store: StoreName,
  processes: number,
  cleanUps: (() => Promise<void>)[],
): Promise<Omit<Fleet, 'stop'>> {
  // A server of its own, since it is killed.
  const postgres = store === 'postgresql' ? await startPostgresServer({ survivesCrash: true }) : undefined;
  if (postgres !== undefined) cleanUps.push(() => postgres.stop());
  const redis = store === 'redis' ? await startRedisServer() : undefined;
  if (redis !== undefined) cleanUps.push(() => redis.stop());
  const database =
    postgres === undefined
      ? await createTestDatabase(store === 'redis' ? 'postgresql' : 'sqlite')
      : { url: postgres.url, drop: async () => {} };
  cleanUps.push(() => database.drop());
  const environment = {
    DATABASE_URL: database.url,
    // A slow machine is no matter of these tests.
    SERVICE_MEMORY_TIMEOUT_SECONDS: '60',
    ...(redis !== undefined && { SERVICE_MEMORY_STORE: redis.url }),
  };

  const spawnAt = async (index: number): Promise<{ service: ServiceProcess; url: string }> => {
    const shift = {
      SHIFT_MS: String(SHIFTS_MS[index % SHIFTS_MS.length]),
      NODE_OPTIONS: `--import=${SHIFTED_DATE}`,
    };
    const own = store === 'sqlite' ? { SERVICE_WORKERS: String(processes) } : shift;
    const service = await spawnService(compiled, { environment: { ...environment, ...own } });
    cleanUps.push(() => service.dispose());
    return { service, url: await service.listening() };
  };
  // Before the others: it migrates the database.
  const services = [await spawnAt(0)];
  const others = Array.from({ length: store === 'sqlite' ? 0 : processes - 1 }, (_, index) => index + 1);
  services.push(...(await Promise.all(others.map(spawnAt))));
  const at = (number: number) => services[number % services.length] as (typeof services)[number];

  let minRevision = 0n;
  return {
    async control(agent, evaluator, config, stages = ['pre']) {
      const call = restClient(at(0).url);
      const seed = seeder(call);
      await seed.agent(agent);
      const id = await seed.control(`${evaluator}-${agent}`, {
        execution: 'server',
        scope: { stages },
        condition: { selector: { path: '*' }, evaluator: { name: evaluator, config } },
        action: { decision: 'deny' },
      });
      const linked = await untilServed(() => call('POST', `/api/v1/agents/${agent}/controls/${id}`));
      if (linked.status !== 200) throw new Error(`${agent}: ${JSON.stringify(linked.body)}`);
      minRevision = BigInt(linked.headers.get('x-service-revision') ?? 0);
    },
    client(number) {
      let url = '';
      let rpc: ReturnType<typeof createClient<typeof EvaluationService>> | undefined;
      let manager: Http2SessionManager | undefined;
      cleanUps.push(async () => manager?.abort());
      return async ({ agent, input, output, stage = 'pre', ...ids }) => {
        // A process that has replaced another one has another address.
        if (rpc === undefined || at(number).url !== url) {
          url = at(number).url;
          manager?.abort();
          manager = new Http2SessionManager(url);
          rpc = createClient(
            EvaluationService,
            createGrpcTransport({ baseUrl: url, sessionManager: manager }),
          );
        }
        const step = {
          type: 'tool',
          name: 'pay',
          input: input ?? {},
          ...(output !== undefined && { output }),
        };
        const reply = await rpc.evaluate({
          agentName: agent,
          stage: stage === 'pre' ? Stage.PRE : Stage.POST,
          stepForm: { case: 'stepJson', value: new TextEncoder().encode(JSON.stringify(step)) },
          minRevision,
          ...ids,
        });
        if (reply.errors.length > 0) return 'failed';
        return reply.isSafe ? 'allowed' : 'denied';
      };
    },
    async replaceProcess(index) {
      const { service } = at(index);
      service.process.kill('SIGKILL');
      await service.ended;
      services[index % services.length] = await spawnAt(index);
    },
    async killStore() {
      const server = redis ?? postgres;
      if (server === undefined) throw new Error('SQLite has no server');
      if ('crash' in server) await server.crash();
      else await server.kill();
      await server.resume();
    },
  };
}
