import type { SqlDriverAdapterFactory, SqlQuery, Transaction } from '@prisma/driver-adapter-utils';

/**
 * Makes a transaction fail as a whole once one of its statements has failed, even if the caller caught the
 * error and continued. By default the databases differ, and neither is safe: SQLite continues without the
 * failed statement, and PostgreSQL answers COMMIT with a rollback that the driver reports as success.
 */
export function failClosed(factory: SqlDriverAdapterFactory): SqlDriverAdapterFactory {
  return {
    provider: factory.provider,
    adapterName: factory.adapterName,
    async connect() {
      const adapter = await factory.connect();
      const startTransaction = adapter.startTransaction.bind(adapter);
      adapter.startTransaction = async (isolationLevel) => guard(await startTransaction(isolationLevel));
      return adapter;
    },
  };
}

function guard(transaction: Transaction): Transaction {
  const queryRaw = transaction.queryRaw.bind(transaction);
  const executeRaw = transaction.executeRaw.bind(transaction);
  const commit = transaction.commit.bind(transaction);
  let failure: { readonly error: unknown } | undefined;

  const run = async <T>(statement: (query: SqlQuery) => Promise<T>, query: SqlQuery): Promise<T> => {
    if (failure !== undefined && query.sql !== 'ROLLBACK') {
      // Adapters that commit by statement return the connection after a failed commit, whatever its state.
      if (query.sql === 'COMMIT') await executeRaw({ ...query, sql: 'ROLLBACK' });
      throw failure.error;
    }
    try {
      return await statement(query);
    } catch (error) {
      failure ??= { error };
      throw error;
    }
  };

  transaction.queryRaw = (query) => run(queryRaw, query);
  transaction.executeRaw = (query) => run(executeRaw, query);
  transaction.commit = async () => {
    if (failure === undefined) return commit();
    await transaction.rollback();
    throw failure.error;
  };
  return transaction;
}
