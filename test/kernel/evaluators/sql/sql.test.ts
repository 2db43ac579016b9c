import { afterAll, describe, expect, it } from 'vitest';
import type { JsonObject, JsonValue } from '../../../../packages/exact-json/src/index.js';
import { errorItems } from '../../../../src/contract/input/items.js';
import { createParserPool } from '../../../../src/kernel/evaluators/sql/parser-pool.js';
import { createSqlEvaluator } from '../../../../src/kernel/evaluators/sql/sql.js';
import { MAX_STATEMENT_LEAVES } from '../../../../src/kernel/evaluators/sql/statement-leaves.js';
import { FULL_CALL, NEGATED_CALL, WHOLE_STEP_CALL } from '../../../support/check-call.js';

// Generous: machines that run tests may be busy.
const pool = createParserPool({ parseTimeoutMs: 300_000 });
const sqlEvaluator = createSqlEvaluator(pool);
afterAll(() => pool.close());

const check = async (config: JsonObject, data: JsonValue, call = FULL_CALL) =>
  sqlEvaluator.compile(config).evaluate(data, call);

/** Places and codes of the problems of a configuration. */
function problemsOf(config: JsonValue): [string | undefined, string][] {
  const read = sqlEvaluator.configSchema.safeParse(config, { reportInput: true });
  return read.success ? [] : errorItems(read.error).map(({ field, code }) => [field, code]);
}

describe('the configuration of sql', () => {
  it.each<[string, JsonObject]>([
    ['nothing', {}],
    [
      'nulls and empty lists',
      { blocked_operations: [], allowed_operations: ['SELECT'], blocked_tables: null },
    ],
    ['block_ddl next to an allow list', { block_ddl: true, allowed_operations: ['SELECT'] }],
    ['maxima without a check of their sign', { max_result_window: -1, max_joins: -1, max_union_count: 0 }],
    ['columns with and without table', { required_column_values: { a: 'x', 'b.c': 'y' } }],
    ['members it does not know', { anything: 1 }],
  ])('accepts %s', (_, config) => {
    expect(problemsOf(config)).toEqual([]);
  });

  it.each<[JsonObject, [string | undefined, string][]]>([
    [{ blocked_operations: ['DROP'], allowed_operations: ['SELECT'] }, [[undefined, 'value_error']]],
    [{ blocked_tables: ['a'], allowed_tables: ['b'] }, [[undefined, 'value_error']]],
    [{ blocked_schemas: ['a'], allowed_schemas: ['b'] }, [[undefined, 'value_error']]],
    [{ allow_multi_statements: false, max_statements: 2 }, [[undefined, 'value_error']]],
    [{ max_statements: 0 }, [['max_statements', 'value_error']]],
    [{ max_limit: -1 }, [['max_limit', 'value_error']]],
    [{ max_limit: 'x' }, [['max_limit', 'int_parsing']]],
    [{ max_joins: 1.5 }, [['max_joins', 'int_from_float']]],
    [{ dialect: 'postgresql' }, [['dialect', 'literal_error']]],
    [{ column_context: 'from' }, [['column_context', 'literal_error']]],
    [{ column_presence_logic: null }, [['column_presence_logic', 'literal_error']]],
    [{ block_ddl: 'perhaps' }, [['block_ddl', 'bool_parsing']]],
    [{ blocked_tables: 'a' }, [['blocked_tables', 'list_type']]],
    [{ blocked_tables: ['a', 1] }, [['blocked_tables[1]', 'string_type']]],
    [{ required_column_values: [] }, [['required_column_values', 'dict_type']]],
    [{ required_column_values: { a: 1 } }, [['required_column_values.a', 'string_type']]],
    [{ required_column_values: { 'a.b.c': 'x' } }, [['required_column_values', 'value_error']]],
    [{ required_column_values: { 'a. ': 'x' } }, [['required_column_values', 'value_error']]],
    [{ required_column_values: { a: ' ' } }, [['required_column_values', 'value_error']]],
  ])('refuses %j', (config, problems) => {
    expect(problemsOf(config)).toEqual(problems);
  });
});

