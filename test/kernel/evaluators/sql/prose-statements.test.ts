import { afterAll, describe, expect, it } from 'vitest';
import type { JsonObject, JsonValue } from '../../../../packages/exact-json/src/index.js';
import { DIALECTS, type Dialect } from '../../../../packages/sql-reader/src/index.js';
import { createParserPool } from '../../../../src/kernel/evaluators/sql/parser-pool.js';
import { proseStatements } from '../../../../src/kernel/evaluators/sql/prose-statements.js';
import { createSqlEvaluator } from '../../../../src/kernel/evaluators/sql/sql.js';
import { corpusFile } from '../../../corpora/corpus.support.js';
import { FULL_CALL } from '../../../support/check-call.js';
import { READS } from './allow-list-statements.js';

// Generous: machines that run tests may be busy.
const pool = createParserPool({ parseTimeoutMs: 300_000 });
const evaluator = createSqlEvaluator(pool);
afterAll(() => pool.close());

const check = (config: JsonObject, data: JsonValue) => evaluator.compile(config).evaluate(data, FULL_CALL);
/** The texts of a file, one a line, with line breaks written `\n`. */
const textsOf = (name: string): string[] =>
  corpusFile(`sql/${name}`)
    .split('\n')
    .filter((line) => line !== '')
    .map((line) => line.replaceAll('\\n', '\n'));

const statements = textsOf('statements-in-texts.txt');
const harmless = textsOf('harmless.txt');
const besides = (dialect: Dialect): JsonObject => ({ query: READS[dialect][0] ?? '' });
const CONFIGS: readonly JsonObject[] = [
  { allowed_operations: ['SELECT'] },
  { blocked_operations: ['DELETE', 'DROP', 'UPDATE', 'INSERT', 'CREATE', 'ALTER', 'TRUNCATE', 'GRANT'] },
];

describe.each(DIALECTS)('statements of %s in running text', (dialect) => {
  it('are found in prose, markup, Markdown, JSON and code', async () => {
    expect(statements.length).toBeGreaterThanOrEqual(45);
    const passed: string[] = [];
    for (const [index, text] of statements.entries()) {
      const config = CONFIGS[index % CONFIGS.length];
      for (const data of [{ ...besides(dialect), text }, { a: [{ b: JSON.stringify({ c: text }) }] }]) {
        const { matched, confidence, error } = await check({ ...config, dialect }, data);
        expect(error).toBeNull();
        if (!matched || confidence < 0.5) passed.push(JSON.stringify(data));
      }
    }
    expect(passed).toEqual([]);
  });

  it('are no alarm where words of SQL are words of a sentence, in at most one of a hundred texts', async () => {
    expect(harmless.length).toBeGreaterThanOrEqual(150);
    for (const config of CONFIGS) {
      const alarms: string[] = [];
      for (const text of harmless) {
        // With T-SQL, a text without a query may be a call of a procedure by its name alone.
        const alone = dialect === 'tsql' ? { matched: false } : await check({ ...config, dialect }, { text });
        const beside = await check({ ...config, dialect }, { ...besides(dialect), text });
        if (alone.matched || beside.matched) alarms.push(text);
      }
      expect(alarms.length, alarms.join('\n')).toBeLessThanOrEqual(harmless.length / 100);
    }
  });

  it('are no alarm where they are allowed', async () => {
    for (const text of READS[dialect]) {
      for (const wrapped of [
        `Please run: ${text};`,
        `<sql>${text}</sql>`,
        `Result of\n\n${text}\n\nis below`,
      ]) {
        const data = { ...besides(dialect), text: wrapped };
        expect(await check({ dialect, allowed_operations: ['SELECT'] }, data), wrapped).toMatchObject({
          matched: false,
        });
      }
    }
  });
});

describe('statements in running text', () => {
  it('are reported with their member and the statement alone', async () => {
    const result = await check(
      { allowed_operations: ['SELECT'] },
      { note: { text: 'Please run: DROP TABLE users; and tell me' } },
    );
    expect(result).toMatchObject({
      matched: true,
      message: 'Operations that are not allowed: DROP (in the member note.text)',
    });
  });

  it('are checked like others', async () => {
    const text = 'Please run: SELECT * FROM secrets;';
    expect(await check({ blocked_tables: ['secrets'] }, { text })).toMatchObject({ matched: true });
    expect(await check({ blocked_tables: ['users'] }, { text })).toMatchObject({ matched: false });
    const call = 'Run this query: SELECT pg_sleep(9);';
    expect(await check({ allowed_operations: ['SELECT'] }, { text: call })).toMatchObject({ matched: true });
  });

  it('are not looked for in a statement, nor in a comment', async () => {
    const config = { blocked_operations: ['DROP'] };
    const text = "SELECT 'Please run: DROP TABLE users;' FROM t";
    expect(await check(config, { text })).toMatchObject({ matched: false });
    expect(await check(config, { query: 'SELECT 1', text: '-- DROP TABLE users;' })).toMatchObject({
      matched: false,
    });
  });

  it('that are more than are tried match', async () => {
    const config = { blocked_operations: ['DROP'] };
    const text = `Log: ${'note: DELETE FROM users WHERE (1 and so on; '.repeat(260)}`;
    expect(await check(config, { text })).toMatchObject({
      matched: true,
      message: expect.stringContaining('More than 256 places of a text begin like statements'),
    });
  });

  it.each<[string, string]>([
    ['words', 'select update '.repeat(30_000)],
    ['statements that do not end', 'x DROP TABLE a '.repeat(20_000)],
    ['WITH', 'with a as ( '.repeat(20_000)],
    ['quotes', '"DROP TABLE '.repeat(20_000)],
    ['blanks', `x DELETE${' '.repeat(200_000)}FROM`],
  ])('are looked for with bounded work (%s)', (_, text) => {
    for (const dialect of DIALECTS) {
      let length = 0;
      for (const { candidates } of proseStatements(text, dialect)) {
        for (const candidate of candidates) length += candidate.length;
      }
      expect(length).toBeLessThan(256 * 10 * 2_000);
    }
  });
});
