import { readFile, rm, writeFile } from 'node:fs/promises';
import { createClient } from '@connectrpc/connect';
import { afterAll, beforeAll, beforeEach, describe, expect, it, onTestFinished } from 'vitest';
import {
  Health,
  HealthCheckResponse_ServingStatus as Status,
} from '../../gen/proto/grpc/health/v1/health_pb.js';
import { type PostgresServer, startPostgresServer } from '../../scripts/postgres-server.mjs';
import { parseDatabaseUrl } from '../../src/storage/database/database-url.js';
import { inspectDatabase } from '../../src/storage/database/inspect-database.js';
import { workersOf } from '../app/cluster/support/workers.js';
import { problemsOf } from '../observe/problems/problems.support.js';
import { DATABASE_KINDS } from '../support/databases.js';
import { type RestClient, type RestReply, restClient } from '../support/http.js';
import { openedInTest } from '../support/opened.js';
import { metric, parseMetrics, type Sample } from '../support/prometheus.js';
import { rpcTransport } from '../support/rpc-transports.js';
import { denyWord, evaluate, seeder } from '../support/seed.js';
import { startService, type TestService } from '../support/service.js';
import { compiled, type ServiceProcess, spawnCommand, spawnService } from '../support/service-process.js';
import { executeSql } from '../support/sql.js';
import { until } from '../support/until.js';
import { askEverywhere, kept, type RemovableDatabase, removableDatabase } from './last-known-good.support.js';

const PREFIX = 'control_enforcement_server';
const AGENT = 'known-agent-1';
const HEADER = 'x-service-staleness-seconds';

const services = openedInTest<ServiceProcess>((one) => one.dispose());

async function spawned(environment: Record<string, string>) {
  const service = await spawnService(compiled, { environment });
  services.push(service);
  return service;
}

async function run(environment: Record<string, string>) {
  const service = await spawned(environment);
  const url = await service.listening();
  return { service, url, call: restClient(url) };
}

async function kill(service: ServiceProcess): Promise<void> {
  service.process.kill('SIGKILL');
  await service.ended;
}

const inThisProcess = openedInTest<TestService>((one) => one.stop());

/**
 * A service that comes before the one that is tested, or beside it. One of PostgreSQL runs in this process, which takes a
 * fraction of a start; a SQLite file that is moved away must not have been open in a process that goes on.
 */
async function ahead(environment: Readonly<Record<string, string>>) {
  if (parseDatabaseUrl(environment.DATABASE_URL ?? '').kind === 'sqlite') {
    const { service, call } = await run(environment);
    return { call, end: () => kill(service) };
  }
  const service = await startService(environment);
  inThisProcess.push(service);
  return { call: restClient(service.url), end: () => service.stop() };
}

const revisionOf = (reply: RestReply) => Number(reply.headers.get('x-service-revision'));
const metricsOf = async (url: string) => parseMetrics(await (await fetch(`${url}/metrics`)).text());
const healthOf = async (call: RestClient) => (await call('GET', '/health')).body;
const fromDatabase = (call: RestClient) =>
  until(
    () => healthOf(call),
    (health) => health.controls_from === 'database' && health.database === 'up',
  );
const lines = (service: ServiceProcess, pattern: RegExp) =>
  service
    .stdout()
    .split('\n')
    .filter((line) => pattern.test(line));

/** An agent with a control that denies `bad`, saved to the file by a service that then ends: killed if it is a process. */
async function seeded(database: RemovableDatabase): Promise<{ control: number; revision: number }> {
  const { call, end } = await ahead(database.environment);
  const seed = seeder(call);
  await seed.agent(AGENT);
  const control = await seed.control('no-bad');
  const linked = await call('POST', `/api/v1/agents/${AGENT}/controls/${control}`);
  await kept(database.file, revisionOf(linked));
  await end();
  return { control, revision: revisionOf(linked) };
}

