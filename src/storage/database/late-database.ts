import type { ServiceError } from '../../contract/errors/service-error.js';
import type { BulkDatabase } from './bulk.js';
import type { ChangeSource } from './change-source.js';
import type { Database, DbClient } from './database.js';
import { createLateStorage } from './storage-health/late-storage.js';
import type { StorageReport } from './storage-health/storage-state.js';

/**
 * A database that is opened after its users are created. Until `attach` is called every method fails with the
 * error returned by `refusal`.
 */
export interface LateDatabase extends Database {
  /** Forwards all calls to this database from now on; closing closes it. Must be called at most once. */
  attach(database: Database): void;
}

export interface LateDatabaseOptions {
  readonly kind: Database['kind'];
  /** The id of the expected database; returned until one is attached. */
  readonly instanceId: string;
  /** Why there is no database at present, as an error. */
  readonly refusal: () => ServiceError;
  /** The same, as a storage state. */
  readonly problem: () => StorageReport;
}

/** Interval of reading the change source until a database is attached, in ms; attaching is immediate. */
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
    openBulk() {
      let opened: BulkDatabase | null = null;
      const bulk = async () => {
        opened ??= (await present()).openBulk();
        return opened;
      };
      return {
        read: async (lane, query) => (await bulk()).read(lane, query),
        readAtOnce: async (work) => (await bulk()).readAtOnce(work),
        transaction: async (work) => (await bulk()).transaction(work),
        guarded: async (guard, statements) => (await bulk()).guarded(guard, statements),
        close: async () => opened?.close(),
      };
    },
    readAtOnce: async (work) => (await present()).readAtOnce(work),
    mutate: async (work) => (await present()).mutate(work),
    revision: async () => (await present()).revision(),
    mutateAside: async (work) => (await present()).mutateAside(work),
    outrun: async (revision, origin) => (await present()).outrun(revision, origin),
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
 * A client that forwards to another one. Calls to it, or to one of its models, go to the client that
 * `current` returns at that moment; without one they reject.
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
      // Must never look like a promise.
      if (typeof name === 'symbol' || name === 'then') return undefined;
      if (!name.startsWith('$')) return model(name);
      return call((client) => (Reflect.get(client, name) as Method).bind(client));
    },
  });
}
