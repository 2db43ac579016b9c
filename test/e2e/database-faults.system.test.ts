import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import {
  beginWriting,
  openSqliteConnection,
  type SqliteConnection,
} from '../../src/storage/database/sqlite-connection.js';
import { createTestDatabase, runOn, type TestDatabase } from '../support/databases.js';
import { type RestClient, restClient } from '../support/http.js';
import { metric, parseMetrics } from '../support/prometheus.js';
import { problem } from '../support/refusals.js';
import { denyWord, evaluate, seeder } from '../support/seed.js';
import { startService, type TestService } from '../support/service.js';
import { startTcpProxy, type TcpProxy } from '../support/tcp-proxy.js';
import { until } from '../support/until.js';

const AGENT = 'loaded-agent-1';
/** Evaluations at the same time while the database is in trouble. */
const BURST = 200;

/** The loaded agent is evaluated `BURST` times at once; every verdict must be one. */
async function evaluations(call: RestClient, word: string, isSafe: boolean): Promise<void> {
  const replies = await Promise.all(Array.from({ length: BURST }, () => evaluate(call, AGENT, word)));
  for (const { status, body } of replies)
    expect({ status, safe: body.is_safe }).toEqual({ status: 200, safe: isSafe });
}

/** Everything a mutation writes, to tell that one left nothing behind. */
async function stored(call: RestClient) {
  const { body } = await call('GET', '/api/v1/controls?limit=100');
  const versions = await Promise.all(
    body.controls.map(async ({ id }: { id: number }) => [
      id,
      (await call('GET', `/api/v1/controls/${id}/versions?limit=100`)).body.pagination.total,
    ]),
  );
  return { controls: body.controls, versions };
}

