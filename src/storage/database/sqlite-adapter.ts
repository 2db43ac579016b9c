/**
 * Prisma's driver adapter for SQLite, with two connections that live as long as the client: transactions own
 * the writing one, statements outside a transaction use the reading one. So reads continue, and see committed
 * data, while a transaction is open, and no statement outside of it can become part of it.
 */
import {
  type ArgType,
  type ColumnType,
  ColumnTypeEnum,
  DriverAdapterError,
  type SqlDriverAdapter,
  type SqlDriverAdapterFactory,
  type SqlQuery,
  type SqlQueryable,
  type SqlResultSet,
  type Transaction,
} from '@prisma/driver-adapter-utils';
import Libsql from 'libsql';
import type { Mutex } from './mutex.js';
import {
  beginWriting,
  openSqliteConnection,
  type SqliteConnection,
  type SqliteValue,
} from './sqlite-connection.js';
import type { OpenedFiles } from './storage-health/file-check.js';

const INFO = { provider: 'sqlite', adapterName: 'control-enforcement-libsql' } as const;
/** How long a transaction waits for the write lock while another process holds it. */
export const WRITE_LOCK_WAIT_MS = 5_000;
/** Prisma splits longer argument lists. SQLite allows 32,766 arguments, but binding that many blocks. */
const MAX_BIND_VALUES = 10_000;

/**
 * Creates the adapter factory of one file. It connects once: after `dispose` the database stays closed.
 * `writing` is held by every transaction, and by all other writers to the file in this process. Only `files`
 * are opened.
 */
export function createSqliteAdapterFactory(
  path: string,
  writing: Mutex,
  files: OpenedFiles,
): SqlDriverAdapterFactory {
  let connected = false;
  return {
    ...INFO,
    async connect() {
      if (connected) throw new Error('the database is closed');
      const reader = openSqliteConnection(path, 'reader', files);
      const writer = openSqliteConnection(path, 'writer', files);
      connected = true;
      return createAdapter(reader, writer, writing);
    },
  };
}

function createAdapter(reader: SqliteConnection, writer: SqliteConnection, writing: Mutex): SqlDriverAdapter {
  return {
    ...createQueryable(() => reader),
    async executeScript(script) {
      const release = await writing.acquire();
      try {
        writer.executeScript(script);
      } catch (error) {
        throw adapterError(error);
      } finally {
        undo(writer);
        release();
      }
    },
    async startTransaction(isolationLevel) {
      if (isolationLevel !== undefined && isolationLevel !== 'SERIALIZABLE') {
        throw new DriverAdapterError({ kind: 'InvalidIsolationLevel', level: isolationLevel });
      }
      const release = await writing.acquire();
      try {
        undo(writer);
        await beginWriting(writer, WRITE_LOCK_WAIT_MS);
      } catch (error) {
        release();
        throw adapterError(error);
      }
      return createTransaction(writer, release);
    },
    getConnectionInfo: () => ({ maxBindValues: MAX_BIND_VALUES, supportsRelationJoins: false }),
    async dispose() {
      const release = await writing.acquire();
      writer.close();
      reader.close();
      release();
    },
  };
}

function createTransaction(writer: SqliteConnection, release: () => void): Transaction {
  let ended = false;
  // SQLite itself ends a transaction on errors such as a full disk; nothing must then run outside of it.
  const connection = () => {
    if (!ended && writer.inTransaction) return writer;
    throw new DriverAdapterError({ kind: 'TransactionAlreadyClosed', cause: 'the transaction has ended' });
  };
  const end = (statement: 'COMMIT' | 'ROLLBACK') => {
    try {
      connection().executeScript(statement);
    } catch (error) {
      // After a failed commit the transaction may still be open. Once ended, others may use the connection.
      if (!ended) undo(writer);
      throw adapterError(error);
    } finally {
      ended = true;
      release();
    }
  };
  return {
    ...createQueryable(connection),
    options: { usePhantomQuery: true },
    commit: async () => end('COMMIT'),
    async rollback() {
      if (ended) return;
      if (writer.inTransaction) return end('ROLLBACK');
      ended = true;
      release();
    },
  };
}

/** Ends an open transaction. If that fails, it is ended before the next one starts. */
function undo(writer: SqliteConnection): void {
  try {
    if (writer.inTransaction) writer.executeScript('ROLLBACK');
  } catch {
    // The caller already has the original error.
  }
}

