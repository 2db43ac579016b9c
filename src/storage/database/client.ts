import type { SqlDriverAdapterFactory, SqlQueryable } from '@prisma/driver-adapter-utils';
import type { Prisma, PrismaClient as SqliteClient } from '../../../gen/prisma/sqlite/client.js';
import type { BulkDatabase } from './bulk.js';
import { failClosed } from './fail-closed-transactions.js';

/** Client for queries, inside a transaction and outside: the models, and raw SQL valid for both databases. */
export type DbClient = Prisma.TransactionClient;

/** A connected Prisma client, its bulk part, and the function that closes both. */
export interface ConnectedClient<Bulk extends BulkDatabase = BulkDatabase> {
  readonly prisma: SqliteClient;
  readonly bulk: Bulk;
  /** See `Database.openBulk`. */
  openBulk(): BulkDatabase;
  disconnect(): Promise<void>;
}

/** Receivers of queries, failed statements and broken connections. */
export interface ClientEvents {
  readonly onQuery?: ((sql: string) => void) | undefined;
  readonly onFailure: (error: unknown) => void;
  readonly onConnectionError: (error: Error) => void;
}

/** The options common to the clients of both databases. */
export function clientOptions(factory: SqlDriverAdapterFactory, { onQuery, onFailure }: ClientEvents) {
  const log: [{ emit: 'event'; level: 'query' }] = [{ emit: 'event', level: 'query' }];
  return {
    adapter: failClosed(observed(factory, onFailure)),
    log: onQuery === undefined ? [] : log,
    // The other formats print the arguments of a failed call: slow for large ones, and useless in a log.
    errorFormat: 'minimal' as const,
  };
}

/** Calls `onFailure` for every statement that fails, inside transactions and outside. */
export function observed(
  factory: SqlDriverAdapterFactory,
  onFailure: (error: unknown) => void,
): SqlDriverAdapterFactory {
  const told = async <T>(work: Promise<T>): Promise<T> => {
    try {
      return await work;
    } catch (error) {
      onFailure(error);
      throw error;
    }
  };
  const observe = <Queryable extends SqlQueryable>(queryable: Queryable): Queryable => {
    const queryRaw = queryable.queryRaw.bind(queryable);
    const executeRaw = queryable.executeRaw.bind(queryable);
    queryable.queryRaw = (query) => told(queryRaw(query));
    queryable.executeRaw = (query) => told(executeRaw(query));
    return queryable;
  };
  return {
    provider: factory.provider,
    adapterName: factory.adapterName,
    async connect() {
      const adapter = observe(await told(factory.connect()));
      const startTransaction = adapter.startTransaction.bind(adapter);
      adapter.startTransaction = async (isolationLevel) =>
        observe(await told(startTransaction(isolationLevel)));
      return adapter;
    },
  };
}