describe('the input of sql', () => {
  const config = { blocked_operations: ['DROP'] };
  const DROP = 'DROP TABLE users';

  it.each<[string, JsonValue, boolean]>([
    ['null', null, false],
    ['a text', DROP, true],
    ['a blank text', ' \n\t', false],
    ['a number', 5, true],
    ['a list', [DROP], true],
    ['an object with a query', { query: DROP }, true],
    ['an object with a query that is no text', { query: { text: 'SELECT 1' } }, true],
    ['an object without a query', { text: 'hello' }, false],
    ['an object whose query is null', { query: null }, false],
    ['an object whose query is blank', { query: ' \n' }, false],
    ['an object that looks like a step', { query: DROP, input: 'SELECT 1', type: 'x' }, true],
    ['an object that looks like a step', { input: 5, type: 'x' }, false],
  ])('takes %s', async (_, data, matched) => {
    expect(await check(config, data)).toMatchObject({ matched, confidence: 1, error: null });
  });

  it.each<[string, JsonObject, boolean]>([
    ['a text', { input: DROP }, true],
    ['an object', { input: { query: DROP } }, true],
    ['an object without a query', { input: { text: 'hello' }, output: DROP, query: DROP }, false],
    ['an object that looks like a step', { input: { query: DROP, input: 'SELECT 1', type: 'x' } }, true],
    ['a number', { input: 5 }, true],
    ['a list', { input: [DROP] }, true],
    ['null', { input: null, context: { query: DROP, sql: DROP } }, false],
  ])('takes of a whole step the input: %s', async (_, members, matched) => {
    const step = { type: 'tool', name: DROP, input: null, output: null, context: null, ...members };
    expect(await check(config, step, WHOLE_STEP_CALL)).toMatchObject({ matched, confidence: 1, error: null });
  });

  it('gives no metadata when there is nothing to check', async () => {
    for (const data of [null, '', { query: ' ' }]) {
      expect(await check(config, data)).toMatchObject({ matched: false, metadata: null });
    }
  });

  it('parses nothing when no check is configured', async () => {
    for (const empty of [{}, { blocked_tables: [] }, { case_sensitive: true, dialect: 'mysql' }]) {
      expect(await check(empty, 'no SQL at all')).toMatchObject({ matched: false, metadata: null });
    }
    expect(await check({ max_joins: 0 }, 'no SQL at all')).toMatchObject({ matched: true });
  });

  it('takes the context of the whole step, and of an object', async () => {
    const values = { required_column_values: { tenant: 'tenant' } };
    const query = "SELECT * FROM t WHERE tenant = 'a'";
    const context = { tenant: 'a' };
    const step = { type: 'tool', name: 'q', input: { query }, output: null, context };
    expect(await check(values, step, WHOLE_STEP_CALL)).toMatchObject({ matched: false });
    const other = { ...step, input: { query, context }, context: { tenant: 'b' } };
    expect(await check(values, other, WHOLE_STEP_CALL)).toMatchObject({ matched: true });
    expect(await check(values, { query, context })).toMatchObject({ matched: false });
    expect(await check(values, query)).toMatchObject({ matched: true });
    expect(await check(values, { query, context: 'a' })).toMatchObject({ matched: true });
  });
});

