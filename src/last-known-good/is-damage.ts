/** SQLite, low byte: the file is malformed, or no database. */
const SQLITE_CODES = new Set([11, 26]);
const SQLITE_WORDS = /^SQLITE_(?:CORRUPT|NOTADB)/;
/** PostgreSQL: data corrupted, index corrupted. */
const SQLSTATE = /^XX00[12]$/;
/** Causes can be nested, and nothing promises that they do not form a circle. */
const MAX_CAUSE_DEPTH = 8;

/** Whether an error, or what caused it, says that the database is damaged. */
export function isDamage(error: unknown, depth = 0): boolean {
  if (typeof error !== 'object' || error === null || depth > MAX_CAUSE_DEPTH) return false;
  const { code, originalCode, rawCode, extendedCode, cause, meta } = error as ErrorShape;
  for (const text of [code, originalCode]) {
    if (typeof text === 'string' && (SQLITE_WORDS.test(text) || SQLSTATE.test(text))) return true;
  }
  for (const number of [rawCode, extendedCode]) {
    if (typeof number === 'number' && SQLITE_CODES.has(number & 0xff)) return true;
  }
  return isDamage(cause, depth + 1) || isDamage(meta?.driverAdapterError, depth + 1);
}

/** What Prisma, its adapters and drivers tell in their errors; every member may be absent or another type. */
interface ErrorShape {
  readonly code?: unknown;
  readonly originalCode?: unknown;
  readonly rawCode?: unknown;
  readonly extendedCode?: unknown;
  readonly cause?: unknown;
  readonly meta?: { readonly driverAdapterError?: unknown };
}
