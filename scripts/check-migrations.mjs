/**
 * Checks on both databases that the migrations, applied to an empty database, give exactly what the models describe,
 * and that programs of the last release can work on the result. It prints the SQL that is missing. PostgreSQL is the
 * server of TEST_DATABASE_URL, else one of its own. The service must be built.
 */
import { mkdtempSync, readdirSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { migrationsFolder, schemaFiles } from './compose-schema.mjs';
import { checkCompatibility } from './landed-migrations.mjs';
import { startPostgresServer } from './postgres-server.mjs';
import { openSchemaEngine } from './schema-engine-wasm.mjs';

const FILTERS = { externalTables: [], externalEnums: [] };

/** The migrations in the form the engine wants. */
function migrationsList(provider) {
  const baseDir = migrationsFolder(provider);
  const read = (...path) => readFileSync(join(baseDir, ...path), 'utf8');
  const names = readdirSync(baseDir, { withFileTypes: true })
    .filter((entry) => entry.isDirectory())
    .map(({ name }) => name)
    .sort();
  const migrationDirectories = names.map((name) => {
    const content = { tag: 'ok', value: read(name, 'migration.sql') };
    return { path: name, migrationFile: { path: 'migration.sql', content } };
  });
  const lockfile = { path: 'migration_lock.toml', content: read('migration_lock.toml') };
  return { baseDir, lockfile, shadowDbInitScript: '', migrationDirectories };
}

/** The SQL that leads from the migrations to the models; empty when they agree. */
async function missingSql(provider, url) {
  const files = schemaFiles(provider).map(({ name, content }) => ({ path: name, content }));
  const engine = await openSchemaEngine(url, files);
  const { stdout } = await engine('diff', {
    from: { tag: 'migrations', ...migrationsList(provider) },
    to: { tag: 'schemaDatamodel', files },
    script: true,
    exitCode: null,
    filters: FILTERS,
  });
  return /^\s*(-- This is an empty migration\.)?\s*$/.test(stdout) ? '' : stdout;
}

async function check(provider, url) {
  const sql = await missingSql(provider, url);
  if (sql === '') return true;
  process.stderr.write(`prisma/${provider}/migrations does not match prisma/models. Missing:\n${sql}\n`);
  return false;
}

async function checkPostgresql() {
  const { TEST_DATABASE_URL } = process.env;
  if (TEST_DATABASE_URL) return check('postgresql', TEST_DATABASE_URL);
  const server = await startPostgresServer();
  try {
    return await check('postgresql', server.url);
  } finally {
    await server.stop();
  }
}

async function checkSqlite() {
  const folder = mkdtempSync(join(tmpdir(), 'migrations-'));
  try {
    return await check('sqlite', `file:${join(folder, 'empty.db')}`);
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}

const agreed = [await checkCompatibility(), await checkSqlite(), await checkPostgresql()];
process.exit(agreed.every(Boolean) ? 0 : 1);