describe('the texts beside the query', () => {
  const config = { blocked_operations: ['DROP'], blocked_tables: ['secrets'] };
  const query = 'SELECT 1';

  it.each<[string, string]>([
    ['a statement', 'DROP TABLE users'],
    ['a statement behind blanks', '\r\n \t\u000bdrop table users'],
    ['a statement behind comments', '-- hi\n/* there */ DROP TABLE users'],
    ['a statement behind empty ones', ';;  ; DROP TABLE users'],
    ['a statement in brackets', '((SELECT * FROM secrets))'],
    ['a statement behind another one', 'SELECT 1; DROP TABLE users'],
    ['a CTE', 'WITH a AS (SELECT * FROM secrets) SELECT * FROM a'],
    ['a command without an operation of its own', 'TABLE secrets'],
    ['an explained statement', 'EXPLAIN ANALYZE SELECT * FROM secrets'],
    ['a statement before one that is broken', "DROP TABLE users; nonsense that is not closed '"],
    ['a statement further on', 'please DROP TABLE users'],
    ['a text that is too long to be parsed', `SELECT '${'x'.repeat(600_000)}'`],
    ['a text that is nested too deeply', `SELECT ${'('.repeat(600)}1${')'.repeat(600)}`],
  ])('match where one is %s', async (_, text) => {
    for (const data of [
      { query, sql: text },
      { query, a: [{ b: { c: [0, text] } }] },
      { sql: text },
      { query: '', context: { x: text } },
      { query, input: text, type: 'x' },
    ]) {
      expect(await check(config, data)).toMatchObject({ matched: true, error: null });
      const step = { type: 'tool', name: 'q', input: data, output: null, context: null };
      expect(await check(config, step, WHOLE_STEP_CALL)).toMatchObject({ matched: true, error: null });
    }
  });

  it.each<[string, string]>([
    ['is blank', ' \n'],
    ['is a word', 'hello'],
    ['has words of a statement further on', 'please see DROP TABLE in the manual'],
    ['is JSON with a statement that passes', '{"query":"SELECT name FROM users"}'],
    ['is a statement that passes', 'SELECT name FROM users'],
    ['is a statement that does nothing', 'BEGIN'],
    ['is only a comment', '-- DROP TABLE users'],
    ['begins with a longer word', 'DROPS of rain'],
  ])('pass where one %s', async (_, text) => {
    expect(await check(config, { query, text })).toMatchObject({ matched: false, error: null });
    expect(await check(config, { text })).toMatchObject({ matched: false, error: null });
  });

  it('have to be statements where they begin like one and there is no query', async () => {
    for (const text of ['Select the best option', 'drop me a line', "Update the user's profile"]) {
      expect(await check(config, { query, text })).toMatchObject({ matched: false });
      for (const data of [{ text }, { query: null, text }, { query: '  ', deep: [{ text }] }]) {
        expect(await check(config, data)).toMatchObject({ matched: true, error: null });
      }
    }
  });

  it('are reported by their place and their own text', async () => {
    const result = await check(config, { query, options: [{ sql: 'DROP TABLE users' }] });
    expect(result.message).toBe('Operations that are not allowed: DROP (in the member options.0.sql)');
    expect(result.metadata).toMatchObject({ query_snippet: 'DROP TABLE users', blocked: ['DROP'] });
    const both = await check(config, { query: 'DROP TABLE a', sql: 'DROP TABLE users' });
    expect(both.metadata).toMatchObject({ query_snippet: 'DROP TABLE a' });
  });

  it('match when they are more than are parsed, which are many', async () => {
    const statements = (count: number) => Array.from({ length: count }, (_, index) => `SELECT ${index}`);
    for (const dialect of ['postgres', 'sqlite']) {
      const few = { query, statements: statements(MAX_STATEMENT_LEAVES) };
      expect(await check({ ...config, dialect }, few)).toMatchObject({ matched: false, error: null });
      const many = { query, statements: statements(MAX_STATEMENT_LEAVES + 1) };
      expect(await check({ ...config, dialect }, many)).toMatchObject({ matched: true, error: null });
    }
  });

  it('give others a turn when there is much to parse', async () => {
    const long = (name: string) => `SELECT '${'x'.repeat(40_000)}' FROM ${name}`;
    const evaluate = (data: JsonValue) => sqlEvaluator.compile(config).evaluate(data, FULL_CALL);
    expect(evaluate({ query, sql: 'SELECT 2' })).not.toBeInstanceOf(Promise);
    const later = evaluate({ query, a: long('a'), b: long('b'), c: long('c'), d: long('secrets') });
    expect(later).toBeInstanceOf(Promise);
    expect(await later).toMatchObject({
      matched: true,
      metadata: { violations: ['table secrets is blocked'] },
    });
  });

  it('do not satisfy a condition that requires a violation', async () => {
    const data = { query, sql: 'DROP TABLE users' };
    expect(await check(config, data)).toMatchObject({ matched: true });
    expect(await check(config, data, NEGATED_CALL)).toMatchObject({ matched: false });
    expect(await check(config, { query: 'DROP TABLE users' }, NEGATED_CALL)).toMatchObject({ matched: true });
  });

  it.each<[string, string]>([
    ['mysql', '/*! DROP TABLE users */'],
    ['mysql', '# hi\nDROP TABLE users'],
    ['mysql', 'REPLACE INTO secrets VALUES (1)'],
    ['mysql', 'DROP TABLE users; nonsense is not SQL'],
    ['tsql', 'IF 1 = 1 DROP TABLE users'],
    ['tsql', "EXEC sp_executesql N'DROP TABLE users'"],
    ['tsql', '\u00a0DROP TABLE users'],
    ['oracle', "BEGIN EXECUTE IMMEDIATE 'DROP TABLE users'; END;"],
    ['sqlite', 'DROP TABLE users; nonsense is not SQL'],
    ['sqlite', 'VALUES ((SELECT value FROM secrets))'],
    // SQLite takes the end of the text for the end of the comment.
    ['sqlite', "DROP TABLE users/* '"],
  ])('of %s match: %s', async (dialect, text) => {
    expect(await check({ ...config, dialect }, { query, sql: text })).toMatchObject({
      matched: true,
      error: null,
    });
    expect(await check({ ...config, dialect }, { sql: text })).toMatchObject({ matched: true, error: null });
  });
});