describe.each(DATABASE_KINDS)('a start without a reachable database, %s', (kind) => {
  let database: RemovableDatabase;
  beforeEach(async () => {
    database = await removableDatabase(kind);
    return () => database.drop();
  });

  it('evaluates expressions that read metadata of the agent', async () => {
    const first = await ahead(database.environment);
    const seed = seeder(first.call);
    await seed.agent(AGENT, { agent: { agent_name: AGENT, agent_metadata: { team: 'red' } } });
    const evaluator = (team: string) => ({
      name: 'cel',
      config: { expression: `agent.metadata.team == '${team}' && input.contains('bad')` },
    });
    let last: RestReply | undefined;
    for (const team of ['red', 'blue']) {
      const condition = { selector: {}, evaluator: evaluator(team) };
      const id = await seed.control(`team-${team}`, denyWord('', { condition }));
      last = await first.call('POST', `/api/v1/agents/${AGENT}/controls/${id}`);
    }
    await kept(database.file, revisionOf(last as RestReply));
    await first.end();
    await database.takeAway();
    const { call } = await run(database.environment);
    const verdict = async (input: string) => {
      const { body } = await evaluate(call, AGENT, input);
      return [
        body.is_safe,
        body.errors,
        body.matches.map((one: { control_name: string }) => one.control_name),
      ];
    };
    expect(await verdict('bad')).toEqual([false, [], ['team-red']]);
    expect(await verdict('good')).toEqual([true, [], []]);
  });

  it('evaluates over every protocol, reports by what, refuses the rest, and recovers afterwards', async () => {
    const { control, revision } = await seeded(database);
    await database.takeAway();
    const { service, url, call } = await run(database.environment);
    expect(lines(service, /"level":40.*evaluating by the last known good controls/)).toHaveLength(1);

    for (const [input, isSafe] of [
      ['bad', false],
      ['good', true],
    ] as const) {
      for (const [how, said] of await askEverywhere(url, AGENT, input)) {
        expect({ how, ...said }).toMatchObject({ how, isSafe, status: null });
        expect(said.staleness.length).toBeGreaterThan(0);
        for (const seconds of said.staleness) expect(seconds).toBeGreaterThanOrEqual(0);
      }
    }
    expect(revisionOf(await evaluate(call, AGENT, 'bad'))).toBe(revision);
    for (const [how, said] of await askEverywhere(url, 'never-registered', 'bad')) {
      expect({ how, ...said }).toMatchObject({
        how,
        isSafe: null,
        status: expect.stringMatching(/SERVICE_UNAVAILABLE|cannot be reached/),
      });
    }
    for (const [method, path, body] of [
      ['PUT', '/api/v1/controls', { name: 'never-stored', data: denyWord('x') }],
      ['PATCH', `/api/v1/controls/${control}`, { enabled: false }],
      ['POST', '/api/v1/agents/initAgent', { agent: { agent_name: AGENT } }],
      ['GET', `/api/v1/agents/${AGENT}/controls`, undefined],
      ['GET', '/api/v1/controls', undefined],
      ['GET', '/api/v1/observability/stats?agent_name=known-agent-1', undefined],
    ] as const) {
      const reply = await call(method, path, body);
      expect({ path, status: reply.status }).toEqual({ path, status: 503 });
      expect(reply.body).toMatchObject({
        error_code: 'SERVICE_UNAVAILABLE',
        detail: expect.stringContaining('last known good controls'),
      });
      expect(reply.headers.get('retry-after')).toBe('1');
    }
    expect((await call('POST', '/api/v1/controls/validate', { data: denyWord('x') })).status).toBe(200);

    const facts = { database: 'down', controls_from: 'last_known_good', revision };
    for (const [path, status] of [
      ['/health', 'healthy'],
      ['/ready', 'ready'],
    ] as const) {
      const reply = await call('GET', path);
      expect(reply).toMatchObject({ status: 200, body: { status, ...facts } });
      expect(reply.body.controls_age_seconds).toBeGreaterThanOrEqual(0);
    }
    const health = createClient(Health, rpcTransport('gRPC', url));
    for (const name of ['', 'enforcement.v1.EvaluationService']) {
      expect((await health.check({ service: name })).status).toBe(Status.SERVING);
    }
    expect((await problemsOf(call)).problems.map(({ kind }) => kind)).toEqual([
      'database_down',
      'last_known_good',
    ]);
    const samples = await metricsOf(url);
    expect(metric(samples, `${PREFIX}_last_known_good_active`)).toBe(1);
    expect(metric(samples, `${PREFIX}_last_known_good_evaluations_total`)).toBeGreaterThan(20);
    expect(metric(samples, `${PREFIX}_database_up`)).toBe(0);
    expect(metric(samples, `${PREFIX}_snapshot_staleness_seconds`)).toBeGreaterThan(0);

    // All the time, also while it changes over.
    let isGoing = true;
    const failures: RestReply[] = [];
    const load = (async () => {
      for (let answered = 0; isGoing || answered < 10; answered += 1) {
        const reply = await evaluate(call, AGENT, 'bad');
        if (reply.status !== 200 || reply.body.is_safe !== false) failures.push(reply);
      }
    })();
    await database.bringBack();
    await fromDatabase(call);
    const back = await until(
      () => evaluate(call, AGENT, 'bad'),
      ({ headers }) => headers.get(HEADER) === null,
    );
    expect(back.body.is_safe).toBe(false);
    isGoing = false;
    await load;
    expect(failures).toEqual([]);
    expect(lines(service, /the database answers/)).toHaveLength(1);
    for (const [how, said] of await askEverywhere(url, AGENT, 'bad')) {
      expect({ how, isSafe: said.isSafe }).toEqual({ how, isSafe: false });
      for (const seconds of said.staleness) expect(seconds).toBeNull();
    }
    expect((await evaluate(call, 'never-registered', 'bad')).status).toBe(404);
    expect((await call('PUT', `/api/v1/controls/${control}/data`, { data: denyWord('worse') })).status).toBe(
      200,
    );
    expect((await evaluate(call, AGENT, 'bad')).body.is_safe).toBe(true);
    expect((await evaluate(call, AGENT, 'worse')).body.is_safe).toBe(false);
    expect((await call('GET', '/api/v1/controls')).body.pagination.total).toBe(1);
    await kept(database.file, revision + 1);
    expect(metric(await metricsOf(url), `${PREFIX}_last_known_good_active`)).toBe(0);
  });
});

