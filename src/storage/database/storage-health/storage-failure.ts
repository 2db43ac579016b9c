import { StorageError, type StorageProblem } from './storage-state.js';

/** Extended result codes of SQLite that are more specific than their low byte. */
const SQLITE_EXTENDED = new Map<number, StorageProblem>([
  // IOERR_SHORT_READ and IOERR_CORRUPTFS: less data than was written.
  [522, 'CORRUPT'],
  [8458, 'CORRUPT'],
  // READONLY_DBMOVED
  [1032, 'REPLACED'],
]);
/** Result codes of SQLite: PERM, READONLY, IOERR, CORRUPT, FULL, CANTOPEN, NOTADB. */
const SQLITE = new Map<number, StorageProblem>([
  [3, 'READONLY'],
  [8, 'READONLY'],
  [10, 'DOWN'],
  [11, 'CORRUPT'],
  [13, 'NOSPACE'],
  [14, 'DOWN'],
  [26, 'CORRUPT'],
]);

/** SQLSTATEs of PostgreSQL, without those of slow statements or conflicts with other transactions. */
const SQLSTATES: readonly (readonly [RegExp, StorageProblem])[] = [
  [/^53100$/, 'NOSPACE'],
  // read_only_sql_transaction, insufficient_privilege
  [/^(?:25006|42501)$/, 'READONLY'],
  // data_corrupted, index_corrupted, undefined_file
  [/^(?:XX00[12]|58P01)$/, 'CORRUPT'],
  // Connection, admission, resources, operator intervention, system errors, no such database.
  [/^(?:08[0-9A-Z]{3}|28[0-9A-Z]{3}|53[0-9A-Z]{3}|57P0[0-9]|58030|3D000)$/, 'DOWN'],
];

const NODE: readonly (readonly [RegExp, StorageProblem])[] = [
  [/^(?:ENOSPC|EDQUOT)$/, 'NOSPACE'],
  [/^EROFS$/, 'READONLY'],
  [/^(?:ECONN[A-Z]+|ETIMEDOUT|EPIPE|ENOTFOUND|EAI_[A-Z]+|EHOST[A-Z]+|ENET[A-Z]+|EIO|ESTALE)$/, 'DOWN'],
];

/** Codes of Prisma, and kinds of its driver adapters, for an unreachable database. */
const PRISMA = /^(?:P100[0-3]|P101[01]|P1017|P2037)$/;
const ADAPTER_KINDS = new Set([
  'AuthenticationFailed',
  'ConnectionClosed',
  'DatabaseAccessDenied',
  'DatabaseDoesNotExist',
  'DatabaseNotReachable',
  'SocketTimeout',
  'TlsConnectionError',
  'TooManyConnections',
]);
/** Messages of drivers about a lost connection that come without a code. */
const MESSAGE =
  /^(?:Connection terminated|Connection ended|timeout exceeded when trying to connect|timeout expired|Query read timeout|ConnectionFailed\()/i;

/** The storage state implied by an error; null for other errors. */
export function storageStateOf(error: unknown): StorageProblem | null {
  let isDown = false;
  for (const each of errorChain(error)) {
    const state = stateOf(each);
    // A lost connection may have a more specific cause.
    if (state === 'DOWN') isDown = true;
    else if (state !== null) return state;
  }
  return isDown ? 'DOWN' : null;
}

function stateOf(error: ErrorShape): StorageProblem | null {
  if (error instanceof StorageError) return error.state;
  for (const code of textCodesOf(error)) {
    const found = [...SQLSTATES, ...NODE].find(([pattern]) => pattern.test(code));
    if (found !== undefined) return found[1];
    if (PRISMA.test(code)) return 'DOWN';
  }
  for (const code of sqliteCodesOf(error)) {
    const found = SQLITE_EXTENDED.get(code) ?? SQLITE.get(code & 0xff);
    if (found !== undefined) return found;
  }
  const { kind, message } = error;
  if (typeof kind === 'string' && ADAPTER_KINDS.has(kind)) return 'DOWN';
  return typeof message === 'string' && MESSAGE.test(message) ? 'DOWN' : null;
}

/** Causes can be nested, and may form a circle. */
const MAX_CAUSE_DEPTH = 8;

/** Members of errors of Prisma, its adapters, drivers and Node.js; each may be absent or of another type. */
export interface ErrorShape {
  readonly code?: unknown;
  readonly kind?: unknown;
  readonly originalCode?: unknown;
  readonly rawCode?: unknown;
  readonly extendedCode?: unknown;
  readonly message?: unknown;
  readonly cause?: unknown;
  readonly errors?: unknown;
  readonly meta?: { readonly driverAdapterError?: unknown };
}

/** An error and its causes, outermost first. */
export function* errorChain(error: unknown, depth = 0): Generator<ErrorShape> {
  if (typeof error !== 'object' || error === null || depth > MAX_CAUSE_DEPTH) return;
  const shape = error as ErrorShape;
  yield shape;
  // Connecting to a name with several addresses fails with one error for each of them.
  if (Array.isArray(shape.errors)) for (const each of shape.errors) yield* errorChain(each, depth + 1);
  yield* errorChain(shape.cause, depth + 1);
  yield* errorChain(shape.meta?.driverAdapterError, depth + 1);
}

/** Text codes: of Prisma, of Node.js, and SQLSTATEs. */
export function textCodesOf({ code, originalCode }: ErrorShape): string[] {
  return [code, originalCode].filter((each) => typeof each === 'string');
}

/** The extended result codes of SQLite. */
export function sqliteCodesOf({ rawCode, extendedCode }: ErrorShape): number[] {
  return [rawCode, extendedCode].filter((each) => typeof each === 'number');
}
