/**
 * A PostgreSQL server of its own, with the binaries from npm, which have neither pg_dump nor pg_basebackup: its files are
 * copied while it writes, between pg_backup_start and pg_backup_stop, as the manual describes for a base backup
 * ("Making a Base Backup Using the Low Level API"). Destroyed by a crash and with its whole folder.
 */
import { chmod, chown, copyFile, lstat, mkdir, readdir, rm, writeFile } from 'node:fs/promises';
import path from 'node:path';
import pg from 'pg';
import { startPostgresServer } from '../postgres-server.mjs';

/** What is of a running server only, or copied after everything else; of folders only what is in them. */
const NOT_DATA = {
  files: new Set(['postmaster.pid', 'postmaster.opts']),
  folders: new Set([
    'pg_wal',
    'pg_replslot',
    'pg_dynshmem',
    'pg_notify',
    'pg_serial',
    'pg_stat_tmp',
    'pg_subtrans',
  ]),
};
const NOTHING = { files: new Set(), folders: new Set() };
const SLOT = 'drill';

async function ownAs(source, target) {
  const { uid, gid, mode } = await lstat(source);
  await chown(target, uid, gid);
  await chmod(target, mode & 0o7777);
}

/** Copies files with their owners; returns their bytes. Those that vanish meanwhile are rebuilt from the WAL. */
async function copyFiles(source, target, leftOut = NOTHING) {
  let bytes = 0;
  await mkdir(target, { recursive: true });
  await ownAs(source, target);
  for (const entry of await readdir(source, { withFileTypes: true })) {
    const [from, to] = [path.join(source, entry.name), path.join(target, entry.name)];
    if (entry.isDirectory()) {
      if (!leftOut.folders.has(entry.name)) bytes += await copyFiles(from, to, leftOut);
      else await mkdir(to).then(() => ownAs(from, to));
    } else if (!leftOut.files.has(entry.name)) {
      bytes += await copyOne(from, to);
    }
  }
  return bytes;
}

async function copyOne(from, to) {
  try {
    await copyFile(from, to);
    await ownAs(from, to);
    return (await lstat(to)).size;
  } catch (error) {
    if (error.code !== 'ENOENT') throw error;
    return 0;
  }
}

async function baseBackup(url, data, copy) {
  const client = new pg.Client({ connectionString: url });
  await client.connect();
  try {
    // From here on the server keeps the WAL that the copy needs.
    await client.query('SELECT pg_create_physical_replication_slot($1, true)', [SLOT]);
    await client.query(`SELECT pg_backup_start('drill', true)`);
    let bytes = await copyFiles(data, copy, NOT_DATA);
    const { rows } = await client.query('SELECT labelfile FROM pg_backup_stop(false)');
    const label = path.join(copy, 'backup_label');
    await writeFile(label, rows[0].labelfile);
    await ownAs(path.join(data, 'PG_VERSION'), label);
    bytes += await copyFiles(path.join(data, 'pg_wal'), path.join(copy, 'pg_wal'));
    await client.query('SELECT pg_drop_replication_slot($1)', [SLOT]);
    return bytes;
  } finally {
    await client.end();
  }
}

/** @returns {Promise<import('./drill.mjs').Store>} */
export async function openPostgresFilesStore(folder) {
  const server = await startPostgresServer({ survivesCrash: true });
  const copy = path.join(folder, 'backup');
  return {
    name: 'postgresql, by a base backup of its files',
    url: server.url,
    backUp: () => baseBackup(server.url, server.dataFolder, copy),
    async destroy() {
      await server.crash();
      await rm(server.dataFolder, { recursive: true });
    },
    async restore() {
      await copyFiles(copy, server.dataFolder);
      await server.resume();
    },
    close: () => server.stop(),
  };
}
