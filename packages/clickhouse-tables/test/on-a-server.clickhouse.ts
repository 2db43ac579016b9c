import { randomBytes } from 'node:crypto';
import { expect, it, onTestFinished } from 'vitest';
import { CLICKHOUSE_URL } from '../../../test/support/clickhouse.js';
import { salesTables } from './sales.js';

/** Tables of a version in a database, by default in one that does not exist. */
function tablesIn(database = `tables_${randomBytes(6).toString('hex')}`, version = 1) {
  const tables = salesTables({ url: CLICKHOUSE_URL ?? '', database }, version);
  onTestFinished(() => tables.close());
  const articles = async () => {
    const rows = await tables.read({ text: 'SELECT article FROM sales ORDER BY article' }, 10_000);
    return rows.map(([article]) => article);
  };
  return { database, tables, articles };
}

const enough = () => 30_000;
const sale = (token: string, ...articles: readonly string[]) => ({
  text: 'INSERT INTO sales',
  lines: articles.map((article, index) => JSON.stringify([202_611 + (index % 2), article])),
  token,
});

it('an insert has its effect once, in all partitions', async () => {
  const { tables, articles } = tablesIn();
  await tables.insert(sale('one', 'milk', 'tea'), enough);
  await tables.insert(sale('one', 'milk', 'tea'), enough);
  expect(await articles()).toEqual(['milk', 'tea']);
  await tables.insert(sale('two', 'milk', 'tea'), enough);
  expect(await articles()).toEqual(['milk', 'milk', 'tea', 'tea']);
});

it('an insert that selects its rows has its effect once', async () => {
  const { tables, articles } = tablesIn();
  const insertion = { text: "INSERT INTO sales SELECT 202611, 'tea'", token: 'selected' };
  await tables.insert(insertion, enough);
  await tables.insert(insertion, enough);
  expect(await articles()).toEqual(['tea']);
});

it('a refusal is told from a missing answer', async () => {
  const { tables } = tablesIn();
  const insertion = { ...sale('one', 'tea'), text: 'INSERT INTO purchases' };
  await expect(tables.insert(insertion, () => 1_100)).rejects.toMatchObject({ effect: 'none' });
  await expect(tables.command('DROP TABLE purchases')).rejects.toMatchObject({ effect: 'none' });
  const nowhere = salesTables({});
  await expect(nowhere.insert(sale('one', 'tea'), () => 1_100)).rejects.toMatchObject({ effect: 'unknown' });
  await nowhere.close();
});

it('tables are found again, and not used when they are of a later version', async () => {
  const { database, tables } = tablesIn(undefined, 2);
  await tables.insert(sale('one', 'tea'), enough);
  expect(await tablesIn(database, 2).articles()).toEqual(['tea']);
  await expect(tablesIn(database, 1).articles()).rejects.toThrow('have version 2, which is later than 1');
});
