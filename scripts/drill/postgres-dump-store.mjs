/** A database on a PostgreSQL server of the operator: copied by pg_dump, destroyed by DROP DATABASE. */
import { execFile } from 'node:child_process';
import { randomBytes } from 'node:crypto';
import { stat } from 'node:fs/promises';
import path from 'node:path';
import { promisify } from 'node:util';
import pg from 'pg';

const run = promisify(execFile);

async function execute(url, sql) {
  const client = new pg.Client({ connectionString: url });
  await client.connect();
  try {
    await client.query(sql);
  } finally {
    await client.end();
  }
}

/**
 * @param {string} folder of the dump
 * @param {string} serverUrl any database of the server; its user may create databases
 * @returns {Promise<import('./drill.mjs').Store>}
 */
export async function openPostgresDumpStore(folder, serverUrl) {
  const name = `drill_${randomBytes(6).toString('hex')}`;
  const dump = path.join(folder, 'backup.dump');
  const url = new URL(serverUrl);
  url.pathname = `/${name}`;
  const create = () => execute(serverUrl, `CREATE DATABASE ${name} TEMPLATE template0`);
  const drop = () => execute(serverUrl, `DROP DATABASE IF EXISTS ${name} WITH (FORCE)`);
  await create();
  return {
    name: 'postgresql, by pg_dump and pg_restore',
    url: String(url),
    async backUp() {
      await run('pg_dump', ['--format=custom', `--file=${dump}`, `--dbname=${url}`]);
      return (await stat(dump)).size;
    },
    destroy: drop,
    async restore() {
      await create();
      await run('pg_restore', ['--exit-on-error', '--single-transaction', `--dbname=${url}`, dump]);
    },
    close: drop,
  };
}
