import { hash } from 'node:crypto';
import { MemoryStoreError } from '../../../src/decide/memory/store/memory-store.js';
import type { RedisAddress } from './redis-address.js';
import { checkServer, readInfo, type ServerInfo } from './server-checks.js';

/** What a script is called with. */
export interface ScriptCall {
  readonly source: string;
  /** All in one slot. */
  readonly keys: readonly string[];
  readonly args: readonly string[];
}

/** Connections to the servers as they were when it was opened: it ends when one of them goes, or another comes. */
export interface RedisLink {
  /** Changes whenever a server was started again or replaced by its replica, and may have lost what was written last. */
  readonly servers: string;
  /** Why a server may forget what it acknowledged, now or when it crashes; null if none does. */
  readonly volatile: string | null;
  readonly isOpen: boolean;
  /** Sends a command about keys of one slot. Commands that are sent in the same turn take one round trip. */
  send(key: string, command: readonly string[]): Promise<unknown>;
  /** Ends every command under way with an error. */
  close(): void;
}

/** Commands to one or more servers, as the client has them. */
interface Connections {
  /** `ended` is called when one is lost or added. */
  connect(ended: () => void): Promise<void>;
  /** Runs something for each server that takes writes. */
  each<T>(work: (server: Server) => Promise<T>): Promise<T[]>;
  send(key: string, command: readonly string[]): Promise<unknown>;
  destroy(): unknown;
}

/** One server, for what it says of itself. */
type Server = (...command: string[]) => Promise<unknown>;

/** More commands than this wait for a reply only if the server hangs. */
const MAX_COMMANDS = 10_000;

/** What to do about an error of the server, by the first word of its message. */
const ADVICE: Readonly<Record<string, string>> = {
  NOAUTH: 'put user and password into SERVICE_MEMORY_STORE',
  WRONGPASS: 'check user and password in SERVICE_MEMORY_STORE',
  NOPERM:
    'the user needs the commands of the categories @read, @write and @scripting, INFO, TIME, and the keys {ces*',
  READONLY: 'it has become a replica; name the server that takes writes',
  OOM: 'its memory is full; raise maxmemory, or lower SERVICE_MEMORY_BYTES',
  WRONGTYPE: 'its database has keys of something else; give the service a database of its own',
  MISCONF: 'it cannot write to its disk',
};

/** An error of the store with what to do about it. Neither has credentials. */
export function storeError(place: string, error: unknown): MemoryStoreError {
  if (error instanceof MemoryStoreError) return error;
  const nested = error instanceof AggregateError ? error.errors : [error];
  const message = nested
    .map((one) => (one instanceof Error ? one.message || one.name : String(one)))
    .join('; ');
  const advice = ADVICE[/^[A-Z]+/.exec(message)?.[0] ?? ''];
  return new MemoryStoreError(`${place}: ${message}${advice === undefined ? '' : `; ${advice}`}`);
}

export function lateReply(place: string, timeoutMs: number): MemoryStoreError {
  return new MemoryStoreError(`${place} did not answer within ${timeoutMs} ms`);
}

/** Connects and checks all servers. Rejects with a `MemoryStoreError`. */
export async function openLink(
  address: RedisAddress,
  { timeoutMs, isVolatileAccepted }: { readonly timeoutMs: number; readonly isVolatileAccepted: boolean },
): Promise<RedisLink> {
  const connections = address.isCluster
    ? await clusterConnections(address, timeoutMs)
    : await singleConnection(address, timeoutMs);
  let isOpen = true;
  const close = () => {
    if (!isOpen) return;
    isOpen = false;
    connections.destroy();
  };
  const refuse = (reason: string) => new MemoryStoreError(`${address.place} is not used: ${reason}`);
  let timer: NodeJS.Timeout | undefined;
  const late = new Promise<never>((_, reject) => {
    timer = setTimeout(() => reject(lateReply(address.place, timeoutMs)), timeoutMs);
  });
  const connected = async () => {
    await connections.connect(close);
    return connections.each(describe);
  };
  try {
    const servers = await Promise.race([connected(), late]);
    const problems = servers.map(({ info, appendfsync }) =>
      checkServer(info, appendfsync, address.isCluster),
    );
    const refused = problems.find((problem) => problem.refused !== null)?.refused;
    if (refused != null) throw refuse(refused);
    const volatile = problems.find((problem) => problem.volatile !== null)?.volatile ?? null;
    if (volatile !== null && !isVolatileAccepted) {
      throw refuse(`${volatile}, or accept the loss with SERVICE_MEMORY_VOLATILE=accept`);
    }
    const runs = servers.map(({ info }) => info.get('run_id') ?? '').sort();
    const lateness = problems.find((problem) => problem.late !== null)?.late ?? null;
    return {
      servers: hash('sha256', runs.join(' ')).slice(0, 16),
      volatile: volatile ?? lateness,
      get isOpen() {
        return isOpen;
      },
      send: connections.send,
      close,
    };
  } catch (error) {
    close();
    throw storeError(address.place, error);
  } finally {
    clearTimeout(timer);
  }
}

