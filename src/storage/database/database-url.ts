import { ServiceError } from '../../contract/errors/service-error.js';

/** Location of the database. */
export type DatabaseLocation =
  | { readonly kind: 'sqlite'; readonly path: string }
  | { readonly kind: 'postgresql'; readonly connectionString: string };

const POSTGRESQL = /^postgres(?:ql)?(?:\+[a-z0-9]+)?:\/\//i;
const SQLITE = /^(?:sqlite(?:\+[a-z0-9]+)?|file):/i;
/** At least two letters, because `C:\data` is a path. */
const ANY_SCHEME = /^([a-z][a-z0-9+.-]+):/i;

/**
 * Reads a database URL: `postgres://` and `postgresql://`, `file:` and `sqlite:` URLs, or a bare path of a SQLite
 * file. Driver suffixes (`postgresql+psycopg://`, `sqlite+aiosqlite:///`) are accepted and ignored.
 * Throws `INVALID_CONFIG` on anything else; the message never repeats the URL, which may hold a password.
 */
export function parseDatabaseUrl(url: string): DatabaseLocation {
  const trimmed = url.trim();
  if (POSTGRESQL.test(trimmed)) return postgresql(trimmed.replace(POSTGRESQL, 'postgresql://'));
  const sqlite = SQLITE.exec(trimmed)?.[0];
  if (sqlite !== undefined) return sqliteUrl(sqlite, trimmed.slice(sqlite.length));
  const scheme = ANY_SCHEME.exec(trimmed)?.[1];
  if (scheme !== undefined) {
    throw invalid(
      `the scheme "${scheme}:" is not supported; use postgresql://… or the path of a SQLite file`,
    );
  }
  return sqliteFile(trimmed);
}

function postgresql(connectionString: string): DatabaseLocation {
  let url: URL;
  try {
    url = new URL(connectionString);
    for (const part of [url.username, url.password, url.pathname]) decodeURIComponent(part);
  } catch {
    // The original error would repeat the URL.
    throw invalid(
      'it is not a well-formed PostgreSQL URL; special characters of the password must be %-encoded',
    );
  }
  // An unescaped / # or ? in the password ends it early, and the rest would appear in logs as host or database.
  if (url.pathname.includes('@') || url.search.includes('@') || url.hash !== '') {
    throw invalid('it has @ or # after the host; special characters of the password must be %-encoded');
  }
  if (url.searchParams.has('schema')) {
    throw invalid(
      'the parameter "schema" is not supported; set the search_path of the database user instead',
    );
  }
  return { kind: 'postgresql', connectionString };
}

function sqliteUrl(scheme: string, rest: string): DatabaseLocation {
  if (rest.includes('?')) throw invalid('a SQLite URL takes no parameters');
  if (!rest.startsWith('//')) return sqliteFile(rest);
  if (!rest.startsWith('///')) throw invalid(`"${scheme}//" must be followed by a path, not by a host`);
  // `file:///x` names `/x`; `sqlite:///x` names `x`, and `sqlite:////x` names `/x`.
  return sqliteFile(scheme.toLowerCase() === 'file:' ? rest.slice(2) : rest.slice(3));
}

function sqliteFile(path: string): DatabaseLocation {
  if (path === '') throw invalid('it names no database');
  if (path.includes(':memory:')) throw invalid('an in-memory database would lose everything; name a file');
  if (path.includes('\0')) throw invalid('a path cannot contain a NUL character');
  if (path.endsWith('/')) throw invalid('it names a folder, not a file');
  return { kind: 'sqlite', path };
}

function invalid(problem: string): ServiceError {
  return new ServiceError('INVALID_CONFIG', { detail: `The database URL is not usable: ${problem}.` });
}

/** Where a database is, for the log: a path, or an address without credentials. */
export function databasePlace(location: DatabaseLocation): string {
  return location.kind === 'sqlite' ? location.path : addressOf(location.connectionString);
}

/** Host, port and database without credentials. */
function addressOf(connectionString: string): string {
  const { host, pathname } = new URL(connectionString);
  return `postgresql://${host}${pathname}`;
}
