import type { ServiceError } from '../contract/errors/service-error.js';
import type { ChangeSource } from './change-source.js';
import type { Database, DbClient } from './database.js';
import { createLateStorage } from './storage-health/late-storage.js';
import type { StorageReport } from './storage-health/storage-monitor.js';

/**
 * A database that is opened later than the parts that use it are made. Until `attach` is called every method fails with
 * the error that `refusal` makes.
 */
export interface LateDatabase extends Database {
  /** From now on everything goes to this database; closing closes it. Must be called at most once. */
  attach(database: Database): void;
}

export interface LateDatabaseOptions {
  readonly kind: Database['kind'];
  /** The id of the database that is expected; what is told until one is attached. */
  readonly instanceId: string;
  /** Why there is no database at present. */
  readonly refusal: () => ServiceError;
  /** The same, as a state of the storage. */
  readonly problem: () => StorageReport;
}

/** How often the change source is read until a database is attached, in milliseconds; attaching is told at once. */
const POLL_MS = 1_000;

export function createLateDatabase(options: LateDatabaseOptions): LateDatabase {
  const { kind, instanceId, refusal } = options;
  const storage = createLateStorage(options.problem);
  let current: Database | null = null;
  let closed = false;
  const sources = new Set<(database: Database) => void>();

  /** Rejects while there is no database. */
  async function present(): Promise<Database> {
    if (current === null) throw refusal();
    return current;
  }

  function changes(): ChangeSource {
    if (current !== null) return current.changes();
    let source: ChangeSource | null = null;
    let hint: ((revision?: number) => void) | null = null;
    let ended = false;
    const attached = (database: Database): void => {
      source = database.changes();
      if (hint === null) return;
      source.listen(hint);
      hint();
    };
    sources.add(attached);
    return {
      get pollMs() {
        return source?.pollMs ?? POLL_MS;
      },
      async read(known) {
        if (source === null || ended) throw refusal();
        return source.read(known);
      },
      listen(onHint) {
        hint = onHint;
        source?.listen(onHint);
      },
      async close() {
        ended = true;
        sources.delete(attached);
        await source?.close();
      },
    };
  }

  return {
    kind,
    get instanceId() {
      return current?.instanceId ?? instanceId;
    },
    get created() {
      return current?.created ?? false;
    },
    storage,
    client: lateClient(() => current?.client ?? null, refusal),
    bulk: {
      read: async (lane, query) => (await present()).bulk.read(lane, query),
      transaction: async (work) => (await present()).bulk.transaction(work),
    },
    readAtOnce: async (work) => (await present()).readAtOnce(work),
    mutate: async (work) => (await present()).mutate(work),
    revision: async () => (await present()).revision(),
    outrun: async (revision) => (await present()).outrun(revision),
    changes,
    ping: async () => (await current?.ping()) ?? false,
    attach(database) {
      if (current !== null || closed) throw new Error('a database cannot be attached any more');
      current = database;
      storage.attach(database.storage);
      for (const attached of sources) attached(database);
    },
    async close() {
      closed = true;
      await current?.close();
    },
  };
}

type Method = (...words: unknown[]) => unknown;

/**
 * A client that is another one's stand-in. Whatever is called on it, or on one of its models, is called on the client
 * that `current` gives at that moment; without one it rejects.
 */
function lateClient(current: () => DbClient | null, refusal: () => ServiceError): DbClient {
  const models = new Map<string, object>();
  const call =
    (find: (client: DbClient) => unknown): Method =>
    (...words) => {
      const client = current();
      if (client === null) return Promise.reject(refusal());
      return (find(client) as Method)(...words);
    };
  const model = (name: string): object => {
    const known = models.get(name);
    if (known !== undefined) return known;
    const created = new Proxy(
      {},
      {
        get: (_target, method) =>
          call((client) => {
            const owner = Reflect.get(client, name) as object;
            return (Reflect.get(owner, method) as Method).bind(owner);
          }),
      },
    );
    models.set(name, created);
    return created;
  };
  return new Proxy({} as DbClient, {
    get(_target, name) {
      // Not a promise, whoever asks.
      if (typeof name === 'symbol' || name === 'then') return undefined;
      if (!name.startsWith('$')) return model(name);
      return call((client) => (Reflect.get(client, name) as Method).bind(client));
    },
  });
}
