import type { SqlDriverAdapterFactory, SqlQueryable } from '@prisma/driver-adapter-utils';

/** Tells `onFailure` of every statement that fails, inside transactions and outside. */
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
