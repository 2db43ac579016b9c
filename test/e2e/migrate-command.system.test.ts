import { describe, expect, it, onTestFinished } from 'vitest';
import { openDatabase } from '../../src/storage/database/database.js';
import { parseDatabaseUrl } from '../../src/storage/database/database-url.js';
import { migrate } from '../../src/storage/database/migrate.js';
import { readMigrations } from '../../src/storage/database/migration-files.js';
import { createTestDatabase, describeOnEachEmptyDatabase } from '../support/databases.js';
import { restClient } from '../support/http.js';
import { openedInSuite } from '../support/opened.js';
import { evaluate, seeder } from '../support/seed.js';
import { compiled, type ServiceProcess, spawnService } from '../support/service-process.js';
import { queryRow } from '../support/sql.js';
import { until } from '../support/until.js';
import { event } from './events.support.js';
import { createRoles, LATER, nextRelease } from './migrations.support.js';

const running = openedInSuite<ServiceProcess>((one) => one.dispose());

async function start(environment: Record<string, string>, words: readonly string[] = [], service = compiled) {
  const one = await spawnService(service, { environment, arguments: words });
  running.push(one);
  return one;
}

async function run(environment: Record<string, string>, words: readonly string[], service = compiled) {
  const one = await start(environment, words, service);
  const { code } = await one.ended;
  return { code, text: one.stdout().trim(), problem: one.stderr().trim() };
}

describeOnEachEmptyDatabase('The command migrate', (freshDatabaseUrl, kind) => {
  const names = readMigrations(kind).map(({ name }) => name);

  it('applies what is missing; with --check it names it and changes nothing', async () => {
    const DATABASE_URL = await freshDatabaseUrl();
    const settings = { DATABASE_URL, SERVICE_MIGRATE: 'check' };
    const missing = {
      code: 3,
      text: expect.stringMatching(
        new RegExp(`lacks ${names.length} migrations: ${names.join(', ')}\\. Run the command "migrate"`),
      ),
    };
    expect(await run(settings, ['migrate', '--check'])).toMatchObject(missing);
    const refused = await start(settings);
    expect((await refused.ended).code).toBe(1);
    expect(refused.stdout()).toMatch(
      /the service cannot start: The database lacks \d+ migrations .*SERVICE_MIGRATE=check/,
    );

    // Two at once: one of them does it.
    const both = await Promise.all([run(settings, ['migrate']), run(settings, ['migrate'])]);
    expect(both.map(({ code }) => code)).toEqual([0, 0]);
    expect(
      both.map(({ text }) => text.replace(/(\w+) .*/, '$1')).filter((word) => word === 'Applied'),
    ).toEqual(['Applied']);
    expect(await run(settings, ['migrate', '--check'])).toEqual({
      code: 0,
      text: expect.stringMatching(/ has all migrations of this version\.$/),
      problem: '',
    });
    await (await start(settings)).listening();
  });
});

describe('The command migrate', () => {
  it('names a structure that is newer; creates no database where one must exist', async () => {
    const database = await createTestDatabase('sqlite', 'nothing');
    const settings = { DATABASE_URL: database.url, SERVICE_DATABASE_EXPECTED: 'existing' };
    expect(await run(settings, ['migrate'])).toMatchObject({
      code: 1,
      problem: expect.stringContaining('SERVICE_DATABASE_EXPECTED=existing does not let one be created'),
    });
    const location = parseDatabaseUrl(database.url);
    const known = readMigrations('sqlite');
    const later = (name: string, sql: string) => ({ name, sql, checksum: name });
    const adds = later(LATER, 'CREATE TABLE more (x INTEGER)');
    await openDatabase({ url: database.url }).then((opened) => opened.close());
    await migrate(location, [...known, adds]);
    expect(await run(settings, ['migrate', '--check'])).toMatchObject({
      code: 0,
      text: expect.stringContaining(`1 migration of a later version that this one can work with: ${LATER}.`),
    });
    await migrate(location, [...known, adds, later('99990102000000_drop', 'DROP TABLE agent_uses')]);
    expect(await run(settings, ['migrate', '--check'])).toMatchObject({
      code: 1,
      problem: expect.stringContaining('migration 99990102000000_drop is not known here'),
    });
    await database.drop();
  });
});

