import Libsql from 'libsql';
import { expect } from 'vitest';
import { createParserPool } from '../../../../src/kernel/evaluators/sql/parser-pool.js';
import { createSqlEvaluator } from '../../../../src/kernel/evaluators/sql/sql.js';
import { FULL_CALL } from '../../../support/check-call.js';
import { openSqliteCases } from './databases.js';

/** Flags of pragma_function_list: sqlite3.h, Function Flags. */
const DETERMINISTIC = 0x800;
const INNOCUOUS = 0x200000;
/** Documented functions that a build may register without these flags: of mathematics, constants, and of the clock. */
const DOCUMENTED = new Set(
  (
    'acos acosh asin asinh atan atan2 atanh ceil ceiling cos cosh degrees exp floor ln log log10 log2 mod pi pow power radians ' +
    'sign sin sinh sqrt tan tanh trunc median percentile percentile_cont percentile_disc current_date current_time ' +
    'current_timestamp sqlite_version sqlite_source_id sqlite_compileoption_get sqlite_compileoption_used'
  ).split(' '),
);

interface SqliteFunction {
  readonly name: string;
  readonly args: number;
  readonly isHarmless: boolean;
}

/** The functions that this SQLite has, and whether it says that they are harmless. */
export function sqliteFunctions(): readonly SqliteFunction[] {
  const database = new Libsql(':memory:');
  const rows = database
    .prepare(
      'SELECT name, min(flags), max(narg), max(type) FROM pragma_function_list GROUP BY name ORDER BY name',
    )
    .raw(true)
    .all() as [string, number, number, string][];
  database.close();
  return rows
    .filter(([name]) => /^[a-z][a-z0-9_]*$/.test(name))
    .map(([name, flags, args, type]) => {
      const isPure = (flags & INNOCUOUS) !== 0 && ((flags & DETERMINISTIC) !== 0 || type !== 's');
      return { name, args: args < 0 ? 2 : Math.min(args, 3), isHarmless: isPure || DOCUMENTED.has(name) };
    });
}

/** Numbers from a seed: mulberry32. */
function numbers(seed: number): (below: number) => number {
  let state = seed;
  return (below) => {
    state = (state + 0x6d2b79f5) | 0;
    let mixed = Math.imul(state ^ (state >>> 15), 1 | state);
    mixed = (mixed + Math.imul(mixed ^ (mixed >>> 7), 61 | mixed)) ^ mixed;
    return ((mixed ^ (mixed >>> 14)) >>> 0) % below;
  };
}

