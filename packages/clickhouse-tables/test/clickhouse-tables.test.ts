import { describe, expect, it, onTestFinished } from 'vitest';
import { TablesError } from '../src/index.js';
import { salesTables } from './sales.js';
import { type Answer, type ScriptedServer, type Statement, startScriptedServer } from './scripted-server.js';

/** Tables on a server that answers as a function says, by default as one with the tables of version 1. */
async function tablesOn(answerOf: (statement: Statement) => Answer | undefined, isReplicated = false) {
  const server = await startScriptedServer((statement) => answerOf(statement) ?? known(statement));
  onTestFinished(() => server.stop());
  const tables = salesTables({ url: server.url, isReplicated });
  onTestFinished(() => tables.close());
  return { server, tables };
}

const known = ({ text }: Statement) => (text.startsWith('SELECT') ? '["1"]\n' : '');
const isInsert = ({ text }: Statement) => text.startsWith('INSERT INTO sales');
const insertsOf = ({ statements }: ScriptedServer) => statements.filter(isInsert);
const SALE = { text: 'INSERT INTO sales', lines: ['[202611,"tea"]', '[202612,"milk"]'], token: 'batch-1' };
const enough = () => 10_000;

/** The answers to the inserts, in their order; the last one is that of all further ones. */
function answers(...list: readonly Answer[]) {
  let index = 0;
  return (statement: Statement): Answer | undefined => {
    if (!isInsert(statement)) return undefined;
    index += 1;
    return list[Math.min(index, list.length) - 1];
  };
}

async function errorOf(work: Promise<unknown>): Promise<TablesError> {
  const error = await work.then(
    () => undefined,
    (reason: unknown) => reason,
  );
  if (!(error instanceof TablesError)) throw new Error(`no error of tables: ${error}`);
  return error;
}

describe('tables', () => {
  it('are created before the first statement, in a database that is created too', async () => {
    let exists = false;
    const { server, tables } = await tablesOn(({ text }) => {
      if (text.startsWith('CREATE DATABASE')) exists = true;
      return exists ? undefined : { code: 81 };
    });
    await tables.command('OPTIMIZE TABLE sales');
    const done = server.statements.map(({ text, settings }) => [
      settings.get('database'),
      text.replace(/\s+/g, ' '),
    ]);
    expect(done).toEqual([
      ['shop', expect.stringMatching(/^SELECT count\(\) FROM system.tables .* name = 'shop_schema'/)],
      ['system', 'CREATE DATABASE IF NOT EXISTS shop'],
      [
        'shop',
        'CREATE TABLE IF NOT EXISTS sales (month UInt32, article String) ENGINE = MergeTree() PARTITION BY month ORDER BY article SETTINGS non_replicated_deduplication_window = 10000, fsync_after_insert = 1',
      ],
      [
        'shop',
        'CREATE TABLE IF NOT EXISTS shop_schema (version UInt32) ENGINE = ReplacingMergeTree() ORDER BY version',
      ],
      ['shop', 'INSERT INTO shop_schema VALUES (1)'],
      ['shop', 'OPTIMIZE TABLE sales'],
    ]);
  });

  it('of the same version are taken as they are', async () => {
    const { server, tables } = await tablesOn(() => undefined);
    await tables.command('OPTIMIZE TABLE sales');
    expect(server.statements.filter(({ text }) => text.startsWith('CREATE'))).toEqual([]);
  });

  it('of a later version are not used', async () => {
    const { server, tables } = await tablesOn(({ text }) =>
      text.startsWith('SELECT max') ? '["2"]\n' : undefined,
    );
    const { message } = await errorOf(tables.insert(SALE, () => 1_100));
    expect(message).toBe(
      'The tables of the shop have version 2, which is later than 1: they belong to a later release.',
    );
    expect(insertsOf(server)).toEqual([]);
  });

  it('are looked for again when the server was away', async () => {
    let isAway = true;
    const { tables } = await tablesOn(() => (isAway ? 'hang up' : undefined));
    const { message, effect, cause } = await errorOf(tables.command('OPTIMIZE TABLE sales'));
    expect([message, effect]).toEqual(['The shop cannot be reached, or refused an operation.', 'none']);
    expect(cause).toBeInstanceOf(Error);
    isAway = false;
    await tables.command('OPTIMIZE TABLE sales');
  });

  it('are read with parameters, and integers of 64 bits as text', async () => {
    const { server, tables } = await tablesOn(({ text }) =>
      text.includes('sales') ? '["9007199254740993",0.5,null]\n["1",1,"a"]\n' : undefined,
    );
    const query = { text: 'SELECT * FROM sales WHERE article = {a:String}', parameters: { a: 'tea' } };
    expect(await tables.read(query, 5_000)).toEqual([
      ['9007199254740993', 0.5, null],
      ['1', 1, 'a'],
    ]);
    const { settings } = server.statements.at(-1) as Statement;
    expect([settings.get('param_a'), settings.get('max_execution_time')]).toEqual(['tea', '5']);
  });

  it('with replicas have replicated engines, wait for a quorum, and show all of it', async () => {
    const { server, tables } = await tablesOn(
      ({ text }) => (text.startsWith('SELECT count') ? '["0"]\n' : undefined),
      true,
    );
    await tables.insert(SALE, enough);
    await tables.read({ text: 'SELECT 1' }, 5_000);
    const created = server.statements.filter(({ text }) => text.startsWith('CREATE TABLE'));
    expect(created.map(({ text }) => /ENGINE = \w+/.exec(text)?.[0])).toEqual([
      'ENGINE = ReplicatedMergeTree',
      'ENGINE = ReplicatedReplacingMergeTree',
    ]);
    expect(insertsOf(server).map(({ settings }) => settings.get('insert_quorum'))).toEqual(['auto']);
    expect(server.statements.at(-1)?.settings.get('select_sequential_consistency')).toBe('1');
  });

  it('do nothing any more when they are closed', async () => {
    const { server, tables } = await tablesOn(() => undefined);
    await tables.close();
    const { message, effect } = await errorOf(tables.insert(SALE, () => 1_100));
    expect([message, effect]).toEqual(['The shop is closed.', 'none']);
    expect(server.statements).toEqual([]);
  });
});