describe('texts beside the query that the parser of the dialect does not read', () => {
  const statements: Readonly<Record<string, readonly string[]>> = {
    mysql: [
      'OPTIMIZE TABLE users',
      'ANALYZE LOCAL TABLE users',
      'HANDLER users OPEN',
      "LOAD DATA INFILE 'x' INTO TABLE users",
      "SELECT * FROM users INTO OUTFILE '/tmp/x'",
      'TABLE users',
      'TABLE users ORDER BY id',
      'CREATE DEFINER = x TRIGGER t BEFORE INSERT ON users FOR EACH ROW SET @a = 1',
      "PREPARE s FROM 'DROP TABLE users'",
    ],
    tsql: [
      "sp_rename 'users', 'x'",
      'BEGIN DROP TABLE users END',
      'WHILE 1 = 1 DELETE FROM users',
      "BULK INSERT users FROM 'x'",
      'DELETE users',
      "DBCC CHECKTABLE ('users')",
      'DISABLE TRIGGER t ON users',
      'CREATE SYNONYM s FOR users',
    ],
    oracle: [
      "BEGIN EXECUTE IMMEDIATE 'DROP TABLE users'; END;",
      'DECLARE x int; BEGIN DELETE FROM users; END;',
      'RENAME users TO x',
      'FLASHBACK TABLE users TO BEFORE DROP',
      'CREATE OR REPLACE PUBLIC SYNONYM s FOR users',
      'INSERT ALL INTO users VALUES (1) SELECT 1 FROM dual',
    ],
    sqlite: [
      'CREATE TEMP TRIGGER t AFTER INSERT ON orders BEGIN DELETE FROM users; END',
      'PRAGMA table_info(users)',
      'PRAGMA writable_schema = ON',
      'SELECT * FROM users NOT INDEXED',
      "VACUUM INTO '/tmp/x'",
    ],
  };
  const sentences = [
    'Create a report about the users and drop it in my inbox',
    'Show me the weather in Paris',
    'Update the list: eggs, milk; and set an alarm',
    'Select a table for two',
    'Begin with the first chapter',
    'Check the results, please',
    'Explain this to me (slowly)',
    'Describe what you see',
    'with regards, the team',
    'set',
    'drop',
    'Delete it?',
    'Call me at 5',
    'Use your own words',
    'do not do that',
  ];

  it.each(Object.entries(statements).flatMap(([dialect, some]) => some.map((text) => [dialect, text])))(
    'match where %s has them: %s',
    async (dialect, text) => {
      const config = { dialect, blocked_tables: ['users'] };
      const data = { query: 'SELECT 1', also: `-- hi\n ${text}` };
      expect(await check(config, data)).toMatchObject({ matched: true, error: null });
    },
  );

  it.each(['postgres', 'mysql', 'tsql', 'oracle', 'sqlite'])('are no sentences: %s', async (dialect) => {
    const config = { dialect, blocked_tables: ['users'] };
    for (const text of sentences) {
      const { matched, error } = await check(config, { query: 'SELECT 1 FROM x', text });
      expect({ text, matched, error }).toEqual({ text, matched: false, error: null });
    }
  });
});