// How the database is missing changes nothing of these.
describe.each(DATABASE_KINDS.slice(-1))('a start with the file and without a database, %s', (kind) => {
  let database: RemovableDatabase;
  beforeEach(async () => {
    database = await removableDatabase(kind);
    return () => database.drop();
  });

  it('decides by what others changed meanwhile as soon as the database is back', async () => {
    const { control, revision } = await seeded(database);
    await database.takeAway();
    const blind = await run(database.environment);
    expect((await evaluate(blind.call, AGENT, 'bad')).body.is_safe).toBe(false);
    const other = await ahead({ DATABASE_URL: database.ownUrl(), SERVICE_LAST_KNOWN_GOOD: 'off' });
    const seed = seeder(other.call);
    await other.call('PUT', `/api/v1/controls/${control}/data`, { data: denyWord('worse') });
    await seed.agent('agent-of-the-other');
    await other.end();
    expect((await evaluate(blind.call, AGENT, 'bad')).body.is_safe).toBe(false);
    expect((await evaluate(blind.call, 'agent-of-the-other', 'bad')).status).toBe(503);
    await database.bringBack();
    await fromDatabase(blind.call);
    const now = await until(
      () => evaluate(blind.call, AGENT, 'bad'),
      ({ headers }) => headers.get(HEADER) === null,
    );
    expect(now.body.is_safe).toBe(true);
    expect(revisionOf(now)).toBe(revision + 2);
    expect((await evaluate(blind.call, AGENT, 'worse')).body.is_safe).toBe(false);
    expect((await evaluate(blind.call, 'agent-of-the-other', 'bad')).status).toBe(200);
  });

  it('refuses to decide by controls that are too old', async () => {
    const { revision } = await seeded(database);
    await database.takeAway();
    const { call } = await run({ ...database.environment, SERVICE_MAX_STALENESS_SECONDS: '3600' });
    expect((await evaluate(call, AGENT, 'bad')).body.is_safe).toBe(false);
    const short = await run({ ...database.environment, SERVICE_MAX_STALENESS_SECONDS: '2' });
    const refused = await until(
      () => evaluate(short.call, AGENT, 'bad'),
      ({ status }) => status !== 200,
    );
    expect(refused).toMatchObject({
      status: 503,
      body: { detail: expect.stringContaining('SERVICE_MAX_STALENESS_SECONDS') },
    });
    expect(await healthOf(short.call)).toMatchObject({ controls_from: 'last_known_good', revision });
  });

  it('fails, as ever, when the file is damaged, and reports what is wrong with both', async () => {
    await seeded(database);
    const bytes = await readFile(database.file.path);
    await writeFile(database.file.path, bytes.subarray(0, bytes.length - 100));
    await database.takeAway();
    const service = await spawned(database.environment);
    expect(await service.ended).toEqual({ code: 1, signal: null });
    expect(lines(service, /"level":40.*last known good file cannot be used.*not complete/)).toHaveLength(1);
    expect(lines(service, /"level":60.*the service cannot start: .*database/)).toHaveLength(1);
  });

  it('takes two workers, which save the file once and take over from each other', async () => {
    const { control, revision } = await seeded(database);
    await database.takeAway();
    const { service, url, call } = await run({ ...database.environment, SERVICE_WORKERS: '2' });
    expect(lines(service, /"level":40.*evaluating by the last known good controls/)).toHaveLength(1);
    // Connections are dealt out in turn.
    for (let count = 0; count < 4; count += 1) {
      const reply = await fetch(`${url}/api/v1/evaluation`, {
        method: 'POST',
        headers: { 'content-type': 'application/json', connection: 'close' },
        body: JSON.stringify({
          agent_name: AGENT,
          stage: 'pre',
          step: { type: 'llm', name: 'answer', input: 'bad' },
        }),
      });
      expect(await reply.json()).toMatchObject({ is_safe: false });
      expect(reply.headers.get(HEADER)).not.toBeNull();
    }
    await database.bringBack();
    await until(
      () => metricsOf(url),
      (samples) => metric(samples, `${PREFIX}_database_up`) === 1,
    );
    const changed = await until(
      () => call('PUT', `/api/v1/controls/${control}/data`, { data: denyWord('worse') }),
      ({ status }) => status === 200,
    );
    expect(revisionOf(changed)).toBe(revision + 1);
    await kept(database.file, revision + 1);
    const saved = (samples: Sample[]) =>
      metric(samples, `${PREFIX}_last_known_good_saves_total`, { result: 'saved' });
    const revisionSaved = `${PREFIX}_last_known_good_revision`;
    const samples = await until(
      () => metricsOf(url),
      (all) => metric(all, revisionSaved) === revision + 1,
    );
    // Of the start and of the change, which may have come together.
    expect(saved(samples)).toBeLessThanOrEqual(2);
    const pids = await workersOf(service);
    for (const [round, pid] of pids.entries()) {
      process.kill(pid, 'SIGKILL');
      await until(
        () => workersOf(service),
        (now) => now.length === 2 && !now.includes(pid),
      );
      const next = await until(
        () => call('PUT', '/api/v1/policies', { name: `policy-${round}` }).catch(() => null),
        (reply) => reply?.status === 200,
      );
      await kept(database.file, revisionOf(next as RestReply));
    }
  });
});

