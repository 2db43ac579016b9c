import { readFile } from 'node:fs/promises';
import path from 'node:path';
import { describe, expect, it } from 'vitest';
import { type LoadedModules, packageOf, watchModules } from '../../support/loaded-modules.js';
import { openedInTest } from '../../support/opened.js';
import { compiledTree, type ServiceProcess, spawnService } from '../../support/service-process.js';
import { until } from '../../support/until.js';

/** The packages of a default start, one a line. `npm test -- test/app/wiring/start-modules.system.test.ts --update` writes it. */
const PACKAGES = path.join(import.meta.dirname, 'start-packages.txt');

/** Parts of the service that a default start does not need: each makes every start slower, and takes memory. */
const OPTIONAL: Readonly<Record<string, RegExp>> = {
  ClickHouse:
    /^node_modules\/@clickhouse\/|^packages\/(?:clickhouse-tables|events-clickhouse)\/|^src\/observe\/events\/spool\//,
  Redis: /^node_modules\/@redis\/|^packages\/memory-redis\//,
  Kafka: /^node_modules\/@platformatic\/|^packages\/kafka-producer\/|^src\/observe\/events\/sinks\/kafka-/,
  Parquet:
    /^node_modules\/hyparquet|^packages\/(?:parquet-log|versioned-files)\/|^src\/observe\/events\/sinks\/parquet-/,
  S3: /^node_modules\/(?:aws4fetch|@rgrove)\/|^packages\/s3-files\//,
  'events over HTTP': /^src\/observe\/events\/sinks\/(?:http-|formats\/http-)/,
  'events over OTLP': /^src\/observe\/events\/sinks\/otlp-/,
  // prom-client loads the API, which does nothing without the others.
  OpenTelemetry: /^node_modules\/@opentelemetry\/(?!api\/)|^src\/app\/telemetry\/otlp/,
  'bearer tokens': /^node_modules\/oauth4webapi\/|^src\/serve\/auth\/(?:bearer-tokens|issuer-)/,
  'login at the issuer': /^src\/serve\/session\/(?:issuer-login(?!-paths)|login-flow)/,
  'signatures of tokens': /^node_modules\/jose\//,
  'files of pages': /^node_modules\/(?:@fastify\/(?:send|static)|swagger-ui-dist)\/(?!package\.json)/,
  'compilers of schemas': /^node_modules\/(?:ajv|@fastify\/(?:ajv|fast-json-stringify)-compiler)\//,
  PostgreSQL:
    /^node_modules\/(?:pg|@prisma\/adapter-pg)\/|^gen\/prisma\/postgresql\/|\/src\/storage\/database\/.*postgres/,
  'the endpoint of vendor.model': /^node_modules\/cockatiel\//,
  'telephone numbers': /^node_modules\/libphonenumber-js\//,
  'the general SQL parser': /^node_modules\/@guanmingchiu\//,
  'readable log lines': /^node_modules\/pino-pretty\//,
  'several processes': /^src\/app\/cluster\//,
  commands: /^src\/app\/.*commands/,
};

describe('a start', () => {
  const processes = openedInTest<ServiceProcess>((one) => one.dispose());

  /** Resolves when the service is ready. */
  async function start(environment: Record<string, string> = {}) {
    let modules: LoadedModules | undefined;
    const all: Record<string, string> = { SERVICE_LOG_JSON: 'true', ...environment };
    const service = await spawnService(compiledTree, {
      environment: all,
      async prepare(directory) {
        modules = watchModules(path.join(directory, 'modules.txt'), compiledTree.main);
        Object.assign(all, modules.environment);
      },
    });
    processes.push(service);
    const url = await service.listening();
    const { status } = await fetch(`${url}/ready`);
    expect(status).toBe(200);
    const read = () => (modules as LoadedModules).read();
    return { url, read, parts: async () => partsOf(await read()) };
  }

  it('with the defaults loads the packages of the list, and no optional part', async () => {
    const { read } = await start();
    const importers = await read();
    expect(partsOf(importers)).toEqual({});
    const packages = packagesOf(importers);
    const listed = new Set((await readFile(PACKAGES, 'utf8').catch(() => '')).split('\n'));
    const added = [...packages].filter(([name]) => !listed.has(name));
    // Load it where it is used for the first time, or, if each start needs it, add it to the list.
    expect.soft(added.map(([name, importer]) => `${name}, which ${importer} imports`)).toEqual([]);
    await expect(`${[...packages.keys()].join('\n')}\n`).toMatchFileSnapshot(PACKAGES);
  });

  it('loads what is used, at its first use', async () => {
    const { url, parts } = await start({
      SERVICE_API_KEY_ENABLED: 'true',
      SERVICE_API_KEYS: 'a-key-of-16-char',
    });
    expect(await parts()).toEqual({});
    expect((await fetch(`${url}/docs/swagger-ui.css`)).status).toBe(200);
    expect(Object.keys(await parts())).toEqual(['files of pages']);
    expect((await fetch(`${url}/openapi.json`)).status).toBe(200);
    const login = { api_key: 'a-key-of-16-char' };
    const headers = { 'content-type': 'application/json' };
    const { status } = await fetch(`${url}/api/login`, {
      method: 'POST',
      headers,
      body: JSON.stringify(login),
    });
    expect(status).toBe(200);
    const used = ['signatures of tokens', 'files of pages'];
    expect(Object.keys(await parts())).toEqual(used);
  });

  it('loads what is switched on before it serves', async () => {
    // Nothing listens there, and no start waits for it.
    const nowhere = 'http://127.0.0.1:9';
    const { read, parts } = await start({
      SERVICE_LOG_JSON: 'false',
      SERVICE_API_KEY_ENABLED: 'true',
      SERVICE_OIDC_ISSUER: nowhere,
      SERVICE_OIDC_AUDIENCE: 'service',
      SERVICE_OIDC_ADMIN_ROLES: 'admin',
      SERVICE_OTLP_ENDPOINT: nowhere,
      SERVICE_OTLP_SIGNALS: 'traces,metrics,events',
      SERVICE_EVENT_KAFKA_BROKERS: '127.0.0.1:9',
      SERVICE_EVENT_HTTP_URL: nowhere,
      SERVICE_EVENT_PARQUET: 'parquet',
      VENDOR_API_KEY: 'some-key',
      VENDOR_API_URL: nowhere,
    });
    await until(parts, (now) => Object.keys(now).length >= 10);
    expect(new Set(Object.keys(partsOf(await read())))).toEqual(
      new Set([
        ...['Kafka', 'Parquet', 'events over HTTP', 'events over OTLP', 'OpenTelemetry', 'bearer tokens'],
        ...[
          'login at the issuer',
          'signatures of tokens',
          'the endpoint of vendor.model',
          'readable log lines',
        ],
      ]),
    );
  });
});

/** The first module of each optional part that was loaded, and its importer. */
function partsOf(importers: ReadonlyMap<string, string>): Record<string, string> {
  const found: Record<string, string> = {};
  for (const [part, pattern] of Object.entries(OPTIONAL)) {
    const module = [...importers].find(([name]) => pattern.test(name));
    if (module !== undefined) found[part] = `${module[0]}, which ${module[1]} imports`;
  }
  return found;
}

/** The packages in order, and the first importer of each that is no part of it. */
function packagesOf(importers: ReadonlyMap<string, string>): Map<string, string> {
  const packages = new Map<string, string>();
  for (const [name, importer] of importers) {
    const found = packageOf(name);
    if (found !== undefined && !packages.has(found)) packages.set(found, importer);
  }
  return new Map([...packages].sort(([a], [b]) => (a < b ? -1 : 1)));
}