describe('PostgreSQL in trouble', () => {
  let database: TestDatabase;
  /** Only roles that are no superusers are subject to the limit of connections. */
  let limitedUrl: string;
  let role: string;
  let proxy: TcpProxy;
  /** Between this one and the database is the network that fails. */
  let far: TestService;
  let near: TestService;
  let callFar: RestClient;
  let callNear: RestClient;
  let controlId: number;
  let words = 0;
  beforeAll(async () => {
    database = await createTestDatabase('postgresql');
    const name = new URL(database.url).pathname.slice(1);
    role = `role_${name}`;
    await runOn(database.url, `CREATE ROLE ${role} LOGIN PASSWORD 'limited'`);
    await runOn(database.url, `ALTER DATABASE ${name} OWNER TO ${role}`);
    const limited = new URL(database.url);
    limited.username = role;
    limited.password = 'limited';
    limitedUrl = String(limited);
    proxy = await startTcpProxy(limitedUrl);
    near = await startService({ DATABASE_URL: database.url });
    await runOn(database.url, `GRANT ALL ON ALL TABLES IN SCHEMA public TO ${role}`);
    await runOn(database.url, `GRANT ALL ON ALL SEQUENCES IN SCHEMA public TO ${role}`);
    far = await startService({ DATABASE_URL: proxy.url });
    callFar = restClient(far.url);
    callNear = restClient(near.url);
    const seed = seeder(callNear);
    await seed.agent(AGENT);
    await seed.agent('stored-agent-1');
    controlId = await seed.control('loaded', denyWord('word-0'));
    await seed.link(AGENT, controlId);
    await until(
      () => evaluate(callFar, AGENT, 'word-0'),
      ({ body }) => body.is_safe === false,
    );
  });
  afterAll(async () => {
    await proxy.set('clear');
    await far.stop();
    await near.stop();
    await proxy.close();
    await runOn(database.url, `DROP OWNED BY ${role} CASCADE`);
    await database.drop();
    await runOn(process.env.TEST_DATABASE_URL ?? '', `DROP ROLE ${role}`);
  });

  const change = (call: RestClient, word: string) =>
    call('PUT', `/api/v1/controls/${controlId}/data`, { data: denyWord(word) });

  const troubles: [name: string, begin: () => Promise<void> | void, end: () => Promise<void> | void][] = [
    ['that does not answer', () => proxy.set('pause'), () => proxy.set('clear')],
    [
      'that cannot be reached',
      async () => {
        await proxy.set('refuse');
        proxy.cut();
      },
      () => proxy.set('clear'),
    ],
    [
      'that admits no more connections',
      async () => {
        const { pathname } = new URL(database.url);
        await runOn(database.url, `ALTER DATABASE ${pathname.slice(1)} CONNECTION LIMIT 0`);
        await runOn(
          database.url,
          `SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE usename = '${role}'`,
        );
      },
      () =>
        runOn(database.url, `ALTER DATABASE ${new URL(database.url).pathname.slice(1)} CONNECTION LIMIT -1`),
    ],
  ];

  describe.each(troubles)('%s', (_name, begin, end) => {
    it('leaves loaded agents alone, refuses changes, and needs no restart', async () => {
      const [old, next, refused] = [`word-${words}`, `word-${words + 1}`, `refused-${words}`];
      words += 1;
      await evaluations(callFar, old, false);
      await begin();
      const mutation = change(callFar, refused);
      const creation = callFar('PUT', '/api/v1/controls', { name: refused, data: denyWord('x') });
      const unknown = evaluate(callFar, 'stored-agent-1', 'x');
      // They are answered while the ones above wait.
      await evaluations(callFar, old, false);
      for (const reply of await Promise.all([mutation, creation])) {
        expect(reply).toMatchObject(problem(503, 'SERVICE_UNAVAILABLE'));
        expect(reply.headers.get('retry-after')).toBe('1');
      }
      expect([200, 503]).toContain((await unknown).status);
      const before = await stored(callNear);
      expect((await change(callNear, next)).status).toBe(200);
      await evaluations(callFar, 'harmless', true);
      await end();
      // The change that was made elsewhere in the meantime arrives, and new ones can be made here.
      await until(
        () => evaluate(callFar, AGENT, next),
        ({ body }) => body.is_safe === false,
      );
      const after = await stored(callNear);
      expect(after.controls).toHaveLength(before.controls.length);
      const done = await until(
        () => callFar('PATCH', `/api/v1/controls/${controlId}`, { name: `after-${words}` }),
        ({ status }) => status !== 503,
      );
      expect(done.status).toBe(200);
      await until(
        () => evaluate(callNear, AGENT, next),
        ({ body }) => body.matches?.[0]?.control_name === `after-${words}`,
      );
      const health = await until(
        () => callFar('GET', '/health'),
        ({ body }) => body.database === 'up',
      );
      expect(health.body.revision).toBeGreaterThanOrEqual(Number(done.headers.get('x-service-revision')));
      // What was refused was never done, not even later.
      const last = await stored(callNear);
      expect(JSON.stringify(last)).not.toContain(refused);
      expect(last.controls).toHaveLength(before.controls.length);
      expect((await evaluate(callFar, AGENT, refused)).body.is_safe).toBe(true);
    });
  });

  it('whose connections the network forgot is reached over new ones', async () => {
    const old = `word-${words}`;
    words += 1;
    const next = `word-${words}`;
    // Several connections are open and idle.
    await Promise.all(Array.from({ length: 8 }, () => callFar('GET', '/api/v1/controls')));
    proxy.forget();
    const mutation = change(callFar, next);
    await evaluations(callFar, old, false);
    // It went over a connection that is dead.
    expect((await mutation).status).toBe(503);
    const done = await until(
      () => change(callFar, next),
      ({ status }) => status !== 503,
    );
    expect(done.status).toBe(200);
    await evaluations(callFar, next, false);
    words += 1;
    expect((await change(callNear, `word-${words}`)).status).toBe(200);
    await until(
      () => evaluate(callFar, AGENT, `word-${words}`),
      ({ body }) => body.is_safe === false,
    );
  });

  it('that is slow makes changes slow, and nothing else', async () => {
    proxy.delay(20);
    const mutation = change(callFar, 'slow');
    await evaluations(callFar, 'harmless', true);
    expect((await mutation).status).toBe(200);
    expect((await evaluate(callFar, AGENT, 'slow')).body.is_safe).toBe(false);
    proxy.delay(0);
  });
});

