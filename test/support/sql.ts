import { setTimeout as delay } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import pg from 'pg';
import { openSqliteConnection } from '../../src/storage/database/sqlite-connection.js';
import { runOn } from './databases.js';

/** How long the service may hold its lock, and the pause between two attempts, in milliseconds. */
const LOCK_LIMIT_MS = 60_000;
const RETRY_MS = 5;

/** Runs SQL on a database behind the back of the service that uses it, over a connection of its own. */
export async function executeSql(databaseUrl: string, sql: string): Promise<void> {
  if (databaseUrl.startsWith('postgres')) return runOn(databaseUrl, sql);
  const connection = openSqliteConnection(fileOf(databaseUrl), 'writer');
  try {
    // The service may be of this process: it ends its write only while this waits without blocking the process.
    connection.execute('PRAGMA busy_timeout = 0');
    // At once for writing: a transaction that begins by reading fails when the service writes meanwhile.
    const script = sql.replace(/^\s*BEGIN;/, 'BEGIN IMMEDIATE;');
    const endMs = Date.now() + LOCK_LIMIT_MS;
    for (;;) {
      try {
        return connection.executeScript(script);
      } catch (error) {
        if (!/locked/.test(String(error)) || Date.now() > endMs) throw error;
        await delay(RETRY_MS);
      }
    }
  } finally {
    connection.close();
  }
}

const fileOf = (url: string) => (url.startsWith('file:///') ? fileURLToPath(url) : url.replace(/^file:/, ''));

/** A text as an SQL literal. */
export function sqlText(text: string): string {
  return `'${text.replaceAll("'", "''")}'`;
}

/** Replaces the stored definition of a control by any text at all. */
export function damageControl(databaseUrl: string, controlId: number, data: string): Promise<void> {
  return executeSql(databaseUrl, `UPDATE "controls" SET "data" = ${sqlText(data)} WHERE "id" = ${controlId}`);
}

/** Replaces the stored registration of an agent by any text at all. */
export function damageAgent(databaseUrl: string, agentName: string, data: string): Promise<void> {
  return executeSql(
    databaseUrl,
    `UPDATE "agents" SET "data" = ${sqlText(data)} WHERE "name" = ${sqlText(agentName)}`,
  );
}

/** The first row of a query on a database. */
export async function queryRow(url: string, sql: string): Promise<unknown[]> {
  if (!url.startsWith('postgres')) {
    const connection = openSqliteConnection(fileOf(url), 'reader');
    try {
      return connection.execute(sql).rows[0] ?? [];
    } finally {
      connection.close();
    }
  }
  const client = new pg.Client({ connectionString: url });
  await client.connect();
  try {
    const { rows } = await client.query<unknown[]>({ text: sql, rowMode: 'array' });
    return rows[0] ?? [];
  } finally {
    await client.end();
  }
}
