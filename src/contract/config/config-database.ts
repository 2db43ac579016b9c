import { existsSync } from 'node:fs';
import { type Reader, secret, TEXT, wordOf } from './config-readers.js';
import { setting } from './setting.js';

/** The path of a file; `off`, also for a blank one, stands for none. */
const FILE_OR_OFF: Reader<string> = {
  ...TEXT,
  read: (text) => (/^(?:off)?$/i.test(text) ? 'off' : text),
  readsBlank: true,
};

/** How the service starts with its database, whose address has variables of its own, and without it. */
export const DATABASE = {
  /** Null for the default path. */
  lastKnownGood: setting('SERVICE_LAST_KNOWN_GOOD', null, FILE_OR_OFF).help(
    'File with the last known controls of all agents, for times without the database. Empty or off: none.',
    'beside the SQLite file; for PostgreSQL in ./data',
  ),
  databaseExpected: setting('SERVICE_DATABASE_EXPECTED', 'any', wordOf('any', 'existing')).help(
    'existing: never create a database. Until there is one, evaluate by the last known controls or refuse.',
  ),
  migration: {
    mode: setting('SERVICE_MIGRATE', 'auto', wordOf('auto', 'check', 'off')).help(
      'At the start, auto applies missing migrations, check refuses a database that lacks any, off does not look.',
    ),
    /** Null for that of the service. */
    url: setting('SERVICE_MIGRATE_DB_URL', null, secret(TEXT)).help(
      'Address of the PostgreSQL database with the user that may change its structure; only migrations use it.',
    ),
  },
};

/** Environment variables, by name. */
export type Environment = Readonly<Record<string, string | undefined>>;

/** Default SQLite file, relative to the working directory. */
export const DEFAULT_DATABASE_URL = 'file:./data/service.db';

/** The parts of a PostgreSQL address, each as SERVICE_DB_… or DB_…. */
export const DATABASE_URL_NAMES = ['SERVICE_DB_URL', 'DATABASE_URL', 'DB_URL'] as const;
export const DATABASE_PART_NAMES = ['HOST', 'PORT', 'USER', 'PASSWORD', 'DATABASE', 'DRIVER'] as const;

/** Those of these variables that have a secret: a URL may contain a password. */
export const DATABASE_SECRET_NAMES: readonly string[] = [
  ...DATABASE_URL_NAMES,
  'SERVICE_DB_PASSWORD',
  'DB_PASSWORD',
];

type PartName = (typeof DATABASE_PART_NAMES)[number];

/** The variable names of one part; the first one set is used. */
function partNames(part: PartName): [string, string] {
  return [`SERVICE_DB_${part}`, `DB_${part}`];
}

/** The names of all variables that set the database address or a part of it. */
export const DATABASE_VARIABLES: readonly string[] = [
  ...DATABASE_URL_NAMES,
  ...DATABASE_PART_NAMES.flatMap(partNames),
];

const SUPPORTED = /^(file:|sqlite(\+\w+)?:|postgres(ql)?(\+\w+)?:\/\/)/i;

/** The database address, from a URL variable or from its parts; SQLite if neither is set. */
export function databaseUrl(environment: Environment, problems: string[]): string {
  for (const name of DATABASE_URL_NAMES) {
    const value = environment[name]?.trim();
    if (value === undefined || value === '') continue;
    // The value may contain a password, so the message never repeats it.
    if (SUPPORTED.test(value) || isFilePath(value)) return value;
    problems.push(
      `${name}: only PostgreSQL and SQLite are supported, and this is neither an address postgresql://… nor file:… nor the path of a file; for example ${name}=postgresql://user:password@localhost:5432/service or ${name}=${DEFAULT_DATABASE_URL}`,
    );
    return DEFAULT_DATABASE_URL;
  }
  return urlFromParts(environment, problems);
}

/** At least two letters, because `C:\\data` is a path. */
const SCHEME = /^[a-z][a-z0-9+.-]+:/i;
const FILE_ENDING = /\.(?:db|db3|s3db|sqlite|sqlite3)$/i;

/**
 * Whether an address without a scheme is the path of a file. Of an address with a mistake, such as `postgres//user@host`,
 * a new and empty file must not be created: one that has no ending of a database must exist or begin like a path.
 */
function isFilePath(value: string): boolean {
  if (SCHEME.test(value) || value.includes('@') || value.includes('//')) return false;
  return FILE_ENDING.test(value) || /^(?:\.{0,2}[/\\]|[a-z]:[/\\])/i.test(value) || existsSync(value);
}

const POSTGRESQL = /^postgres(ql)?(\+\w+)?:\/\//i;

/** The address for migrations, if it can be one of the same database; the message never repeats it. */
export function migrationUrl(given: string | null, url: string, problems: string[]): string | null {
  if (given === null || (POSTGRESQL.test(given) && POSTGRESQL.test(url))) return given;
  const name = 'SERVICE_MIGRATE_DB_URL';
  problems.push(
    POSTGRESQL.test(given)
      ? `${name}: it needs the address of the same PostgreSQL database for the service; for example DATABASE_URL=postgresql://service:password@localhost:5432/service`
      : `${name}: must be the address of a PostgreSQL database; for example ${name}=postgresql://owner:password@localhost:5432/service`,
  );
  return null;
}

/** The variable that sets the database address, for errors about the database. */
export function databaseVariable(environment: Environment): string {
  const isSet = (name: string) => (environment[name] ?? '').trim() !== '';
  const parts = (['HOST', 'DATABASE'] as const).flatMap(partNames);
  return [...DATABASE_URL_NAMES, ...parts].find(isSet) ?? 'DATABASE_URL';
}

function urlFromParts(environment: Environment, problems: string[]): string {
  const nameSet = (part: PartName) => partNames(part).find((name) => (environment[name] ?? '').trim() !== '');
  const part = (name: PartName) => environment[nameSet(name) ?? '']?.trim();
  const host = part('HOST');
  const database = part('DATABASE');
  // A driver or a port alone does not select PostgreSQL.
  if (host === undefined && database === undefined) return DEFAULT_DATABASE_URL;
  const port = part('PORT') ?? '5432';
  if (!/^\d{1,5}$/.test(port) || Number(port) > 65_535) {
    const name = nameSet('PORT') ?? 'SERVICE_DB_PORT';
    problems.push(`${name}: must be a port number; for example ${name}=5432`);
  }
  const user = encodeURIComponent(part('USER') ?? 'postgres');
  const password = part('PASSWORD');
  const secret = password === undefined ? '' : `:${encodeURIComponent(password)}`;
  // An IPv6 address contains colons.
  const address = host?.includes(':') && !host.startsWith('[') ? `[${host}]` : (host ?? 'localhost');
  return `postgresql://${user}${secret}@${address}:${port}/${encodeURIComponent(database ?? 'postgres')}`;
}
