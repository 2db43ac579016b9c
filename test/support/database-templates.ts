import { randomUUID } from 'node:crypto';
import { copyFileSync, mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import pg from 'pg';
import { openDatabase } from '../../src/storage/database/database.js';
import { openSqliteConnection } from '../../src/storage/database/sqlite-connection.js';

/** Variable with the path of a SQLite file that has the structure of this version and no data. */
export const SQLITE_TEMPLATE = 'TEST_SQLITE_TEMPLATE';
/** Variable with the name of such a database on the server of TEST_DATABASE_URL. */
export const POSTGRESQL_TEMPLATE = 'TEST_POSTGRESQL_TEMPLATE';

const SET_INSTANCE_ID = 'UPDATE "service_state" SET "instance_id" =';

/**
 * Makes what the databases of a test run are copied from: all migrations of a database take longer than all that most
 * tests do with it. Returns what removes it.
 */
export async function createDatabaseTemplates(serverUrl: string | undefined): Promise<() => Promise<void>> {
  const folder = mkdtempSync(path.join(tmpdir(), 'sqlite-template-'));
  const file = path.join(folder, 'template.db');
  await (await openDatabase({ url: `file:${file}` })).close();
  process.env[SQLITE_TEMPLATE] = file;
  const dropOther = serverUrl === undefined ? undefined : await createPostgresqlTemplate(serverUrl);
  return async () => {
    delete process.env[SQLITE_TEMPLATE];
    rmSync(folder, { recursive: true, force: true });
    await dropOther?.();
  };
}

async function createPostgresqlTemplate(serverUrl: string): Promise<() => Promise<void>> {
  const name = `template_${randomUUID().replaceAll('-', '')}`;
  await onPostgresql(serverUrl, `CREATE DATABASE ${name} TEMPLATE template0`);
  await (await openDatabase({ url: databaseOn(serverUrl, name) })).close();
  process.env[POSTGRESQL_TEMPLATE] = name;
  return async () => {
    delete process.env[POSTGRESQL_TEMPLATE];
    await onPostgresql(serverUrl, `DROP DATABASE IF EXISTS ${name} WITH (FORCE)`);
  };
}

/** Puts a SQLite file with the structure of this version at a path. Without a template the service will create it. */
export function copySqliteTemplate(file: string): void {
  const template = process.env[SQLITE_TEMPLATE];
  if (template === undefined) return;
  copyFileSync(template, file);
  const connection = openSqliteConnection(file, 'writer');
  try {
    // Each database has one of its own, by which the service tells it from others.
    connection.execute(`${SET_INSTANCE_ID} ?`, [randomUUID()]);
  } finally {
    connection.close();
  }
}

/** Creates a database with the structure of this version. Without a template it is empty, and the service fills it. */
export async function copyPostgresqlTemplate(serverUrl: string, name: string): Promise<void> {
  const template = process.env[POSTGRESQL_TEMPLATE];
  if (template === undefined) return onPostgresql(serverUrl, `CREATE DATABASE ${name} TEMPLATE template0`);
  // A copy of files takes a third of the time of writing them to the log.
  await onPostgresql(serverUrl, `CREATE DATABASE ${name} TEMPLATE ${template} STRATEGY file_copy`);
  await onPostgresql(databaseOn(serverUrl, name), `${SET_INSTANCE_ID} gen_random_uuid()::TEXT`);
}

/** The address of another database of a server. */
export function databaseOn(serverUrl: string, name: string): string {
  const url = new URL(serverUrl);
  url.pathname = `/${name}`;
  return String(url);
}

/** Runs one statement on a PostgreSQL database. */
export async function onPostgresql(url: string, sql: string): Promise<void> {
  const client = new pg.Client({ connectionString: url });
  await client.connect();
  try {
    await client.query(sql);
  } finally {
    await client.end();
  }
}
