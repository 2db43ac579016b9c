import { open } from 'node:fs/promises';
import path from 'node:path';
import { createClient } from '@connectrpc/connect';
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it, onTestFinished } from 'vitest';
import {
  Health,
  HealthCheckResponse_ServingStatus as Status,
} from '../../gen/proto/grpc/health/v1/health_pb.js';
import { type PostgresServer, startPostgresServer } from '../../scripts/postgres-server.mjs';
import { openDatabase } from '../../src/storage/database/database.js';
import { createTestDatabase, runOn, type TestDatabase } from '../support/databases.js';
import { type RestClient, restClient } from '../support/http.js';
import { metric, parseMetrics } from '../support/prometheus.js';
import { problem } from '../support/refusals.js';
import { RPC_PROTOCOLS, rpcTransport } from '../support/rpc-transports.js';
import { evaluate, seeder } from '../support/seed.js';
import { startService, type TestService } from '../support/service.js';
import { queryRow } from '../support/sql.js';
import { startTcpProxy, type TcpProxy } from '../support/tcp-proxy.js';
import { until } from '../support/until.js';
import { event } from './events.support.js';

const AGENT = 'loaded-agent-1';

/** Waits until every protocol reports that a service is serving, or that it is not. */
async function expectServing(url: string, service: string, expected: boolean): Promise<void> {
  const name = service === '' ? '' : `enforcement.v1.${service}`;
  const wanted = expected ? Status.SERVING : Status.NOT_SERVING;
  const clients = RPC_PROTOCOLS.map((protocol) => createClient(Health, rpcTransport(protocol, url)));
  // The database and its storage are watched separately, and become available one after the other.
  const statuses = await until(
    () => Promise.all(clients.map(async (client) => (await client.check({ service: name })).status)),
    (found) => found.every((status) => status === wanted),
  );
  expect({ service, statuses }).toEqual({ service, statuses: clients.map(() => wanted) });
}

/** A service with a loaded agent, which denies the word `bad`. */
async function startLoaded(databaseUrl: string) {
  const service = await startService({ DATABASE_URL: databaseUrl });
  const call = restClient(service.url);
  const seed = seeder(call);
  await seed.linked(AGENT, 'denies');
  expect((await evaluate(call, AGENT, 'bad')).body.is_safe).toBe(false);
  return { service, call };
}

async function expectTold(service: TestService, call: RestClient, state: string): Promise<void> {
  const ready = await until(
    () => call('GET', '/ready'),
    ({ body }) => body.storage === state,
  );
  expect(ready.status).toBe(state === 'OK' || state === 'DOWN' ? 200 : 503);
  // On a busy machine, the storage may also be down for a moment.
  const health = await until(
    () => call('GET', '/health'),
    ({ body }) => body.storage === state,
  );
  expect(health.body).toMatchObject({ status: 'healthy' });
  await until(
    async () => parseMetrics((await call('GET', '/metrics')).body),
    (samples) => metric(samples, 'control_enforcement_server_storage_state', { state }) === 1,
  );
  await expectServing(service.url, '', true);
  await expectServing(service.url, 'EvaluationService', true);
  await expectServing(service.url, 'EvaluatorService', true);
  await expectServing(service.url, 'ControlService', state === 'OK');
  expect((await evaluate(call, AGENT, 'bad')).body).toMatchObject({ is_safe: false, errors: [] });
}

const policy = (call: RestClient, name: string) => call('PUT', '/api/v1/policies', { name });

/** Nothing can be stored, and nothing is acknowledged. */
async function expectRefused(call: RestClient, detail: RegExp): Promise<void> {
  const refused = await policy(call, 'refused');
  expect(refused).toMatchObject(problem(503, 'SERVICE_UNAVAILABLE'));
  expect(refused.body.detail).toMatch(detail);
  const events = await call('POST', '/api/v1/observability/events', {
    events: [event({ control_execution_id: 'refused' })],
  });
  expect([events.status, events.body.enqueued ?? 0]).toEqual([expect.toBeOneOf([202, 503]), 0]);
}

describe('a PostgreSQL database that goes wrong', () => {
  let database: TestDatabase;
  let name: string;
  let service: TestService;
  let call: RestClient;
  beforeEach(async () => {
    database = await createTestDatabase('postgresql');
    name = new URL(database.url).pathname.slice(1);
    ({ service, call } = await startLoaded(database.url));
  });
  afterEach(async () => {
    await service.stop();
    await database.drop();
  });
  const server = (sql: string) => runOn(process.env.TEST_DATABASE_URL ?? '', sql);
  const cut = (of: string) =>
    server(`SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE datname = '${of}'`);

  async function goesOn(): Promise<void> {
    await expectTold(service, call, 'OK');
    expect((await policy(call, 'again')).status).toBe(200);
  }

  it('because it is read-only: reports it, and continues when it is not any more', async () => {
    await server(`ALTER DATABASE ${name} SET default_transaction_read_only = on`);
    await cut(name);
    await expectTold(service, call, 'READONLY');
    await expectRefused(call, /read-only/);
    await server(`ALTER DATABASE ${name} SET default_transaction_read_only = off`);
    await cut(name);
    await goesOn();
  });

  it('because its disk is full: reports it, and continues when there is space', async () => {
    // The server itself answers with its error for a full disk.
    await runOn(
      database.url,
      `CREATE FUNCTION disk_full() RETURNS trigger LANGUAGE plpgsql AS
           $$ BEGIN RAISE EXCEPTION 'could not extend file: No space left on device' USING ERRCODE = '53100'; END $$;
         CREATE TRIGGER full_probe BEFORE UPDATE ON storage_probe FOR EACH ROW EXECUTE FUNCTION disk_full();
         CREATE TRIGGER full_policies BEFORE INSERT ON policies FOR EACH ROW EXECUTE FUNCTION disk_full();
         CREATE TRIGGER full_events BEFORE INSERT ON events FOR EACH ROW EXECUTE FUNCTION disk_full()`,
    );
    await expectTold(service, call, 'NOSPACE');
    await expectRefused(call, /disk of the database is full/);
    await runOn(database.url, 'DROP FUNCTION disk_full CASCADE');
    await goesOn();
  });

  it.each(['an empty one', 'another one'])(
    'because %s has its address: refuses changes, evaluates by what it has loaded, and continues with the right one',
    async (what) => {
      const hidden = `${name}_hidden`;
      const swap = async (from: string, to: string) => {
        await server(`ALTER DATABASE ${from} WITH ALLOW_CONNECTIONS false`);
        await cut(from);
        await server(`ALTER DATABASE ${from} RENAME TO ${to}`);
        await server(`ALTER DATABASE ${to} WITH ALLOW_CONNECTIONS true`);
      };
      await swap(name, hidden);
      await server(`CREATE DATABASE ${name} TEMPLATE template0`);
      if (what === 'another one') await (await openDatabase({ url: database.url })).close();
      await expectTold(service, call, 'REPLACED');
      await expectRefused(call, /not the one that was opened/);
      await server(`DROP DATABASE ${name} WITH (FORCE)`);
      await swap(hidden, name);
      await goesOn();
    },
  );
});