describe('PostgreSQL that is stopped', () => {
  let postgres: PostgresServer;
  beforeAll(async () => {
    postgres = await startPostgresServer();
  });
  afterAll(() => postgres.stop());

  it('is not needed for a start, with the file at its usual place', async () => {
    const environment = { DATABASE_URL: postgres.url };
    const { service, url, call } = await run(environment);
    const seed = seeder(call);
    await seed.linked(AGENT, 'no-bad');
    await until(
      () => metricsOf(url),
      (samples) => metric(samples, `${PREFIX}_last_known_good_revision`) === 3,
    );
    await postgres.pause();
    await kill(service);
    const again = spawnCommand(process.execPath, [compiled.main], environment, service.directory);
    services.push(again);
    const next = restClient(await again.listening());
    expect((await evaluate(next, AGENT, 'bad')).body.is_safe).toBe(false);
    await postgres.resume();
    await fromDatabase(next);
    // A database that has just started may be too slow at first; what it was too slow for may be stored all the same.
    let attempts = 0;
    const stored = await until(
      () => {
        attempts += 1;
        return next('PUT', '/api/v1/policies', { name: `stored-${attempts}` });
      },
      ({ status }) => status !== 503,
    );
    expect(stored.status).toBe(200);
  });
});

// What a process has open of a SQLite file stays open, so only PostgreSQL can be taken from one that runs.
describe('an outage while the service runs, postgresql', () => {
  it('lets agents be evaluated that were not loaded, or were and had to make room', async () => {
    const database = await removableDatabase('postgresql');
    onTestFinished(() => database.drop());
    const { url, call } = await run({
      ...database.environment,
      SERVICE_SNAPSHOT_MAX_AGENTS: '1',
    });
    const seed = seeder(call);
    const control = await seed.control('no-bad');
    for (const name of ['stored-agent-1', 'stored-agent-2', 'loaded-agent-1']) {
      await seed.agent(name);
      await seed.link(name, control);
    }
    const { revision } = await healthOf(call);
    await kept(database.file, revision);
    expect((await evaluate(call, 'stored-agent-1', 'bad')).headers.get(HEADER)).toBeNull();
    // It makes room for this one.
    expect((await evaluate(call, 'loaded-agent-1', 'bad')).headers.get(HEADER)).toBeNull();
    await database.takeAway();
    await until(
      () => healthOf(call),
      ({ database: state }) => state === 'down',
    );
    expect((await evaluate(call, 'loaded-agent-1', 'bad')).headers.get(HEADER)).toBeNull();
    for (const name of ['stored-agent-1', 'stored-agent-2']) {
      const reply = await evaluate(call, name, 'bad');
      expect(reply).toMatchObject({ status: 200, body: { is_safe: false } });
      expect(Number(reply.headers.get(HEADER))).toBeGreaterThanOrEqual(0);
      expect(revisionOf(reply)).toBe(revision);
    }
    expect((await evaluate(call, 'never-registered', 'bad')).status).toBe(503);
    expect(metric(await metricsOf(url), `${PREFIX}_last_known_good_evaluations_total`)).toBe(2);
    await database.bringBack();
    await until(
      () => evaluate(call, 'stored-agent-2', 'bad'),
      ({ status, headers }) => status === 200 && headers.get(HEADER) === null,
    );
  });
});