/** Statements of SQLite from its grammar, most of them queries, and whether they call what is not harmless. */
export function* generatedReads(seed: number, count: number) {
  const below = numbers(seed);
  const one = <T>(items: readonly T[]): T => items[below(items.length)] as T;
  const functions = sqliteFunctions();
  let isHarmless = true;
  const written = (name: string): string =>
    one([name, name, name.toUpperCase(), `"${name}"`, `[${name}]`, `\`${name}\``, `${name} `, `${name}/**/`]);
  const call = (depth: number): string => {
    const { name, args, ...more } = one(functions);
    isHarmless &&= more.isHarmless;
    return `${written(name)}(${Array.from({ length: args }, () => expression(depth - 1)).join(', ')})`;
  };
  const expression = (depth: number): string => {
    if (depth <= 0) return one(['1', "'a'", 'id', 'name', 'NULL', '?', ':p', '2.5', "''"]);
    const inner = () => expression(depth - 1);
    switch (below(12)) {
      case 0:
      case 1:
      case 2:
        return call(depth);
      case 3:
        return `${inner()} ${one(['+', '-', '*', '/', '%', '||', '=', '<>', '<', 'AND', 'OR', 'IS', 'LIKE', '->>'])} ${inner()}`;
      case 4:
        return `(${inner()})`;
      case 5:
        return `CASE WHEN ${inner()} THEN ${inner()} ELSE ${inner()} END`;
      case 6:
        return `CAST(${inner()} AS ${one(['TEXT', 'INTEGER', 'REAL', 'BLOB'])})`;
      case 7:
        return `(${query(depth - 1)} LIMIT 1)`;
      case 8:
        return `EXISTS (${query(depth - 1)})`;
      case 9:
        return `${inner()} IN (${inner()}, ${inner()})`;
      case 10:
        return `${inner()} BETWEEN ${inner()} AND ${inner()}`;
      default:
        return inner();
    }
  };
  const source = (depth: number): string => {
    switch (below(8)) {
      case 0:
        return `(${query(depth - 1)}) x`;
      case 1:
        return "json_each('[1, 2]')";
      case 2:
        isHarmless = false;
        return one([
          "pragma_table_info('users')",
          'pragma_database_list',
          "fsdir('/nowhere')",
          '"pragma_user_version"',
        ]);
      case 3:
        return 'users JOIN orders USING (id)';
      default:
        return one(['users', 'orders', 'main.users u']);
    }
  };
  const query = (depth: number): string => {
    const columns = Array.from({ length: 1 + below(2) }, () => expression(depth)).join(', ');
    const from = depth > 0 && below(4) > 0 ? ` FROM ${source(depth)}` : '';
    const where = from !== '' && below(2) === 0 ? ` WHERE ${expression(depth)}` : '';
    const union = depth > 1 && below(8) === 0 ? ` UNION ALL SELECT ${expression(depth - 1)}` : '';
    return `SELECT ${columns}${from}${where}${union}`;
  };
  const statement = (): string => {
    switch (below(10)) {
      case 0:
        return one([
          'DELETE FROM users',
          'UPDATE users SET name = 1',
          'INSERT INTO users (id) VALUES (9)',
          'REPLACE INTO users (id) VALUES (1)',
          'DROP TABLE users',
          'CREATE TABLE y AS SELECT 1',
          'WITH c AS (SELECT 1) DELETE FROM users',
          'ALTER TABLE users ADD COLUMN z',
          'PRAGMA user_version = 5',
          'CREATE TEMP TABLE y (a)',
          'DELETE FROM users RETURNING id',
          'EXPLAIN DELETE FROM users',
        ]);
      case 1:
        return `WITH c(v) AS (${query(2)}) SELECT v FROM c`;
      default:
        return query(3);
    }
  };
  for (let made = 0; made < count; made += 1) {
    isHarmless = true;
    const text = below(12) === 0 ? `${statement()}; ${statement()}` : statement();
    yield {
      text: below(6) === 0 ? text.replaceAll(' ', one([' ', '\n', ' /* a */ ', '\t'])) : text,
      isHarmless,
    };
  }
}

/** With SELECT as the only operation, what passes changes nothing and calls only what SQLite calls harmless. */
export async function expectReads(seed: number, count: number): Promise<void> {
  const pool = createParserPool({ parseTimeoutMs: 300_000 });
  const compiled = createSqlEvaluator(pool).compile({ dialect: 'sqlite', allowed_operations: ['SELECT'] });
  const database = openSqliteCases();
  const seen = { passed: 0, denied: 0, harmful: 0 };
  try {
    for (const { text, isHarmless } of generatedReads(seed, count)) {
      const { matched, error } = await compiled.evaluate(text, FULL_CALL);
      expect(error, text).toBeNull();
      if (!isHarmless) seen.harmful += 1;
      if (matched) {
        seen.denied += 1;
        continue;
      }
      seen.passed += 1;
      expect(isHarmless, text).toBe(true);
      const { effect } = await database.run(text);
      expect(['none', 'refused'], text).toContain(effect);
    }
  } finally {
    await pool.close();
  }
  // The texts must be of all kinds, or nothing is shown.
  expect(seen.passed).toBeGreaterThan(count / 20);
  expect(seen.denied).toBeGreaterThan(count / 10);
  expect(seen.harmful).toBeGreaterThan(count / 10);
}