describe('a PostgreSQL database with a damaged table', () => {
  let postgres: PostgresServer;
  beforeAll(async () => {
    postgres = await startPostgresServer();
  });
  afterAll(() => postgres.stop());

  it('is reported, and takes no changes', async () => {
    const { service, call } = await startLoaded(postgres.url);
    onTestFinished(() => service.stop());
    const [file] = await queryRow(
      postgres.url,
      `SELECT current_setting('data_directory') || '/' || pg_relation_filepath('policies')`,
    );
    expect((await policy(call, 'first')).status).toBe(200);
    await postgres.pause();
    const handle = await open(path.normalize(String(file)), 'r+');
    await handle.write(Buffer.alloc(4096, 0xa5), 0, 4096, 0);
    await handle.close();
    await postgres.resume();
    // Whatever reads the table finds out. A server counts as damaged for a minute: reads go on, on a slow machine as well.
    const reading = new AbortController();
    const reads = (async () => {
      while (!reading.signal.aborted) await call('GET', '/api/v1/policies');
    })();
    await expectTold(service, call, 'CORRUPT');
    await expectRefused(call, /damaged/);
    reading.abort();
    await reads;
  });
});

describe('while PostgreSQL is down', () => {
  let database: TestDatabase;
  let proxy: TcpProxy;
  let service: TestService;
  let call: RestClient;
  beforeAll(async () => {
    database = await createTestDatabase('postgresql');
    proxy = await startTcpProxy(database.url);
    const near = await startLoaded(database.url);
    await near.service.stop();
    service = await startService({ DATABASE_URL: proxy.url });
    call = restClient(service.url);
  });
  afterAll(async () => {
    await proxy.set('clear');
    await service.stop();
    await proxy.close();
    await database.drop();
  });

  const down = async () => {
    await proxy.set('refuse');
    proxy.cut();
    await until(
      () => call('GET', '/health'),
      ({ body }) => body.database === 'down' && body.storage === 'DOWN',
    );
  };
  const up = async () => {
    await proxy.set('clear');
    await until(
      () => call('GET', '/ready'),
      ({ body }) => body.database === 'up' && body.storage === 'OK',
    );
  };

  it('a process that has loaded nothing reports that it can evaluate nothing, over every protocol', async () => {
    await down();
    const reason = 'the database does not answer, and no agent is loaded';
    expect(await call('GET', '/health')).toMatchObject({
      status: 200,
      body: { status: 'unhealthy', reason },
    });
    expect(await call('GET', '/ready')).toMatchObject({
      status: 503,
      body: { status: 'not_ready', reason, storage: 'DOWN' },
    });
    for (const name of ['', 'EvaluationService', 'AgentService'])
      await expectServing(service.url, name, false);
    await expectServing(service.url, 'TemplateService', true);
    expect((await evaluate(call, AGENT, 'bad')).status).toBe(503);
    await up();
    expect((await call('GET', '/health')).body.status).toBe('healthy');
  });

  it('a process that has loaded an agent serves it, is ready, and reports the rest to watchers', async () => {
    expect((await evaluate(call, AGENT, 'bad')).body.is_safe).toBe(false);
    const client = createClient(Health, rpcTransport('gRPC', service.url));
    const stop = new AbortController();
    const seen: Record<string, Status[]> = { EvaluationService: [], ControlService: [] };
    const watching = Object.entries(seen).map(async ([name, statuses]) => {
      const stream = client.watch({ service: `enforcement.v1.${name}` }, { signal: stop.signal });
      for await (const { status } of stream) statuses.push(status);
    });
    await until(
      () => Object.values(seen).every(({ length }) => length > 0),
      (all) => all,
    );
    await down();
    await expectTold(service, call, 'DOWN');
    await up();
    await until(
      () => seen.ControlService ?? [],
      ({ length }) => length === 3,
    );
    expect(seen).toEqual({
      EvaluationService: [Status.SERVING],
      ControlService: [Status.SERVING, Status.NOT_SERVING, Status.SERVING],
    });
    stop.abort();
    await Promise.allSettled(watching);
  });
});
