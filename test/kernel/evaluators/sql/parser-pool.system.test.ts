import { afterEach, describe, expect, it } from 'vitest';
import {
  createParserPool,
  type ParserPool,
  type PoolOptions,
} from '../../../../src/kernel/evaluators/sql/parser-pool.js';
import { createSqlEvaluator } from '../../../../src/kernel/evaluators/sql/sql.js';
import { FULL_CALL } from '../../../support/check-call.js';
import { withGrowingTime } from '../../../support/growing-time.js';

const { signal } = FULL_CALL;
/** The general parser tries everything twice at each level. */
const ENDLESS = `SELECT ${'f('.repeat(40)}1${')'.repeat(40)}`;
/** Its module runs out of stack, which nothing in it survives. Our bounds keep such texts away from it. */
const FATAL = `SELECT 1${'+1'.repeat(50_000)}`;

describe('the pool of parsers', () => {
  let pool: ParserPool;
  const open = (options: PoolOptions = {}): ParserPool => {
    pool = createParserPool({ workers: 1, parseTimeoutMs: 20_000, ...options });
    return pool;
  };
  /** Another pool in the place of the last one. */
  const reopen = async (options: PoolOptions): Promise<ParserPool> => {
    await pool?.close();
    return open(options);
  };
  afterEach(() => pool.close());

  it('parses, and refuses what is no SQL', async () => {
    expect(await open().parse('SELECT 1; SELECT 2', 'mysql', signal)).toMatchObject({
      statements: [{ Query: {} }, { Query: {} }],
    });
    expect(await pool.parse('SELEC 1', 'mysql', signal)).toMatchObject({ refused: expect.any(String) });
  });

  it('kills a parser that takes too long, and loses no text that waits behind it', async () => {
    await withGrowingTime(300, async (parseTimeoutMs) => {
      await reopen({ parseTimeoutMs });
      const endless = pool.parse(ENDLESS, 'mssql', signal);
      const waiting = [1, 2, 3].map((number) => pool.parse(`SELECT ${number}`, 'mssql', signal));
      const answered = Promise.all(waiting);
      await Promise.all([expect(endless).rejects.toThrow(/timeout/), answered]);
      for (const answer of await answered) expect(answer).toHaveProperty('statements');
    });
  });

  it('refuses a text that the parser dies of, and loses no text that waits behind it', async () => {
    open();
    const fatal = pool.parse(FATAL, 'mysql', signal);
    const waiting = [1, 2, 3].map((number) => pool.parse(`SELECT ${number}`, 'mysql', signal));
    expect(await fatal).toMatchObject({ refused: expect.stringContaining('the parser failed') });
    for (const answer of await Promise.all(waiting)) expect(answer).toHaveProperty('statements');
  });

  it('does not let one endless text stop the others when it has two workers', async () => {
    await withGrowingTime(1_000, async (parseTimeoutMs) => {
      await reopen({ workers: 2, parseTimeoutMs });
      const order: string[] = [];
      const ends = (name: string) => () => order.push(name);
      const endless = pool.parse(ENDLESS, 'mssql', signal).catch(ends('endless'));
      const other = pool.parse('SELECT 1', 'mssql', signal).then(ends('other'), ends('other in vain'));
      await Promise.all([endless, other]);
      expect(order).toEqual(['other', 'endless']);
    });
  });

  it('takes a bounded number of texts', async () => {
    open({ maxWaiting: 2 });
    const first = [1, 2, 3].map((number) => pool.parse(`SELECT ${number}`, 'mysql', signal));
    await expect(pool.parse('SELECT 4', 'mysql', signal)).rejects.toThrow(/timeout/);
    expect(await Promise.all(first)).toHaveLength(3);
  });

  it('gives up a text whose result is no longer awaited', async () => {
    open({ parseTimeoutMs: 300 });
    const endless = pool.parse(ENDLESS, 'mssql', signal);
    const caller = new AbortController();
    const abandoned = pool.parse('SELECT 1', 'mssql', caller.signal);
    caller.abort();
    await expect(abandoned).rejects.toThrow(/no longer awaited/);
    await expect(pool.parse('SELECT 1', 'mssql', caller.signal)).rejects.toThrow();
    await expect(endless).rejects.toThrow(/timeout/);
  });

  it('fails what cannot be parsed because no worker starts', async () => {
    open({ entry: new URL('data:text/javascript,throw new Error("no worker")') });
    await expect(pool.parse('SELECT 1', 'mysql', signal)).rejects.toThrow(/no worker/);
  });

  it('ends what waits when it is closed, and starts anew afterwards', async () => {
    open();
    const waiting = pool.parse('SELECT 1', 'mysql', signal);
    const ended = expect(waiting).rejects.toThrow(/closed/);
    await pool.close();
    await ended;
    expect(await pool.parse('SELECT 1', 'mysql', signal)).toHaveProperty('statements');
  });

  it('makes an evaluator error of a time-out, and a match of a text that the parser cannot take', async () => {
    await withGrowingTime(300, async (parseTimeoutMs) => {
      const evaluator = createSqlEvaluator(await reopen({ parseTimeoutMs }));
      const compiled = evaluator.compile({ dialect: 'tsql', max_joins: 1 });
      await expect(compiled.evaluate(ENDLESS, FULL_CALL)).rejects.toThrow(/timeout/);
      expect(await compiled.evaluate(FATAL, FULL_CALL)).toMatchObject({ matched: true, error: null });
    });
  });
});
