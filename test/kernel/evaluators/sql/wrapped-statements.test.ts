import { afterAll, describe, expect, it } from 'vitest';
import type { JsonObject, JsonValue } from '../../../../packages/exact-json/src/index.js';
import type { Dialect } from '../../../../packages/sql-reader/src/index.js';
import { createParserPool } from '../../../../src/kernel/evaluators/sql/parser-pool.js';
import { createSqlEvaluator } from '../../../../src/kernel/evaluators/sql/sql.js';
import { wrappedTexts } from '../../../../src/kernel/evaluators/sql/wrapped-texts.js';
import { FULL_CALL } from '../../../support/check-call.js';

// Generous: machines that run tests may be busy.
const pool = createParserPool({ parseTimeoutMs: 300_000 });
const evaluator = createSqlEvaluator(pool);
afterAll(() => pool.close());

const compiledBy = new Map<Dialect, ReturnType<typeof evaluator.compile>>();
async function isDenied(dialect: Dialect, data: JsonValue): Promise<boolean> {
  const compiled = compiledBy.get(dialect) ?? evaluator.compile({ dialect, allowed_operations: ['SELECT'] });
  compiledBy.set(dialect, compiled);
  const result = await compiled.evaluate(data, FULL_CALL);
  expect(result.error).toBeNull();
  return result.matched;
}

/** Statements that a database of the dialect runs, and that no control with SELECT alone may let pass. */
const STATEMENTS: Readonly<Record<Dialect, readonly string[]>> = {
  postgres: [
    'DROP TABLE users',
    'CALL wipe(1)',
    'DO $$ BEGIN DELETE FROM users; END $$',
    'ANALYSE users',
    "COPY users TO '/tmp/x'",
    'WITH d AS (DELETE FROM users RETURNING 1) SELECT 1 FROM d',
  ],
  mysql: [
    'DROP TABLE users',
    'CALL wipe(1)',
    'IF 1 THEN DROP TABLE users; END IF',
    'BEGIN NOT ATOMIC DELETE FROM users; END',
    "LOAD DATA INFILE '/x' INTO TABLE users",
    'REPAIR TABLE users',
  ],
  tsql: [
    'DROP TABLE users',
    'EXEC wipe_users',
    'wipe_users',
    "sys.sp_executesql N'DROP TABLE users'",
    "master..xp_cmdshell 'dir'",
    "[sys].[sp_executesql] N'DROP TABLE users'",
    `"sp_executesql" N'DROP TABLE users'`,
    'wipe_users 1, @all = 1',
    'wipe_users @done OUTPUT; DROP TABLE users',
    'x: DROP TABLE users',
    '[x] : wipe_users',
  ],
  oracle: [
    'DROP TABLE users',
    'BEGIN DELETE FROM users; END;',
    '<<l>> BEGIN NULL; DELETE FROM users; END;',
    '<<"a b">> << c >> DECLARE x NUMBER; BEGIN wipe(x); END;',
    'CALL wipe(1)',
  ],
  sqlite: [
    'DROP TABLE users',
    'PRAGMA writable_schema = 1',
    "ATTACH '/x' AS x",
    'REPLACE INTO users VALUES (1)',
    'DELETE FROM users',
  ],
};

const json = JSON.stringify;
/** Places of a statement in the input of a tool. */
const WRAPPINGS: readonly (readonly [string, (statement: string) => JsonObject])[] = [
  ...['sql', 'q', 'statement', 'Query', 'QUERY', 'command', 'text', 'input', 'args', '__proto__x', ''].map(
    (name) => [`argument ${json(name)}`, (statement: string) => ({ [name]: statement })] as const,
  ),
  ['in a list', (statement) => ({ statements: [statement] })],
  ['in an object', (statement) => ({ arguments: { sql: statement } })],
  ['in a list in an object', (statement) => ({ a: { b: [{ c: statement }] } })],
  ['after another text', (statement) => ({ note: 'A note, for people.', sql: statement })],
  ['with blanks', (statement) => ({ sql: ` \t\r\n ${statement}` })],
  ['with an odd blank', (statement) => ({ sql: `\u00a0\u200b${statement}` })],
  ['with a byte order mark', (statement) => ({ sql: `\ufeff${statement}` })],
  ['after an empty statement', (statement) => ({ sql: `;; ${statement}` })],
  ['ended', (statement) => ({ sql: `${statement};` })],
  ['after a comment', (statement) => ({ sql: `/* a */ ${statement}` })],
  ['after a line comment', (statement) => ({ sql: `-- a\n${statement}` })],
  ['after two comments', (statement) => ({ sql: `/* a */-- b\n/**/${statement}` })],
  ['before a line comment', (statement) => ({ sql: `${statement} -- a` })],
  ['in small letters', (statement) => ({ sql: statement.toLowerCase() })],
  ['as JSON text', (statement) => ({ q: json({ query: statement }) })],
  ['as JSON text twice', (statement) => ({ q: json({ q: json({ query: statement }) }) })],
  ['as JSON text thrice', (statement) => ({ q: json({ q: json([json({ a: { b: statement } })]) }) })],
  ['as JSON string', (statement) => ({ q: json(statement) })],
  ['as JSON string twice', (statement) => ({ q: json(json(statement)) })],
  ['as JSON list', (statement) => ({ q: `  ${json(['x', statement])}` })],
  ['as duplicate member', (statement) => ({ q: `{"query":${json(statement)},"query":"SELECT 1"}` })],
  ['as damaged JSON text', (statement) => ({ q: `{query: ${json(statement)},` })],
  ['in a fence', (statement) => ({ q: `\`\`\`sql\n${statement}\n\`\`\`` })],
  [
    'in a fence after prose',
    (statement) => ({ q: `Run this, please:\n\`\`\`\n${statement}\n\`\`\`\nThanks.` }),
  ],
  ['in a fence that is open', (statement) => ({ q: `\`\`\`sql\n${statement}` })],
  ['in a fence of tildes', (statement) => ({ q: `~~~sql\n${statement}\n~~~` })],
  ['in single quotes', (statement) => ({ q: `'${statement}'` })],
  ['in backticks', (statement) => ({ q: `\`${statement}\`` })],
  ['in typographic quotes', (statement) => ({ q: `\u201c${statement}\u201d` })],
  ['in a fence in JSON text', (statement) => ({ q: json({ a: `\`\`\`\n${statement}\n\`\`\`` }) })],
];