describe('an insert', () => {
  it('is one block with a token and a limit', async () => {
    const { server, tables } = await tablesOn(() => undefined);
    await tables.insert(SALE, () => 7_900);
    const [{ text, settings } = { text: '', settings: new URLSearchParams() }] = insertsOf(server);
    expect(text).toBe('INSERT INTO sales FORMAT JSONCompactEachRow\n[202611,"tea"]\n[202612,"milk"]');
    expect(settings.get('insert_deduplication_token')).toBe('batch-1');
    expect([settings.get('max_execution_time'), settings.get('max_insert_threads')]).toEqual(['7', '1']);
  });

  it('is repeated under its token when there was no answer', async () => {
    const { server, tables } = await tablesOn(answers('hang up', { code: 241 }, ''));
    await tables.insert(SALE, enough);
    const tokens = insertsOf(server).map(({ settings }) => settings.get('insert_deduplication_token'));
    expect(tokens).toEqual(['batch-1', 'batch-1', 'batch-1']);
  });

  it('that was refused three times has had no effect', async () => {
    const { server, tables } = await tablesOn(answers({ code: 241 }));
    const { message, effect } = await errorOf(tables.insert(SALE, enough));
    expect([message, effect]).toEqual(['The shop cannot be reached, or refused an operation.', 'none']);
    expect(insertsOf(server)).toHaveLength(3);
  });

  it('may have had its effect when one attempt had no answer, whatever the last one had', async () => {
    const { server, tables } = await tablesOn(answers('hang up', { code: 241 }));
    const { message, effect } = await errorOf(tables.insert(SALE, enough));
    expect([message, effect]).toEqual(['The shop did not answer.', 'unknown']);
    expect(insertsOf(server)).toHaveLength(3);
  });

  it('is not begun, nor repeated, without time', async () => {
    const { server, tables } = await tablesOn(answers({ code: 241 }));
    const { message, effect } = await errorOf(tables.insert(SALE, () => 999));
    expect([message, effect]).toEqual(['The shop takes too long.', 'none']);
    expect(insertsOf(server)).toHaveLength(0);
    await errorOf(tables.insert(SALE, () => 1_100));
    expect(insertsOf(server)).toHaveLength(1);
  });
});
