/**
 * Prisma's schema engine as a WebAssembly module from npm, for machines on which the native binary cannot be
 * downloaded. It works through driver adapters; four of their shortcomings are repaired here.
 */
import { randomUUID } from 'node:crypto';
import { readFile } from 'node:fs/promises';
import { createRequire } from 'node:module';
import { dirname, join } from 'node:path';

const require = createRequire(import.meta.url);
const CHAR_TYPE_ID = 18;
const CHAR_ARRAY_TYPE_ID = 1002;

/** True when a connection URL means PostgreSQL; everything else is a SQLite file. */
export function isPostgresql(url) {
  return /^postgres(ql)?:/.test(url ?? '');
}

let loaded;

/** Once per process: a second instance would share, and corrupt, the state of the first. */
function loadModule() {
  loaded ??= instantiate();
  return loaded;
}

async function instantiate() {
  let modulePath;
  try {
    modulePath = require.resolve('@prisma/schema-engine-wasm/schema_engine_bg');
  } catch (cause) {
    throw new Error(
      '@prisma/schema-engine-wasm is not installed: run `npm ci` with the development packages',
      {
        cause,
      },
    );
  }
  const bindings = await import(modulePath);
  const bytes = await readFile(join(dirname(modulePath), 'schema_engine_bg.wasm'));
  globalThis.PRISMA_WASM_PANIC_REGISTRY ??= {
    set_message: (message) => process.stderr.write(`${message}\n`),
  };
  const { instance } = await WebAssembly.instantiate(bytes, { './schema_engine_bg.js': bindings });
  bindings.__wbg_set_wasm(instance.exports);
  instance.exports.__wbindgen_start();
  return bindings;
}

/** Repairs queries about partial indexes. The engine sends whole scripts through `executeRaw`, of which libsql would run only the first statement. */
function runWholeScripts(adapter) {
  const queryRaw = adapter.queryRaw.bind(adapter);
  // The engine quotes the name of a partial index as an identifier, which libsql does not read as a text.
  adapter.queryRaw = ({ sql, ...query }) =>
    queryRaw({ ...query, sql: sql.replace(/(WHERE type = 'index' AND name = )"([^"']*)"/, "$1'$2'") });
  const executeRaw = adapter.executeRaw.bind(adapter);
  adapter.executeRaw = async (query) => {
    if (query.args?.length) return executeRaw(query);
    await adapter.executeScript(query.sql);
    return 0;
  };
  return adapter;
}

async function sqliteFactory(url) {
  const { PrismaLibSql } = await import('@prisma/adapter-libsql');
  const inner = new PrismaLibSql({ url });
  return {
    provider: inner.provider,
    adapterName: inner.adapterName,
    connect: async () => runWholeScripts(await inner.connect()),
    connectToShadowDb: async () => runWholeScripts(await inner.connectToShadowDb()),
  };
}

/**
 * The adapter knows lists of "char" but not "char" itself, which catalog columns have: they pass through it as lists.
 * And it cuts scripts at every semicolon, those in function bodies too.
 */
function readCatalogAndRunWholeScripts(adapter, { Character, CharacterArray }) {
  const pool = adapter.underlyingDriver();
  const query = pool.query.bind(pool);
  pool.query = async (...args) => {
    const result = await query(...args);
    for (const field of result.fields ?? []) {
      if (field.dataTypeID === CHAR_TYPE_ID) field.dataTypeID = CHAR_ARRAY_TYPE_ID;
    }
    return result;
  };
  const queryRaw = adapter.queryRaw.bind(adapter);
  adapter.queryRaw = async (request) => {
    const result = await queryRaw(request);
    const columnTypes = result.columnTypes.map((type) => (type === CharacterArray ? Character : type));
    return { ...result, columnTypes };
  };
  adapter.executeScript = async (script) => {
    await query(script);
  };
  return adapter;
}

async function postgresqlFactory(url) {
  const { PrismaPg } = await import('@prisma/adapter-pg');
  const { ColumnTypeEnum } = await import('@prisma/driver-adapter-utils');
  const open = async (target) => {
    const adapter = await new PrismaPg({ connectionString: target }).connect();
    return readCatalogAndRunWholeScripts(adapter, ColumnTypeEnum);
  };
  return {
    provider: 'postgres',
    adapterName: '@prisma/adapter-pg',
    connect: () => open(url),
    // The adapter's own shadow database is dropped before its pool is closed, which PostgreSQL refuses.
    connectToShadowDb: async () => {
      const name = `shadow_${randomUUID()}`;
      const admin = await open(url);
      await admin.executeScript(`CREATE DATABASE "${name}"`);
      const shadowUrl = new URL(url);
      shadowUrl.pathname = `/${name}`;
      const shadow = await open(String(shadowUrl));
      const dispose = shadow.dispose.bind(shadow);
      shadow.dispose = async () => {
        await dispose();
        await admin.executeScript(`DROP DATABASE "${name}" WITH (FORCE)`);
        await admin.dispose();
      };
      return shadow;
    },
  };
}

/** The engine names an error of a driver only by a number; this finds the error itself again. */
function explain(error, errorRegistry) {
  const id = /External error id#(\d+)/.exec(error.message)?.[1];
  return (id !== undefined && errorRegistry.consumeError(Number(id))?.error) || error;
}

/**
 * Opens the engine on one database and returns a function that calls its methods.
 * @param {string} url `file:…` or `postgresql://…`
 * @param {{ path: string, content: string }[]} schema the schema files the engine should know, if any
 */
export async function openSchemaEngine(url, schema = []) {
  const { bindMigrationAwareSqlAdapterFactory } = await import('@prisma/driver-adapter-utils');
  const bindings = await loadModule();
  const factory = bindMigrationAwareSqlAdapterFactory(
    isPostgresql(url) ? await postgresqlFactory(url) : await sqliteFactory(url),
  );
  const datamodels = schema.length > 0 ? schema.map(({ path, content }) => [path, content]) : undefined;
  const attempt = async (work) => {
    try {
      return await work();
    } catch (error) {
      throw explain(error, factory.errorRegistry);
    }
  };
  const engine = await attempt(() => bindings.SchemaEngine.new({ datamodels }, () => {}, factory));
  return (method, params) => attempt(() => engine[method](params));
}
