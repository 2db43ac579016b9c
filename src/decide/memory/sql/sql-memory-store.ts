import { randomBytes, randomUUID } from 'node:crypto';
import { Prisma } from '../../../../gen/prisma/sqlite/client.js';
import { ServiceError } from '../../../contract/errors/service-error.js';
import type { Database } from '../../../storage/database/database.js';
import { select } from '../../../storage/database/rows.js';
import { errorChain, textCodesOf } from '../../../storage/database/storage-health/storage-failure.js';
import { demandExchangeable } from '../store/exchange-rules.js';
import {
  type ExchangeRequest,
  type MemoryStore,
  MemoryStoreError,
  type StoredCell,
} from '../store/memory-store.js';
import { exchangeOnPostgres } from './postgres-exchange.js';
import { CELL, cellOf } from './rows.js';
import { exchangeOnSqlite } from './sqlite-exchange.js';
import { createSweeper } from './sweep.js';

/** Most entries that a repair reads: the newest. */
const MAX_LEDGER = 500_000;
/** PostgreSQL undid a transaction that waited for another one, or that lost against it: it can be repeated. */
const UNDONE = /^40(?:P01|001)$/;
const NOTHING: ExchangeRequest = { epoch: null, cells: [], groups: [], rules: [] };

export interface SqlMemoryStoreOptions {
  /** It need not be open before the first call. */
  readonly database: Pick<Database, 'kind' | 'openBulk'>;
  /** Clock of this machine in microseconds since 1970, for SQLite: all its processes share it. */
  readonly clockUs?: () => number;
}

/** Memory in the database of the controls, over connections, or threads, of its own, which start with the first call. */
export function createSqlMemoryStore({
  database,
  clockUs = () => Date.now() * 1_000,
}: SqlMemoryStoreOptions): MemoryStore {
  const { kind } = database;
  const bulk = database.openBulk();
  const sweeper = createSweeper(bulk, kind);
  let isClosed = false;

  const run = async <T>(work: () => Promise<T>): Promise<T> => {
    if (isClosed) throw new MemoryStoreError('The memory of the controls is closed.');
    try {
      return await work();
    } catch (error) {
      throw asStoreError(error);
    }
  };
  const exchange = (request: ExchangeRequest) =>
    kind === 'sqlite' ? exchangeOnSqlite(bulk, request, clockUs) : exchangeOnPostgres(bulk, request);
  const write = (statement: Prisma.Sql) =>
    bulk.transaction(async (tx) => (await tx.run(statement))[0]?.changes ?? 0);
  const entriesAfter = async (id: string, version: number): Promise<string[]> => {
    const rows = await bulk.read(
      'search',
      Prisma.sql`SELECT "entry" FROM "memory_entries" WHERE "cell_id" = ${id} AND "version" > ${version} ORDER BY "version"`,
    );
    return rows.map(([entry]) => String(entry));
  };
  /** Entries that were added between the two queries are left out. */
  const cells = (where: Prisma.Sql): Promise<StoredCell[]> =>
    run(async () => {
      const rows = await select(CELL, bulk)`FROM "memory_cells" WHERE "version" > 0 AND ${where}`;
      return Promise.all(
        rows.map(async (row) => {
          const { id, version, checkpoint } = cellOf(row, []);
          const start = checkpoint?.version ?? 0;
          return cellOf(row, (await entriesAfter(id, start)).slice(0, version - start));
        }),
      );
    });

  return {
    kind,
    open: () =>
      run(async () => {
        const stored = Prisma.sql`SELECT "hash_key" FROM "memory_clock" WHERE "id" = 1`;
        if ((await bulk.read('statistics', stored)).length === 0) {
          await write(Prisma.sql`
            INSERT INTO "memory_clock" ("id", "epoch", "hash_key")
            VALUES (1, ${randomUUID()}, ${randomBytes(32).toString('base64url')}) ON CONFLICT DO NOTHING`);
        }
        const [row] = await bulk.read('statistics', stored);
        return { hashKey: Buffer.from(String(row?.[0]), 'base64url') };
      }),
    exchange: (request) =>
      run(async () => {
        demandExchangeable(request);
        try {
          return await exchange(request);
        } catch (error) {
          if (![...errorChain(error)].some((each) => textCodesOf(each).some((code) => UNDONE.test(code))))
            throw error;
          return exchange(request);
        }
      }),
    setOffset: (offsetUs, version) =>
      run(async () => {
        await write(Prisma.sql`
          UPDATE "memory_clock" SET "offset_us" = ${offsetUs}, "version" = "version" + 1 WHERE "id" = 1 AND "version" = ${version}`);
        return (await exchange(NOTHING)).clock;
      }),
    mostUsed: (namespace, minUsed, limit) =>
      cells(
        Prisma.sql`"namespace" = ${namespace} AND "used" >= ${minUsed} ORDER BY "used" DESC, "id" LIMIT ${limit}`,
      ),
    read: async (namespace, id) =>
      (await cells(Prisma.sql`"namespace" = ${namespace} AND "id" = ${id}`))[0] ?? null,
    ledger: (namespace, id) =>
      run(async () => {
        const rows = await bulk.read(
          'search',
          Prisma.sql`
            SELECT "e"."version", "e"."entry" FROM "memory_entries" AS "e" JOIN "memory_cells" AS "c" ON "c"."id" = "e"."cell_id"
            WHERE "c"."id" = ${id} AND "c"."namespace" = ${namespace} ORDER BY "e"."version" DESC LIMIT ${MAX_LEDGER}`,
        );
        const ordered = rows.toReversed();
        return {
          firstVersion: Number(ordered[0]?.[0] ?? 0),
          entries: ordered.map(([, entry]) => String(entry)),
        };
      }),
    repair: (namespace, id, version, checkpoint) =>
      run(async () => {
        const changes = await write(Prisma.sql`
          UPDATE "memory_cells" SET "checkpoint" = ${checkpoint}, "checkpoint_version" = "version",
            "generation" = "generation" + 1, "bytes" = ${Buffer.byteLength(checkpoint)}
          WHERE "id" = ${id} AND "namespace" = ${namespace} AND "version" = ${version}`);
        return changes > 0;
      }),
    sweep: (limits) => run(() => sweeper.sweep(limits)),
    removeNamespace: (namespace) => run(() => sweeper.removeNamespace(namespace)),
    async close() {
      isClosed = true;
      await bulk.close();
    },
  };
}

function asStoreError(error: unknown): MemoryStoreError {
  if (error instanceof MemoryStoreError) return error;
  const detail = error instanceof ServiceError ? error.options.detail : String(error);
  return new MemoryStoreError(`The database does not keep the memory of controls: ${detail}`, {
    cause: error,
  });
}