describe('a limit of staleness', () => {
  let database: TestDatabase;
  let proxy: TcpProxy;
  let service: TestService;
  let call: RestClient;
  beforeAll(async () => {
    database = await createTestDatabase('postgresql');
    proxy = await startTcpProxy(database.url);
    service = await startService({ DATABASE_URL: proxy.url, SERVICE_MAX_STALENESS_SECONDS: '2' });
    call = restClient(service.url);
    const seed = seeder(call);
    await seed.linked(AGENT, 'loaded');
    await decides();
  });
  afterAll(async () => {
    await proxy.set('clear');
    await service.stop();
    await proxy.close();
    await database.drop();
  });

  /** On a busy machine controls may be too old for a moment. */
  async function decides(): Promise<void> {
    const reply = await until(
      () => evaluate(call, AGENT, 'bad'),
      ({ status }) => status === 200,
    );
    expect(reply.body.is_safe).toBe(false);
  }
  const staleness = async () =>
    metric(
      parseMetrics((await call('GET', '/metrics')).body),
      'control_enforcement_server_snapshot_staleness_seconds',
    );

  it('refuses to decide by controls that may be older, reports it, and decides again by itself', async () => {
    await until(staleness, (seconds) => seconds < 2);
    await proxy.set('pause');
    const refused = await until(
      () => evaluate(call, AGENT, 'bad'),
      ({ status }) => status !== 200,
    );
    expect(refused).toMatchObject(problem(503, 'SERVICE_UNAVAILABLE'));
    expect(refused.body.detail).toMatch(/ s old, more than the 2 s of SERVICE_MAX_STALENESS_SECONDS/);
    expect(refused.headers.get('retry-after')).toBe('1');
    expect(await staleness()).toBeGreaterThan(2);
    await proxy.set('clear');
    await decides();
    await until(staleness, (seconds) => seconds < 2);
  });
});

describe('SQLite that another process has locked', () => {
  let database: TestDatabase;
  let service: TestService;
  let call: RestClient;
  let other: SqliteConnection;
  beforeAll(async () => {
    database = await createTestDatabase('sqlite');
    service = await startService({ DATABASE_URL: database.url });
    call = restClient(service.url);
    const seed = seeder(call);
    await seed.linked(AGENT, 'loaded');
    expect((await evaluate(call, AGENT, 'bad')).body.is_safe).toBe(false);
    other = openSqliteConnection(database.url.slice('file:'.length), 'writer');
  });
  afterAll(async () => {
    other.close();
    await service.stop();
    await database.drop();
  });

  it('is no trouble for loaded agents; changes wait, and are refused when it takes too long', async () => {
    await beginWriting(other, 1_000);
    const mutation = call('PUT', '/api/v1/controls', { name: 'refused', data: denyWord('x') });
    await evaluations(call, 'bad', false);
    expect(await mutation).toMatchObject(problem(503, 'SERVICE_UNAVAILABLE'));
    // It may wait for some seconds, in which a busy machine may not get to the end of the evaluations.
    for (let status = 0; status !== 200; await beginWriting(other, 1_000)) {
      const waiting = call('PUT', '/api/v1/controls', { name: 'waited', data: denyWord('x') });
      await evaluations(call, 'bad', false);
      other.executeScript('COMMIT');
      ({ status } = await waiting);
      expect([200, 503]).toContain(status);
    }
    other.executeScript('ROLLBACK');
    const { body } = await call('GET', '/api/v1/controls');
    expect(body.controls.map(({ name }: { name: string }) => name)).toEqual(['waited', 'loaded']);
  });
});
