import { Worker } from 'node:worker_threads';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import {
  DIALECT_RULES,
  DIALECTS,
  type Dialect,
  type GeneralParser,
  NotCertain,
  NotParsed,
  PARSER_WORKER,
  type ParsedQuery,
  type ParserAnswer,
  parseGeneral,
  parsePostgres,
  scan,
} from '../src/index.js';

/** One worker, one text at a time. */
function startParser(): { readonly parser: GeneralParser; stop(): Promise<unknown> } {
  const worker = new Worker(PARSER_WORKER);
  const ready = new Promise((resolve) => worker.once('message', resolve));
  return {
    parser: {
      async parse(text, dialect) {
        await ready;
        const answer = new Promise<ParserAnswer>((resolve) => worker.once('message', resolve));
        worker.postMessage({ id: 1, text, dialect });
        return answer;
      },
    },
    stop: () => worker.terminate(),
  };
}

describe.each(DIALECTS)('a text of %s', (dialect: Dialect) => {
  let started: ReturnType<typeof startParser>;
  beforeAll(() => {
    started = startParser();
  });
  afterAll(() => started.stop());

  const parse = async (text: string): Promise<ParsedQuery> =>
    dialect === 'postgres'
      ? parsePostgres(text)
      : parseGeneral(text, dialect, started.parser, AbortSignal.timeout(600_000));

  it('becomes statements with their operations, tables and columns', async () => {
    const { statements, statementCount } = await parse(
      'SELECT a, b FROM s.orders o JOIN lines ON o.id = lines.id WHERE kind = 7; DELETE FROM old_orders',
    );
    expect(statementCount).toBe(2);
    expect(statements.map(({ operations }) => operations.map(({ name }) => name))).toEqual([
      ['SELECT'],
      ['DELETE'],
    ]);
    const [select] = statements;
    expect(select?.tables.map(({ schema, table, alias }) => [schema, table, alias])).toEqual([
      ['s', 'orders', 'o'],
      [null, 'lines', null],
    ]);
    expect(select?.joins).toBe(1);
    expect(select?.columns.filter(({ clause }) => clause === 'select').map(({ name }) => name)).toEqual([
      'a',
      'b',
    ]);
    expect(select?.filter).toEqual([{ qualifier: null, column: 'kind', text: '7' }]);
  });

  it('finds what is nested', async () => {
    const { statements } = await parse('SELECT 1 FROM t WHERE x IN (SELECT y FROM (SELECT z AS y FROM u) v)');
    expect(statements[0]?.depth).toBe(2);
    expect(statements[0]?.tables.map(({ table, topLevel }) => [table, topLevel])).toEqual([
      ['t', true],
      ['u', false],
    ]);
  });

  it('is rejected when it is not SQL, and when its effect is undecidable', async () => {
    await expect(parse('this is prose')).rejects.toBeInstanceOf(NotParsed);
    await expect(parse('SELECT 1\0; DROP TABLE t')).rejects.toBeInstanceOf(NotCertain);
  });

  it('is split into tokens that cover all of it but white space', () => {
    const text = `SELECT "a", 'b' /* c */ FROM t WHERE d >= 1.5e3 -- e`;
    let between = '';
    let last = 0;
    scan(text, DIALECT_RULES[dialect], (_kind, start, end) => {
      between += text.slice(last, start);
      last = end;
    });
    expect([between.trim(), last]).toEqual(['', text.length]);
  });
});