describe('the metadata of sql', () => {
  it('contain size, hash and beginning of a query that cannot be parsed', async () => {
    const { metadata } = await check({ max_joins: 1 }, 'no SQL');
    expect(metadata).toEqual({
      query_snippet: 'no SQL',
      query_length: 6,
      query_hash: '23f56d020aa1c92f',
    });
  });

  it('count characters, and cut a long query in the middle', async () => {
    const query = `SELECT '${'😀'.repeat(300)}' FROM a`;
    const { metadata } = await check({ blocked_tables: ['a'] }, query);
    const characters = [...query];
    expect(metadata).toMatchObject({
      query_length: characters.length,
      query_snippet: `${characters.slice(0, 100).join('')}...${characters.slice(-100).join('')}`,
      tables_accessed: [{ schema: null, table: 'a' }],
    });
  });

  it('have only the first hundred characters of it where it is too much', async () => {
    const query = `SELECT '${'x'.repeat(300)}'; SELECT 2`;
    const { metadata } = await check({ allow_multi_statements: false }, query);
    expect(metadata).toEqual({ statement_count: 2, query: query.slice(0, 100) });
  });

  it('are not made for those that request the verdict only', async () => {
    const compiled = sqlEvaluator.compile({ blocked_operations: ['DROP'] });
    expect(await compiled.evaluate('DROP TABLE t', { ...FULL_CALL, detail: 'verdict' })).toMatchObject({
      matched: true,
      metadata: null,
    });
  });
});

describe('the dialects of sql', () => {
  it('answers at once for PostgreSQL, and with a promise for the others', async () => {
    const answer = (dialect: string) =>
      sqlEvaluator.compile({ max_joins: 1, dialect }).evaluate('SELECT 1', FULL_CALL);
    expect(answer('postgres')).not.toBeInstanceOf(Promise);
    for (const dialect of ['mysql', 'tsql', 'oracle', 'sqlite']) {
      const later = answer(dialect);
      expect(later).toBeInstanceOf(Promise);
      expect(await later).toMatchObject({ matched: false });
    }
  });

  it.each<[string, string]>([
    ['brackets', `SELECT ${'('.repeat(2_000)}1${')'.repeat(2_000)}`],
    ['functions', `SELECT ${'f('.repeat(2_000)}1${')'.repeat(2_000)}`],
    ['operators', `SELECT 1${'+1'.repeat(50_000)}`],
    ['negations', `SELECT ${'NOT '.repeat(50_000)}true`],
    ['cases', `SELECT ${'CASE WHEN true THEN '.repeat(2_000)}1${' END'.repeat(2_000)}`],
    ['unions', `SELECT 1${' UNION SELECT 1'.repeat(20_000)}`],
    ['subqueries', `SELECT * FROM ${'(SELECT * FROM '.repeat(2_000)}t${') x'.repeat(2_000)}`],
    ['words', `SELECT 1 WHERE a IN (1${',1'.repeat(20_000)})`],
    ['statements', 'SELECT 1;'.repeat(20_000)],
    ['comments in comments', `${'/*'.repeat(20_000)}${'*/'.repeat(20_000)}SELECT 1`],
    ['comments side by side', `${'/**/'.repeat(50_000)}SELECT 1`],
    ['characters', `SELECT '${'x'.repeat(1_000_000)}'`],
  ])('refuse too many %s before any parser sees them', async (what, query) => {
    // Comments that do not nest are nothing to the other parser, which never sees them.
    const dialects = what.startsWith('comments')
      ? ['postgres']
      : ['postgres', 'mysql', 'tsql', 'oracle', 'sqlite'];
    for (const dialect of dialects) {
      expect(await check({ max_joins: 1_000_000, dialect }, query)).toMatchObject({
        matched: true,
        error: null,
      });
    }
    expect(await check({ max_joins: 1 }, 'SELECT 1')).toMatchObject({ matched: false });
  });
});
