import { afterAll, describe, expect, it } from 'vitest';
import type { JsonObject, JsonValue } from '../../../../packages/exact-json/src/index.js';
import { DIALECTS, type Dialect } from '../../../../packages/sql-reader/src/index.js';
import { createParserPool } from '../../../../src/kernel/evaluators/sql/parser-pool.js';
import { createSqlEvaluator } from '../../../../src/kernel/evaluators/sql/sql.js';
import { FULL_CALL } from '../../../support/check-call.js';

// Generous: machines that run tests may be busy.
const pool = createParserPool({ parseTimeoutMs: 300_000 });
const evaluator = createSqlEvaluator(pool);
afterAll(() => pool.close());

const check = (config: JsonObject, data: JsonValue) => evaluator.compile(config).evaluate(data, FULL_CALL);
const readOnly = (dialect: Dialect) => ({ dialect, allowed_operations: ['SELECT'] });

const PLACEHOLDERS = [
  '?',
  '?1',
  ':name',
  ':1',
  '$1',
  '$name',
  '@p',
  '%s',
  '%(name)s',
  '#{name}',
  '#{a,jdbcType=INTEGER}',
];
const PLACES: readonly ((value: string) => string)[] = [
  (value) => `SELECT a FROM t WHERE b = ${value}`,
  (value) => `SELECT a FROM t WHERE b=${value} AND c <> 'x'`,
  (value) => `SELECT a FROM t WHERE b IN (${value}, ${value}) AND c > 1`,
  (value) => `SELECT a FROM t WHERE b LIKE ${value} OR c BETWEEN ${value} AND ${value}`,
  (value) => `SELECT COALESCE(a, ${value}) FROM t WHERE (b = ${value})`,
  (value) => `SELECT a FROM t WHERE '${value}' = b -- ${value.replace('#', '')}`,
];
/** Where a driver would have to put a name or a word. */
const NO_VALUES: readonly ((name: string) => string)[] = [
  (name) => `SELECT a FROM ${name} WHERE b = 1`,
  (name) => `SELECT a FROM t JOIN ${name} u ON u.b = t.b`,
  (name) => `SELECT a FROM t ${name} b = 1`,
  (name) => `${name} a FROM t`,
];

describe.each(DIALECTS)('placeholders of %s', (dialect) => {
  it('are values wherever a value may be', async () => {
    const denied: string[] = [];
    for (const placeholder of PLACEHOLDERS) {
      for (const place of PLACES) {
        const text = place(placeholder);
        const { matched, message } = await check(readOnly(dialect), text);
        if (matched) denied.push(`${text}: ${message}`);
      }
    }
    expect(denied).toEqual([]);
  });

  it('are nothing else', async () => {
    const passed: string[] = [];
    for (const placeholder of PLACEHOLDERS) {
      // A variable of SQL Server may be a table.
      if (dialect === 'tsql' && placeholder === '@p') continue;
      for (const place of NO_VALUES) {
        const text = place(placeholder);
        // An alias of a table, in a text that is cut by what may be a comment.
        const { matched } = await check(readOnly(dialect), text);
        if (!matched) passed.push(text);
      }
    }
    expect(passed).toEqual([]);
  });

  it('that stand for any text are refused', async () => {
    for (const text of ['{name}', '{{ name }}', '$' + '{name}', '{0}', '{}', '<% name %>']) {
      for (const place of [...PLACES.slice(0, 1), ...NO_VALUES]) {
        expect(await check(readOnly(dialect), place(text)), place(text)).toMatchObject({ matched: true });
      }
    }
  });

  it('do not hide what stands beside them', async () => {
    for (const placeholder of PLACEHOLDERS) {
      for (const text of [
        `SELECT a FROM t WHERE b = ${placeholder}; DELETE FROM t`,
        `DELETE FROM t WHERE b = ${placeholder}`,
        `SELECT a FROM t WHERE b = ${placeholder} OR wipe(${placeholder})`,
        `INSERT INTO t VALUES (${placeholder}, ${placeholder})`,
      ]) {
        expect(await check(readOnly(dialect), text), text).toMatchObject({ matched: true, error: null });
      }
    }
  });
});

describe('placeholders', () => {
  it.each<[Dialect, string]>([
    ['postgres', 'SELECT * FROM t LIMIT ? OFFSET ?'],
    ['postgres', 'SELECT (%s)::int, ?::text, :a::date, CAST(:b AS int) FROM t WHERE x IN %s'],
    [
      'postgres',
      "SELECT a FROM t WHERE a > now() - interval '1 day' * ? AND b LIKE ? || '%' AND c = ANY(:ids)",
    ],
    ['mysql', 'SELECT * FROM t WHERE a IN %s LIMIT ?, ?'],
    ['mysql', 'SELECT DATE_ADD(a, INTERVAL ? DAY) FROM t WHERE b = #{b} AND c IN (#{x}, #{y}) LIMIT #{n}'],
    ['tsql', 'SELECT TOP (?) * FROM t ORDER BY a OFFSET ? ROWS FETCH NEXT ? ROWS ONLY'],
    ['oracle', 'SELECT * FROM t FETCH FIRST ? ROWS ONLY'],
    ['sqlite', 'SELECT * FROM t WHERE a IN (?, ?) LIMIT ? OFFSET ?'],
  ])('are read in %s: %s', async (dialect, text) => {
    expect(await check(readOnly(dialect), text)).toMatchObject({ matched: false });
  });

  it.each([
    "SELECT * FROM t WHERE a ? 'x' AND b ?| array['a'] AND c ?& array['b'] AND d @? '$.x' AND e ? ?",
    'SELECT a[1:2], a[:n], a[b:c], a[1:], b::text, 7 % 2, c %s FROM t WHERE a <@ b AND c <@b AND d @> e',
    'SELECT @x, @ -5, |/ 4 FROM t WHERE "a?" = $$ ? :x %s $$ /* ? %( */',
  ])('are told from the operators of PostgreSQL: %s', async (text) => {
    expect(await check(readOnly('postgres'), text)).toMatchObject({ matched: false });
  });

  it('are no literals for the checks of values and limits', async () => {
    const tenant = { required_column_values: { tenant: 'tenant' } };
    for (const value of ['?', ':t', '%s', '$1', '@t']) {
      const query = `SELECT a FROM t WHERE tenant = ${value}`;
      expect(await check(tenant, { query, context: { tenant: 1 } })).toMatchObject({ matched: true });
      expect(await check({ max_limit: 5 }, `SELECT a FROM t LIMIT ${value}`)).toMatchObject({
        matched: false,
      });
    }
  });

  it('that MySQL may read as a comment must be in the last line and where a value has to follow', async () => {
    const denied = [
      'SELECT 1 #{a}',
      'SELECT a FROM t WHERE b = #{x} /*\n 1; DELETE FROM t; -- */',
      'SELECT 1 = #{a}\n 1',
    ];
    for (const text of denied) expect(await check(readOnly('mysql'), text)).toMatchObject({ matched: true });
    expect(await check(readOnly('mysql'), 'SELECT 1 # {a}')).toMatchObject({ matched: false });
  });

  it('are replaced in time that grows with the text', async () => {
    for (const dialect of DIALECTS) {
      const many = `SELECT ${'?, %s, :a, #{b}, '.repeat(2_000)}1`;
      expect(await check(readOnly(dialect), many)).toMatchObject({ matched: true, error: null });
    }
  });
});