function clientOptions({ isTls, credentials, database }: RedisAddress, timeoutMs: number) {
  const timing = { connectTimeout: timeoutMs, reconnectStrategy: false } as const;
  return {
    ...credentials,
    database,
    RESP: 2,
    disableOfflineQueue: true,
    disableClientInfo: true,
    maintNotifications: 'disabled',
    commandsQueueMaxLength: MAX_COMMANDS,
    // The store connects again by itself: whatever was known before must be checked then.
    socket: isTls ? { ...timing, tls: true as const } : timing,
  } as const;
}

async function singleConnection(address: RedisAddress, timeoutMs: number): Promise<Connections> {
  const { createClient } = await import('@redis/client');
  const options = clientOptions(address, timeoutMs);
  const client = createClient({
    ...options,
    socket: { ...options.socket, host: address.host, port: address.port },
  });
  return {
    async connect(ended) {
      // A rejected `connect` and commands under way tell the same.
      client.on('error', ended).on('end', ended);
      await client.connect();
    },
    each: async (work) => [await work((...command) => client.sendCommand(command))],
    send: (_key, command) => client.sendCommand(command),
    destroy: () => client.isOpen && client.destroy(),
  };
}

async function clusterConnections(address: RedisAddress, timeoutMs: number): Promise<Connections> {
  const { createCluster } = await import('@redis/client');
  const options = clientOptions(address, timeoutMs);
  const { RESP, ...defaults } = options;
  const cluster = createCluster({
    RESP,
    rootNodes: [{ ...defaults, socket: { ...options.socket, host: address.host, port: address.port } }],
    defaults,
  });
  return {
    async connect(ended) {
      let cause: unknown;
      cluster.on('error', (error) => {
        cause = error;
        ended();
      });
      // What it rejects with does not tell why.
      await cluster.connect().catch((error: unknown) => Promise.reject(cause ?? error));
      for (const event of ['node-error', 'node-disconnect', 'node-connect']) cluster.on(event, ended);
    },
    each: (work) =>
      Promise.all(
        cluster.masters.map(async (node) => {
          const client = await cluster.nodeClient(node);
          return work((...command) => client.sendCommand(command));
        }),
      ),
    send: (key, command) => cluster.sendCommand(key, false, [...command]),
    destroy: () => cluster.isOpen && cluster.destroy(),
  };
}

/** Services of others, and users with few rights, forbid `CONFIG`. */
async function describe(send: Server): Promise<{ info: ServerInfo; appendfsync: string | null }> {
  const [info, setting] = await Promise.all([
    send('INFO'),
    send('CONFIG', 'GET', 'appendfsync').catch((error: unknown) => {
      if (error instanceof Error && /^(?:NOPERM|ERR)\b/.test(error.message)) return null;
      throw error;
    }),
  ]);
  const appendfsync = Array.isArray(setting) && setting.length > 1 ? String(setting[1]) : null;
  return { info: readInfo(String(info)), appendfsync };
}

const digests = new Map<string, string>();

/** Runs a script, by its digest if the server has it. */
export async function runScript(link: RedisLink, { source, keys, args }: ScriptCall): Promise<unknown> {
  const digest = digests.get(source) ?? hash('sha1', source);
  digests.set(source, digest);
  const [key = ''] = keys;
  const rest = [String(keys.length), ...keys, ...args];
  try {
    return await link.send(key, ['EVALSHA', digest, ...rest]);
  } catch (error) {
    if (!(error instanceof Error && error.message.startsWith('NOSCRIPT'))) throw error;
    return link.send(key, ['EVAL', source, ...rest]);
  }
}
