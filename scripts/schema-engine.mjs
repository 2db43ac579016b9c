#!/usr/bin/env node
/**
 * Stands in for Prisma's native `schema-engine` binary: the same arguments and the same JSON-RPC over standard input
 * and output, answered by the WebAssembly engine. Chosen with PRISMA_SCHEMA_ENGINE_BINARY.
 */
import { access, mkdir, readFile, rm, writeFile } from 'node:fs/promises';
import { dirname } from 'node:path';
import { createInterface } from 'node:readline';
import { isPostgresql, openSchemaEngine } from './schema-engine-wasm.mjs';

const CONNECT_TIMEOUT_MS = 5_000;

function readArguments(argv) {
  const read = { schemaPaths: [], url: undefined, command: undefined };
  for (let i = 0; i < argv.length; i++) {
    const name = argv[i];
    if (name === '--datamodels') read.schemaPaths.push(argv[++i]);
    else if (name === '--datasource') read.url = JSON.parse(argv[++i]).url;
    else if (name === 'cli') read.command = argv[++i];
    else if (name.startsWith('--')) i++;
  }
  return read;
}

const filePath = (url) => url.replace(/^file:/, '');

async function runOnPostgresql(command, url) {
  const { default: pg } = await import('pg');
  const target = new URL(url);
  const name = decodeURIComponent(target.pathname.slice(1));
  if (command !== 'can-connect-to-database') target.pathname = '/postgres';
  const client = new pg.Client({
    connectionString: String(target),
    connectionTimeoutMillis: CONNECT_TIMEOUT_MS,
  });
  await client.connect();
  try {
    const quoted = client.escapeIdentifier(name);
    if (command === 'create-database') await client.query(`CREATE DATABASE ${quoted}`);
    if (command === 'drop-database') await client.query(`DROP DATABASE IF EXISTS ${quoted} WITH (FORCE)`);
  } finally {
    await client.end();
  }
}

async function removeFiles(path) {
  for (const suffix of ['', '-wal', '-shm', '-journal']) await rm(path + suffix, { force: true });
}

async function runOnSqlite(command, url) {
  const path = filePath(url);
  if (command === 'can-connect-to-database') await access(path);
  if (command === 'create-database') await writeFile(path, '', { flag: 'a' });
  if (command === 'drop-database') await removeFiles(path);
}

/** The commands outside JSON-RPC. Their failures are one line of JSON on standard error. */
async function runCommand(command, url) {
  const known = ['can-connect-to-database', 'create-database', 'drop-database'];
  try {
    if (!known.includes(command)) throw new Error(`unknown command ${command}`);
    if (url === undefined) throw new Error('no datasource URL is configured');
    await (isPostgresql(url) ? runOnPostgresql(command, url) : runOnSqlite(command, url));
    return 0;
  } catch (error) {
    const missing = error.code === '3D000' || error.code === 'ENOENT';
    const fields = { error_code: missing ? 'P1003' : 'P1001', message: error.message };
    process.stderr.write(`\n${JSON.stringify({ level: 'ERROR', target: 'schema_engine::logger', fields })}`);
    return 1;
  }
}

function serve({ schemaPaths, url }) {
  const send = (message) => process.stdout.write(`${JSON.stringify({ jsonrpc: '2.0', ...message })}\n`);
  let engine;
  const open = async () => {
    if (url !== undefined && !isPostgresql(url)) await mkdir(dirname(filePath(url)), { recursive: true });
    const schema = schemaPaths.map(async (path) => ({ path, content: await readFile(path, 'utf8') }));
    return openSchemaEngine(url ?? 'file::memory:', await Promise.all(schema));
  };

  async function call(method, params) {
    if (method === 'reset' && url !== undefined && !isPostgresql(url)) {
      await removeFiles(filePath(url));
      return {};
    }
    engine ??= await open();
    if (method === 'devDiagnostic') {
      // Creates the table of applied migrations, which the diagnosis expects to find.
      const migrationsList = { ...params.migrationsList, migrationDirectories: [] };
      await engine('applyMigrations', { migrationsList, filters: params.filters });
    }
    return engine(method === 'getDatabaseVersion' ? 'version' : method, params);
  }

  async function answer({ id, method, params }) {
    try {
      const result = (await call(method, params)) ?? {};
      if (method === 'diff' && result.stdout) {
        send({ id: 1_000_000 + id, method: 'print', params: { content: result.stdout } });
        send({ id, result: { exitCode: result.exitCode } });
      } else send({ id, result });
    } catch (error) {
      const data = { is_panic: false, message: error.message, error_code: error.code, meta: error.meta };
      send({
        id,
        error: { code: 4466, message: 'An error happened. Check the data field for details.', data },
      });
    }
  }

  let answers = Promise.resolve();
  createInterface({ input: process.stdin })
    .on('line', (line) => {
      const message = JSON.parse(line);
      // Replies of the client to our own `print` calls carry no method.
      if (message.method) answers = answers.then(() => answer(message));
    })
    .on('close', () => answers.finally(() => process.exit(0)));
}

const options = readArguments(process.argv.slice(2));
if (options.command === undefined) serve(options);
else process.exit(await runCommand(options.command, options.url));