describe('a statement that is not in the member "query"', () => {
  it.each(Object.keys(STATEMENTS) as Dialect[])('is denied wherever it stands (%s)', async (dialect) => {
    expect(WRAPPINGS.length).toBeGreaterThanOrEqual(40);
    const passed: string[] = [];
    for (const statement of STATEMENTS[dialect]) {
      for (const [name, wrap] of WRAPPINGS) {
        if (!(await isDenied(dialect, wrap(statement)))) passed.push(`${name}: ${statement}`);
      }
    }
    expect(passed).toEqual([]);
  });

  it.each(Object.keys(STATEMENTS) as Dialect[])('is denied as a call of a driver (%s)', async (dialect) => {
    for (const call of ['{call wipe(users)}', '{ call sp_x (1) }', '{? = call wipe(1)}', '{CALL wipe}']) {
      expect(await isDenied(dialect, { q: call }), call).toBe(true);
      expect(await isDenied(dialect, { query: 'SELECT 1', q: call }), call).toBe(true);
    }
  });

  it.each<[Dialect, string]>([
    ['tsql', "sys.sp_executesql N'DROP TABLE users'"],
    ['tsql', "master..xp_cmdshell 'dir'"],
    ['tsql', "[sys].[sp_executesql] N'DROP TABLE users'"],
    ['tsql', `"sp_executesql" N'DROP TABLE users'`],
    ['tsql', 'x: DROP TABLE users'],
    ['oracle', '<<l>> DELETE FROM users'],
    ['oracle', '<<l>> BEGIN NULL; DELETE FROM users; END;'],
  ])('is denied beside a query, too (%s: %s)', async (dialect, statement) => {
    expect(await isDenied(dialect, { query: 'SELECT 1', also: statement })).toBe(true);
  });
});

describe('words of sentences', () => {
  it.each<[Dialect, string]>([
    ['tsql', 'wipe_users a, b, c, the, your, please'],
    ['tsql', 'copy: wipe_users'],
    ['tsql', 'load: DROP TABLE users'],
    ['mysql', 'load: BEGIN NOT ATOMIC DELETE FROM users; END'],
    ['mysql', 'REPAIR TABLE the, your, this, that, these, those'],
    ['mysql', 'HELP -- the end of your and my list.'],
    ['oracle', 'DROP TABLESPACE users INCLUDING CONTENTS -- please, the end.'],
  ])('do not hide a statement (%s: %s)', async (dialect, statement) => {
    expect(await isDenied(dialect, { q: statement })).toBe(true);
  });
});

describe('a text that is no statement', () => {
  it.each<[Dialect, JsonObject]>([
    ['tsql', { query: 'SELECT 1', note: 'hello' }],
    ['tsql', { query: 'SELECT 1', note: 'hello world' }],
    ['tsql', { query: 'SELECT 1', note: 'Note: this is for the report.' }],
    ['tsql', { note: 'Please mail the report to all customers.' }],
    ['tsql', { note: "It's fine, isn't it" }],
    ['tsql', { note: '4111' }],
    ['tsql', { sql: 'SELECT 1' }],
    ['oracle', { sql: 'SELECT 1 FROM dual', note: '<b>bold</b>' }],
    ['mysql', { note: 'If you like it, keep it.' }],
    ['postgres', { note: '{"a":"b"}', other: '"quoted"' }],
    ['sqlite', { sql: 'SELECT 1', note: '```\nls -la\n```' }],
  ])('passes (%s: %j)', async (dialect, data) => {
    expect(await isDenied(dialect, data)).toBe(false);
  });
});

describe('wrapped texts', () => {
  it.each<[string, string]>([
    ['quotes', `'${`' `.repeat(200_000)}x`],
    ['open JSON strings', `{${'"\\'.repeat(200_000)}`],
    ['overlapping fences and strings', `"${'```"'.repeat(50_000)}`],
    ['blanks', `'${' '.repeat(400_000)}x`],
    ['deep JSON', '["'.repeat(100_000)],
  ])('are read with bounded work (%s)', (_, text) => {
    let length = 0;
    for (const inner of wrappedTexts(text)) length += inner.length;
    expect(length).toBeLessThanOrEqual(9 * text.length);
  });
});