describe('A PostgreSQL user without the right to change the structure', () => {
  it('runs the service; migrations are applied by another user', async () => {
    const database = await createTestDatabase('postgresql', 'nothing');
    const roles = await createRoles(database.url);
    onTestFinished(() => roles.drop());
    onTestFinished(() => database.drop());
    const asUser = { DATABASE_URL: roles.user };
    const both = { ...asUser, SERVICE_MIGRATE_DB_URL: roles.owner };
    expect(await run(both, ['migrate'])).toMatchObject({ code: 0 });
    await roles.handOver();
    const service = await start({
      ...asUser,
      SERVICE_MIGRATE: 'check',
      SERVICE_OBSERVABILITY_RECORD: 'all',
      SERVICE_OBSERVABILITY_FLUSH_INTERVAL_SECONDS: '0.1',
    });
    const call = restClient(await service.listening());
    await mainJob(call);
    // It has begun its first table of events by then.
    const archive = () => queryRow(database.url, `SELECT to_regclass('event_archive') IS NOT NULL`);
    await until(archive, ([exists]) => exists === true);
    const metrics = String((await call('GET', '/metrics')).body);
    expect(metrics).toMatch(/_storage_transitions_total\{state="READONLY"[^}]*\} 0$/m);
    await service.dispose();
    // What the next release adds, by the command; nothing is missing afterwards.
    const next = await nextRelease();
    expect(await run(asUser, ['migrate', '--check'], next)).toMatchObject({ code: 3 });
    const denied = await run(asUser, ['migrate'], next);
    expect(denied).toMatchObject({
      code: 1,
      problem: expect.stringMatching(/has no right to change the structure .*SERVICE_MIGRATE_DB_URL/),
    });
    expect(denied.problem).not.toContain('password');
    expect(await run(both, ['migrate'], next)).toMatchObject({ code: 0 });
    for (const words of [['prune-events'], ['rebuild-statistics'], ['after-restore']]) {
      expect(await run(asUser, words, next)).toMatchObject({ code: 0, problem: '' });
    }
    const after = await start(asUser, [], next);
    await after.listening();
    await after.dispose();
    await next.remove();
  });

  it('is told when the other user has another database', async () => {
    const [database, other] = [
      await createTestDatabase('postgresql', 'nothing'),
      await createTestDatabase('postgresql', 'nothing'),
    ];
    await (await openDatabase({ url: other.url })).close();
    onTestFinished(() => other.drop());
    onTestFinished(() => database.drop());
    const settings = { DATABASE_URL: database.url, SERVICE_MIGRATE_DB_URL: other.url };
    expect(await run(settings, ['migrate'])).toMatchObject({
      code: 1,
      problem: expect.stringContaining('SERVICE_MIGRATE_DB_URL is the address of another database'),
    });
  });

  async function mainJob(call: ReturnType<typeof restClient>): Promise<void> {
    const seed = seeder(call);
    await seed.linked('ordinary-user-1', 'no-bad');
    expect((await evaluate(call, 'ordinary-user-1', 'bad')).body.is_safe).toBe(false);
    const events = [event({ control_execution_id: 'sent' })];
    expect((await call('POST', '/api/v1/observability/events', { events })).status).toBe(202);
    await until(
      () => call('POST', '/api/v1/observability/events/query', {}),
      ({ body }) => body.total === 2,
    );
    expect((await call('GET', '/api/v1/observability/stats?agent_name=ordinary-user-1')).status).toBe(200);
    expect((await call('DELETE', '/api/v1/controls/1?force=true')).status).toBe(200);
  }
});