describe.each(DATABASE_KINDS)('a database that is not the one that is expected, %s', (kind) => {
  let database: RemovableDatabase;
  beforeEach(async () => {
    database = await removableDatabase(kind);
    return () => database.drop();
  });

  it('is never created where one has to be there, and taken over when it comes', async () => {
    const { service, url, call } = await run({
      ...database.environment,
      SERVICE_DATABASE_EXPECTED: 'existing',
    });
    expect(lines(service, /"level":40.*there is no database of the service/)).toHaveLength(1);
    expect(await call('GET', '/ready')).toMatchObject({
      status: 503,
      body: { status: 'not_ready', reason: expect.stringContaining('SERVICE_DATABASE_EXPECTED') },
    });
    expect(await healthOf(call)).toMatchObject({ database: 'down', controls_from: 'nothing', revision: 0 });
    const health = createClient(Health, rpcTransport('gRPC', url));
    expect((await health.check({ service: '' })).status).toBe(Status.NOT_SERVING);
    expect((await evaluate(call, AGENT, 'bad')).status).toBe(503);
    expect((await call('POST', '/api/v1/agents/initAgent', { agent: { agent_name: AGENT } })).status).toBe(
      503,
    );

    // Another process creates it, as when a volume is mounted late.
    const other = await ahead({ DATABASE_URL: database.url, SERVICE_LAST_KNOWN_GOOD: 'off' });
    await seeder(other.call).agent(AGENT);
    await other.end();
    await fromDatabase(call);
    expect((await call('GET', '/ready')).status).toBe(200);
    expect((await health.check({ service: '' })).status).toBe(Status.SERVING);
    expect((await evaluate(call, AGENT, 'bad')).status).toBe(200);
    expect((await call('PUT', '/api/v1/policies', { name: 'stored' })).status).toBe(200);
  });

  it('is not created by a command either', async () => {
    const command = await spawnService(compiled, {
      environment: { DATABASE_URL: database.url, SERVICE_DATABASE_EXPECTED: 'existing' },
      arguments: ['after-restore'],
    });
    services.push(command);
    expect((await command.ended).code).toBe(1);
    expect(command.stderr()).toMatch(/cannot be advanced: there is no database/);
    expect(await inspectDatabase(parseDatabaseUrl(database.url))).toBe('nothing');
  });

  it('does not undo what was denied: it is not used until an operator accepts it', async () => {
    const { revision } = await seeded(database);
    const empty = await removableDatabase(kind);
    onTestFinished(() => empty.drop());
    const environment = { ...database.environment, DATABASE_URL: empty.url };
    const { service, call } = await run(environment);
    expect(lines(service, /"level":40.*not the one that .*delete that file/)).toHaveLength(1);
    // Before, the agent registered again here, and everything was safe.
    expect((await call('POST', '/api/v1/agents/initAgent', { agent: { agent_name: AGENT } })).status).toBe(
      503,
    );
    expect((await evaluate(call, AGENT, 'bad')).body.is_safe).toBe(false);
    expect(await call('GET', '/ready')).toMatchObject({
      status: 503,
      body: { reason: expect.stringContaining('not the one'), controls_from: 'last_known_good', revision },
    });
    await rm(database.file.path);
    await fromDatabase(call);
    expect((await evaluate(call, AGENT, 'bad')).status).toBe(404);
    const registered = await call('POST', '/api/v1/agents/initAgent', { agent: { agent_name: AGENT } });
    expect(registered.status).toBe(200);
    expect((await evaluate(call, AGENT, 'bad')).body.is_safe).toBe(true);
    // No revision that was told before is told again with another meaning.
    expect(revisionOf(registered)).toBeGreaterThan(revision);
  });

  it('is known again after it was restored to an earlier state, and the file follows it', async () => {
    const { control, revision } = await seeded(database);
    await executeSql(
      database.ownUrl(),
      `BEGIN;
       UPDATE "controls" SET "name" = 'older-name' WHERE "id" = ${control};
       DELETE FROM "changes" WHERE "revision" > 1;
       UPDATE "service_state" SET "revision" = 1;
       COMMIT`,
    );
    const { call } = await run(database.environment);
    // Without the command after-restore: the file tells which revision was told.
    const reply = await until(
      () => evaluate(call, AGENT, 'bad'),
      (answer) => revisionOf(answer) > revision,
    );
    expect(reply.body.matches).toMatchObject([{ control_name: 'older-name' }]);
    await kept(database.file, revisionOf(reply));
    expect(await readFile(database.file.path, 'utf8')).toContain('older-name');
  });
});
