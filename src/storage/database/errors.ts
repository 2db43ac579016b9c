import { ServiceError } from '../../contract/errors/service-error.js';
import { errorChain, sqliteCodesOf, storageStateOf, textCodesOf } from './storage-health/storage-failure.js';
import { StorageError } from './storage-health/storage-state.js';

/** Seconds after which a caller may retry when the database could not answer. */
const RETRY_AFTER_SECONDS = 1;

// The following codes mean that the database cannot serve at present although the storage is intact, which
// `storageStateOf` has checked before.
/** Codes of Prisma: too slow, or lost against another transaction. */
const PRISMA_CODES = new Set(['P1008', 'P2024', 'P2028', 'P2034']);
/** The same from driver adapters. */
const ADAPTER_KINDS = new Set(['TransactionAlreadyClosed', 'TransactionWriteConflict']);
/** PostgreSQL: intervention such as a time limit, system, limits of transactions and locks, conflicts. */
const SQLSTATE = /^(?:57|58)[0-9A-Z]{3}$|^(?:25P03|25P04|40001|40P01|55P03)$/;
/** Permission, and too many open files. */
const NODE_CODE = /^(?:EACCES|EMFILE|ENFILE)$/;
/** SQLite, low byte: busy, locked, memory, lock protocol. */
const SQLITE_CODES = new Set([5, 6, 7, 15]);
/** Messages of drivers about a connection that come without a code. */
const MESSAGE =
  /^(?:Cannot use a pool after|Client (?:was closed|has encountered|is not)|The database connection is not open|the database is closed)/i;

/** PostgreSQL: data exception, violated constraint, limit of the program such as the size of an index entry. */
const DATA_SQLSTATE = /^(?:22|23|54)[0-9A-Z]{3}$/;
/** SQLite, low byte: too big, constraint, mismatch of types. */
const SQLITE_DATA_CODES = new Set([18, 19, 20]);

/** A write that may have been committed or not: its answer was lost. It can be retried if idempotent. */
export class OutcomeUnknownError extends ServiceError {
  constructor(detail: string, cause?: unknown) {
    super('SERVICE_UNAVAILABLE', {
      detail,
      hint: 'It is not known whether the write happened. Try again shortly.',
      retryAfterSeconds: RETRY_AFTER_SECONDS,
      ...(cause === undefined ? {} : { cause }),
    });
  }
}

/** Reports that the database cannot serve at present; the caller may retry soon. */
export function unavailable(detail: string, cause?: unknown): ServiceError {
  return new ServiceError('SERVICE_UNAVAILABLE', {
    detail,
    hint: 'Try again shortly.',
    retryAfterSeconds: RETRY_AFTER_SECONDS,
    ...(cause === undefined ? {} : { cause }),
  });
}

/**
 * Converts the error of a database call to an error of the service. A `ServiceError` is unchanged. A database
 * that cannot be reached, is full, read-only or damaged is a `StorageError`, and one that is too slow, locked
 * or closed is `SERVICE_UNAVAILABLE`; a mistake in our own code is `INTERNAL_ERROR`; everything else is
 * `DATABASE_ERROR`.
 */
export function asServiceError(error: unknown): ServiceError {
  if (error instanceof ServiceError) return error;
  const state = storageStateOf(error);
  if (state !== null) return new StorageError(state, { cause: error });
  if (isUnavailable(error)) {
    return unavailable('The database cannot be reached or is too busy to answer.', error);
  }
  if (isProgrammingError(error)) {
    return new ServiceError('INTERNAL_ERROR', { detail: 'An unexpected error occurred.', cause: error });
  }
  return new ServiceError('DATABASE_ERROR', { detail: 'The database refused an operation.', cause: error });
}

/** Runs `work`; any rejection becomes a `ServiceError`. */
export async function withServiceErrors<T>(work: () => Promise<T>): Promise<T> {
  try {
    return await work();
  } catch (error) {
    throw asServiceError(error);
  }
}

/** Whether a member of the chain of causes means unavailability. */
function isUnavailable(error: unknown): boolean {
  for (const each of errorChain(error)) {
    const { kind, message } = each;
    const codes = textCodesOf(each);
    if (codes.some((code) => PRISMA_CODES.has(code) || SQLSTATE.test(code) || NODE_CODE.test(code)))
      return true;
    if (typeof kind === 'string' && ADAPTER_KINDS.has(kind)) return true;
    if (sqliteCodesOf(each).some((code) => SQLITE_CODES.has(code & 0xff))) return true;
    if (typeof message === 'string' && MESSAGE.test(message)) return true;
  }
  return false;
}

/**
 * Whether the chain of causes shows that the database rejected the data of a statement, so that the same data
 * will be rejected again. Every other failure is one of the storage, and may pass.
 */
export function isRefusedData(error: unknown): boolean {
  for (const each of errorChain(error)) {
    if (textCodesOf(each).some((code) => DATA_SQLSTATE.test(code))) return true;
    if (sqliteCodesOf(each).some((code) => SQLITE_DATA_CODES.has(code & 0xff))) return true;
  }
  return false;
}

function isProgrammingError(error: unknown): boolean {
  return error instanceof TypeError || error instanceof RangeError || error instanceof ReferenceError;
}
