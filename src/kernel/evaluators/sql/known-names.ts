import type { Dialect, Use } from '../../../../packages/sql-reader/src/index.js';
import {
  MYSQL_FUNCTIONS,
  ORACLE_FUNCTIONS,
  POSTGRES_FUNCTIONS,
  POSTGRES_OPERATORS,
  POSTGRES_TYPES,
  SQLITE_FUNCTIONS,
  TSQL_FUNCTIONS,
} from './pure-functions.js';

const setOf = (words: string): ReadonlySet<string> => new Set(words.split(' '));

/**
 * Functions that are known to be pure: they change nothing, read nothing but their arguments, the catalog and the
 * session, wait for nothing, and give the same for the same within a statement.
 */
const FUNCTIONS: Readonly<Record<Dialect, ReadonlySet<string>>> = {
  postgres: setOf(POSTGRES_FUNCTIONS),
  mysql: setOf(MYSQL_FUNCTIONS),
  tsql: setOf(TSQL_FUNCTIONS),
  oracle: setOf(ORACLE_FUNCTIONS),
  sqlite: setOf(SQLITE_FUNCTIONS),
};
const OPERATORS = setOf(POSTGRES_OPERATORS);
/** The general parser names all types of the dialects, except these. */
const GENERAL_TYPES =
  'signed unsigned money smallmoney sysname hierarchyid sql_variant uniqueidentifier rowversion xml image ntext geometry ' +
  'geography varchar2 nvarchar2 number binary_float binary_double raw rowid urowid any year point linestring polygon int2 ' +
  'int4 int8 text numeric blob real integer';
const TYPES = { postgres: setOf(POSTGRES_TYPES), others: setOf(GENERAL_TYPES) };

/** Whether a function, a type or an operator is one of the dialect itself that is known to have no effect. */
export function isKnown({ kind, name, schema }: Use, dialect: Dialect): boolean {
  // A name of a schema of users may be anything; only PostgreSQL's own schema can be written.
  if (schema !== null && !(dialect === 'postgres' && schema === 'pg_catalog')) return false;
  switch (kind) {
    case 'function':
      return FUNCTIONS[dialect].has(name);
    case 'operator':
      return dialect === 'postgres' && OPERATORS.has(name);
    case 'type':
      // Of SQLite, any word is a type, and only chooses one of five conversions.
      return dialect === 'sqlite' || TYPES[dialect === 'postgres' ? dialect : 'others'].has(name);
    default:
      return false;
  }
}