function createQueryable(connection: () => SqliteConnection): SqlQueryable {
  const run = ({ sql, args, argTypes }: SqlQuery) => {
    try {
      return connection().execute(
        sql,
        args.map((arg, index) => toSqlite(arg, argTypes[index])),
      );
    } catch (error) {
      throw adapterError(error);
    }
  };
  return {
    ...INFO,
    queryRaw: async (query) => toResultSet(run(query)),
    executeRaw: async (query) => run(query).changes,
  };
}

function toSqlite(arg: unknown, type: ArgType | undefined): SqliteValue {
  if (arg === null || arg instanceof Uint8Array || typeof arg === 'bigint') return arg;
  if (typeof arg === 'boolean') return arg ? 1n : 0n;
  // A JavaScript number would be bound as a real.
  if (typeof arg === 'number') return Number.isSafeInteger(arg) ? BigInt(arg) : arg;
  if (typeof arg === 'string') return type?.scalarType === 'bigint' ? BigInt(arg) : arg;
  throw new TypeError(`an argument of type ${typeof arg} cannot be bound`);
}

const DECLARED_TYPES: Readonly<Record<string, ColumnType>> = {
  BIGINT: ColumnTypeEnum.Int64,
  BLOB: ColumnTypeEnum.Bytes,
  BOOLEAN: ColumnTypeEnum.Boolean,
  INTEGER: ColumnTypeEnum.Int32,
  REAL: ColumnTypeEnum.Double,
  TEXT: ColumnTypeEnum.Text,
};

function toResultSet({ columns, rows }: ReturnType<SqliteConnection['execute']>): SqlResultSet {
  const columnTypes = columns.map(({ declaredType }, index) => {
    const declared = declaredType === null ? undefined : DECLARED_TYPES[declaredType.toUpperCase()];
    return declared ?? typeOfValues(rows, index);
  });
  return {
    columnNames: columns.map(({ name }) => name),
    columnTypes,
    rows: rows.map((row) => row.map((value, index) => fromSqlite(value, columnTypes[index]))),
  };
}

/** The type of a computed column, from its first value that is not null. */
function typeOfValues(rows: readonly SqliteValue[][], index: number): ColumnType {
  const value = rows.find((row) => row[index] !== null)?.[index];
  if (typeof value === 'bigint') return ColumnTypeEnum.Int64;
  if (typeof value === 'number') return ColumnTypeEnum.Double;
  if (value instanceof Uint8Array) return ColumnTypeEnum.Bytes;
  return ColumnTypeEnum.Text;
}

function fromSqlite(value: SqliteValue, type: ColumnType | undefined): unknown {
  if (typeof value !== 'bigint') return value;
  if (type === ColumnTypeEnum.Boolean) return value !== 0n;
  return type === ColumnTypeEnum.Int64 ? value.toString() : Number(value);
}

/** Constraint violations get Prisma's kinds; all other errors of SQLite keep their code. */
function adapterError(error: unknown): unknown {
  if (!(error instanceof Libsql.SqliteError)) return error;
  const { code, message } = error;
  const extendedCode = 'rawCode' in error && typeof error.rawCode === 'number' ? error.rawCode : 1;
  const original = { originalCode: code, originalMessage: message };
  const fields = (message.split('constraint failed: ')[1] ?? '')
    .split(', ')
    .map((name) => name.replace(/^.*\./, ''));
  switch (code) {
    case 'SQLITE_CONSTRAINT_UNIQUE':
    case 'SQLITE_CONSTRAINT_PRIMARYKEY':
      return new DriverAdapterError({
        kind: 'UniqueConstraintViolation',
        constraint: { fields },
        ...original,
      });
    case 'SQLITE_CONSTRAINT_NOTNULL':
      return new DriverAdapterError({ kind: 'NullConstraintViolation', constraint: { fields }, ...original });
    case 'SQLITE_CONSTRAINT_FOREIGNKEY':
      return new DriverAdapterError({
        kind: 'ForeignKeyConstraintViolation',
        constraint: { foreignKey: {} },
        ...original,
      });
    default:
      return new DriverAdapterError({ kind: 'sqlite', extendedCode, message, ...original });
  }
}
