import { mkdir, mkdtemp, readdir, rename, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { type CallOptions, createClient } from '@connectrpc/connect';
import { Stage } from '../../gen/proto/enforcement/v1/control_pb.js';
import {
  type EvaluateResponse,
  EvaluationService,
} from '../../gen/proto/enforcement/v1/evaluation_service_pb.js';
import { nodeFileSystem } from '../../src/app/last-known-good/file-system.js';
import { StateFile } from '../../src/app/last-known-good/state-file.js';
import { createTestDatabase, type DatabaseKind } from '../support/databases.js';
import { BIDI_PROTOCOLS, RPC_PROTOCOLS, type RpcProtocol, rpcTransport } from '../support/rpc-transports.js';
import { startTcpProxy } from '../support/tcp-proxy.js';
import { until } from '../support/until.js';

/** A database that can be out of reach of the service, and a folder for the last known good file. */
export interface RemovableDatabase {
  /** How the service reaches it. */
  readonly url: string;
  /** How others reach it, also while the service cannot. */
  readonly ownUrl: () => string;
  readonly file: StateFile;
  /** What the service has to be started with. */
  readonly environment: Record<string, string>;
  /** Number of files in the folder of the last known good file. */
  leftInFolder(): Promise<number>;
  takeAway(): Promise<void>;
  bringBack(): Promise<void>;
  drop(): Promise<void>;
}

export async function removableDatabase(kind: DatabaseKind): Promise<RemovableDatabase> {
  const folder = await mkdtemp(join(tmpdir(), 'removable-'));
  const keptIn = join(folder, 'kept');
  const file = new StateFile(join(keptIn, 'state'), nodeFileSystem);
  const place = kind === 'sqlite' ? await sqliteIn(folder) : await postgresqlBehindProxy();
  return {
    ...place,
    file,
    environment: { DATABASE_URL: place.url, SERVICE_LAST_KNOWN_GOOD: file.path, SERVICE_LOG_JSON: 'true' },
    leftInFolder: async () => (await readdir(keptIn)).length,
    async drop() {
      await place.drop();
      await rm(folder, { recursive: true });
    },
  };
}

type Place = Pick<RemovableDatabase, 'url' | 'ownUrl' | 'takeAway' | 'bringBack' | 'drop'>;

const DATABASE_FILE = 'service.db';

/** A file that moves elsewhere; a folder of its name stands in its place, so that it cannot be opened. */
async function sqliteIn(folder: string): Promise<Place> {
  const [data, away] = [join(folder, 'data'), join(folder, 'away')];
  const path = join(data, DATABASE_FILE);
  for (const one of [data, away]) await mkdir(one);
  let isAway = false;
  const move = async (from: string, to: string) => {
    // The database goes first and comes last: a connection that opens it without its log removes a log that follows.
    const others = (await readdir(from)).filter((name) => name !== DATABASE_FILE);
    const names = isAway ? [...others, DATABASE_FILE] : [DATABASE_FILE, ...others];
    for (const name of names) {
      await rename(join(from, name), join(to, name)).catch((error: NodeJS.ErrnoException) => {
        // A connection of this process that is garbage-collected last removes its log and the index of that.
        if (error.code !== 'ENOENT' || name === DATABASE_FILE) throw error;
      });
    }
    isAway = !isAway;
  };
  return {
    url: `file:${path}`,
    ownUrl: () => `file:${isAway ? join(away, DATABASE_FILE) : path}`,
    async takeAway() {
      await move(data, away);
      await mkdir(path);
    },
    async bringBack() {
      await rm(path, { recursive: true });
      await move(away, data);
    },
    drop: async () => {},
  };
}

async function postgresqlBehindProxy(): Promise<Place> {
  const database = await createTestDatabase('postgresql', 'nothing');
  const proxy = await startTcpProxy(database.url);
  return {
    url: proxy.url,
    ownUrl: () => database.url,
    async takeAway() {
      await proxy.set('refuse');
      proxy.cut();
    },
    bringBack: () => proxy.set('clear'),
    async drop() {
      await proxy.close();
      await database.drop();
    },
  };
}

/** Waits until the file is of a revision. */
export function kept(file: StateFile, revision: number) {
  return until(
    () => file.header(),
    (header) => header?.revision === revision,
  );
}

const HEADER = 'x-service-staleness-seconds';

/** What one protocol says about a step. */
export interface Said {
  readonly isSafe: boolean | null;
  /** The name of the status, when there is no verdict. */
  readonly status: string | null;
  /** What header or trailer, and the message itself, tell of the age of the controls. */
  readonly staleness: readonly (number | null)[];
}

const request = (agentName: string, input: string) => ({
  agentName,
  stage: Stage.PRE,
  stepForm: {
    case: 'stepJson' as const,
    value: Buffer.from(JSON.stringify({ type: 'llm', name: 'answer', input })),
  },
});

/** Asks over every protocol, unary and in streams, with and without the short ways. */
export async function askEverywhere(
  url: string,
  agentName: string,
  input: string,
): Promise<Map<string, Said>> {
  const said = new Map<string, Said>();
  for (const path of ['/api/v1/evaluation', '/api/v1/evaluation?around-the-lane']) {
    said.set(`REST ${path}`, await askRest(url, path, agentName, input));
  }
  for (const protocol of RPC_PROTOCOLS) {
    said.set(protocol, await askUnary(protocol, url, agentName, input));
    said.set(`${protocol} in a batch`, await askBatch(protocol, url, agentName, input));
  }
  for (const protocol of BIDI_PROTOCOLS) {
    said.set(`${protocol} in a stream`, await askStream(protocol, url, agentName, input));
  }
  return said;
}

async function askRest(url: string, path: string, agentName: string, input: string): Promise<Said> {
  const response = await fetch(url + path, {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify({
      agent_name: agentName,
      stage: 'pre',
      step: { type: 'llm', name: 'answer', input },
    }),
  });
  const body = (await response.json()) as { is_safe?: boolean; error_code?: string };
  return {
    isSafe: body.is_safe ?? null,
    status: body.error_code ?? null,
    staleness: [numberOf(response.headers.get(HEADER))],
  };
}

async function askUnary(protocol: RpcProtocol, url: string, agent: string, input: string): Promise<Said> {
  const told: (number | null)[] = [];
  const client = createClient(EvaluationService, rpcTransport(protocol, url));
  try {
    const reply = await client.evaluate(request(agent, input), tellingTo(told));
    return ofReply(reply, told);
  } catch (error) {
    return { isSafe: null, status: (error as Error).message, staleness: told };
  }
}

async function askBatch(protocol: RpcProtocol, url: string, agent: string, input: string): Promise<Said> {
  const told: (number | null)[] = [];
  const client = createClient(EvaluationService, rpcTransport(protocol, url));
  const { results } = await client.evaluateBatch({ evaluations: [request(agent, input)] }, tellingTo(told));
  const outcome = results[0]?.outcome;
  if (outcome?.case === 'verdict') return ofReply(outcome.value, told);
  return { isSafe: null, status: outcome?.value?.message ?? '', staleness: told };
}

async function askStream(protocol: RpcProtocol, url: string, agent: string, input: string): Promise<Said> {
  const client = createClient(EvaluationService, rpcTransport(protocol, url));
  async function* messages() {
    yield { id: '1', evaluations: [request(agent, input)] };
  }
  for await (const { results } of client.evaluateStream(messages())) {
    const outcome = results[0]?.outcome;
    if (outcome?.case === 'verdict') return ofReply(outcome.value, []);
    return { isSafe: null, status: outcome?.value?.message ?? '', staleness: [] };
  }
  throw new Error('the stream has no reply');
}

function tellingTo(told: (number | null)[]): CallOptions {
  return { onTrailer: (trailer) => told.push(numberOf(trailer.get(HEADER))) };
}

function ofReply(reply: EvaluateResponse, told: readonly (number | null)[]): Said {
  return { isSafe: reply.isSafe, status: null, staleness: [...told, reply.stalenessSeconds ?? null] };
}

function numberOf(text: string | null): number | null {
  return text === null ? null : Number(text);
}
