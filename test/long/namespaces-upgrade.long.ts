import { execFile } from 'node:child_process';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { promisify } from 'node:util';
import { afterAll, beforeAll, expect, it, onTestFinished } from 'vitest';
import { type Fleet, NOTHING_LOST, startFleet } from '../app/operations/rolling-fleet.js';
import { event } from '../e2e/events.support.js';
import { createLandedEvents } from '../observe/events/landed-events.js';
import { createTestDatabase, describeOnEachEmptyDatabase } from '../support/databases.js';
import { type RestClient, restClient } from '../support/http.js';
import { compileRevision } from '../support/released.js';
import { denyWord, evaluate, seeder } from '../support/seed.js';
import { type CompiledService, compileService, spawnService } from '../support/service-process.js';
import { queryRow } from '../support/sql.js';
import { until } from '../support/until.js';

const ROOT = path.resolve(import.meta.dirname, '../..');
const MIGRATION = 'prisma/postgresql/migrations/20261218000000_namespaces';
/** Events that the database has before the rollout begins. */
const EVENTS = Number(process.env.VERIFY_EVENTS ?? 1_000_000);
const LIMIT_MS = 3_600_000;
/** Both releases know how events are kept: they are brought up to date while processes are replaced. */
const TAKES_OVER = { SERVICE_EVENT_TAKEOVER_SECONDS: '0' };
const AGENT = 'upgraded-agent-1';
/** Words that controls of the old release deny, and one that none does. */
const WORDS = ['linked', 'by-policy', 'disabled', 'of-the-new-release', 'harmless'];

let old: CompiledService;
let present: CompiledService;
beforeAll(async () => {
  present = await compileService();
  old = await compileRevision(process.env.VERIFY_OLD_RELEASE ?? (await lastWithoutNamespaces()));
});
afterAll(async () => {
  await old.remove();
  await present.remove();
});

/** The last revision of the history before the tables have namespaces. */
async function lastWithoutNamespaces(): Promise<string> {
  const words = ['log', '--diff-filter=A', '--format=%H', '--', MIGRATION];
  const { stdout } = await promisify(execFile)('git', words, { cwd: ROOT });
  const added = stdout.trim().split('\n').at(-1);
  if (!added) throw new Error(`the history of this clone has no commit that adds ${MIGRATION}`);
  return `${added}^`;
}

/** What the old release says on a database of this one. */
const IS_LATER = /migrations? of a later version/;

/** Runs a command of a release and returns what it prints. */
async function command(release: CompiledService, databaseUrl: string, ...words: string[]): Promise<string> {
  const environment = { DATABASE_URL: databaseUrl };
  const one = await spawnService(release, { environment, arguments: words });
  const { code } = await one.ended;
  const text = one.stdout();
  await one.dispose();
  const failures = one
    .stderr()
    .split('\n')
    .filter((line) => line !== '' && !IS_LATER.test(line));
  expect({ words, code, failures }).toEqual({ words, code: 0, failures: [] });
  return text;
}

/** What is there after a process: its database, and its last known good file. */
interface Kept {
  readonly databaseUrl: string;
  readonly file: string;
}

/** Runs a release on a database while `work` calls it, and ends it. Returns what it wrote. */
async function during(
  release: CompiledService,
  { databaseUrl, file }: Kept,
  work: (call: RestClient) => Promise<void>,
): Promise<string> {
  const environment = {
    DATABASE_URL: databaseUrl,
    SERVICE_LAST_KNOWN_GOOD: file,
    SERVICE_LOG_JSON: 'true',
    SERVICE_OBSERVABILITY_RECORD: 'all',
    SERVICE_OBSERVABILITY_FLUSH_INTERVAL_SECONDS: '0.2',
  };
  const one = await spawnService(release, { environment });
  try {
    await work(restClient(await one.listening()));
    one.process.kill('SIGTERM');
    expect(await one.ended).toMatchObject({ code: 0 });
    expect(one.stdout()).not.toMatch(/"level":[56]0/);
    return one.stdout();
  } finally {
    await one.dispose();
  }
}

/** What each word leads to: whether it is safe, and the controls that match. */
async function verdicts(call: RestClient): Promise<object> {
  const told: Record<string, unknown> = {};
  for (const word of WORDS) {
    const { status, body } = await evaluate(call, AGENT, word);
    expect(status).toBe(200);
    const names = (body.matches ?? []).map(({ control_name }: { control_name: string }) => control_name);
    told[word] = { is_safe: body.is_safe, names };
  }
  return told;
}

const countOf = async (databaseUrl: string, table: string, where = '1 = 1') =>
  Number((await queryRow(databaseUrl, `SELECT COUNT(*) FROM ${table} WHERE ${where}`))[0]);
const storedEvents = async (call: RestClient, id: string) =>
  (await call('POST', '/api/v1/observability/events/query', { control_execution_id: id })).body.total;

async function publish(call: RestClient, id: string): Promise<void> {
  const events = [event({ agent_name: AGENT, control_execution_id: id })];
  expect((await call('POST', '/api/v1/observability/events', { events })).status).toBe(202);
  await until(
    () => storedEvents(call, id),
    (total) => total === 1,
  );
}

describeOnEachEmptyDatabase('a database of the release before namespaces', (freshDatabaseUrl) => {
  it(
    'decides the same in this release, in that one again, and keeps its audit chain and its events',
    async () => {
      const databaseUrl = await freshDatabaseUrl();
      const folder = await mkdtemp(path.join(tmpdir(), 'upgraded-'));
      onTestFinished(() => rm(folder, { recursive: true, force: true }));
      const kept = { databaseUrl, file: path.join(folder, 'last-known-good') };
      let before = {};
      await during(old, kept, async (call) => {
        const seed = seeder(call);
        await seed.linked(AGENT, 'linked', denyWord('linked'));
        const policy = (await call('PUT', '/api/v1/policies', { name: 'of-upgrades' })).body.policy_id;
        const second = await seed.control('by-policy', denyWord('by-policy'));
        expect((await call('POST', `/api/v1/policies/${policy}/controls/${second}`)).status).toBe(200);
        expect((await call('POST', `/api/v1/agents/${AGENT}/policies/${policy}`)).status).toBe(200);
        await seed.link(AGENT, await seed.control('off', denyWord('disabled', { enabled: false })));
        before = await verdicts(call);
        await publish(call, 'event-of-the-old-release');
      });
      expect(before).toMatchObject({
        linked: { is_safe: false, names: ['linked'] },
        'by-policy': { is_safe: false, names: ['by-policy'] },
        disabled: { is_safe: true, names: [] },
      });
      const head = (await command(old, databaseUrl, 'verify-audit')).match(/\d+:[0-9a-f]{64}/)?.[0] ?? '';

      await during(present, kept, async (call) => {
        expect(await verdicts(call)).toEqual(before);
        expect(await storedEvents(call, 'event-of-the-old-release')).toBe(1);
        const audit = (await call('GET', '/api/v1/audit?limit=100')).body;
        expect(audit.pagination.total).toBe(Number(head.split(':')[0]));
        const seed = seeder(call);
        await seed.link(AGENT, await seed.control('newer', denyWord('of-the-new-release')));
        before = await verdicts(call);
        await publish(call, 'event-of-this-release');
      });
      expect(before).toMatchObject({ 'of-the-new-release': { is_safe: false, names: ['newer'] } });
      // The chain goes on from where the old release left it.
      const later = (await command(present, databaseUrl, 'verify-audit', head)).match(
        /\d+:[0-9a-f]{64}/,
      )?.[0];
      expect(Number(later?.split(':')[0])).toBe(Number(head.split(':')[0]) + 2);

      const said = await during(old, kept, async (call) => {
        expect(await verdicts(call)).toEqual(before);
        for (const id of ['event-of-the-old-release', 'event-of-this-release']) {
          expect(await storedEvents(call, id)).toBe(1);
        }
        await seeder(call).linked('agent-after-rollback', 'after-rollback');
      });
      expect(said).toMatch(IS_LATER);
      await command(old, databaseUrl, 'verify-audit', later ?? '');
      for (const table of ['agents', 'controls', 'policies', 'audit_entries']) {
        expect(await countOf(databaseUrl, table), table).toBeGreaterThan(0);
        expect(await countOf(databaseUrl, table, `namespace <> 'default'`), table).toBe(0);
      }

      await during(present, kept, async (call) => {
        expect(await verdicts(call)).toEqual(before);
        expect((await evaluate(call, 'agent-after-rollback', 'bad')).body.is_safe).toBe(false);
      });
      expect(await command(present, databaseUrl, 'verify-audit', later ?? '')).toMatch(/\d+:[0-9a-f]{64}/);
      expect(await command(present, databaseUrl, 'rebuild-statistics')).toMatch(/corrected 0 sums/);
    },
    LIMIT_MS,
  );
});

it(
  'processes of that release and of this one serve one PostgreSQL database, there and back, without a loss',
  async () => {
    const database = await createTestDatabase('postgresql', 'nothing');
    let fleet: Fleet | undefined;
    try {
      await createLandedEvents('postgresql', database.url, { count: EVENTS, days: 20, nowMs: Date.now() });
      fleet = await startFleet(database.url, 2, old, TAKES_OVER);
      await fleet.goesOn();
      await fleet.replace(present, TAKES_OVER);
      const [before, after] = fleet.replicas.map(({ url }) => restClient(url));
      if (before === undefined || after === undefined) throw new Error('two replicas run');
      // What either stores decides in the other.
      for (const [name, from, to] of [
        ['agent-by-old', before, after],
        ['agent-by-this', after, before],
      ] as const) {
        await seeder(from).linked(name, `control-of-${name}`);
        await until(
          () => evaluate(to, name, 'bad'),
          ({ status, body }) => status === 200 && body.is_safe === false,
        );
        const agent = { agent_name: name, agent_description: 'registered again by the other one' };
        const registration = { agent, conflict_mode: 'overwrite' };
        expect((await to('POST', '/api/v1/agents/initAgent', registration)).status).toBe(200);
      }
      await fleet.replace(present, TAKES_OVER);
      const back = await fleet.replace(old, TAKES_OVER);
      expect(back.service.stdout()).toMatch(IS_LATER);
      for (const name of ['agent-by-old', 'agent-by-this']) {
        expect((await evaluate(restClient(back.url), name, 'bad')).body.is_safe).toBe(false);
      }
      await fleet.replace(present, TAKES_OVER);
      const report = await fleet.finish();
      console.log(
        `from the release before namespaces: ${report.answers} answers, ${report.published} published`,
      );
      expect(report).toMatchObject(NOTHING_LOST);
      const landed = await countOf(database.url, 'all_events', `control_execution_id LIKE 'landed-%'`);
      expect(landed).toBe(EVENTS);
      for (const table of ['agents', 'controls', 'audit_entries']) {
        expect(await countOf(database.url, table, `namespace <> 'default'`), table).toBe(0);
      }
      await command(present, database.url, 'verify-audit');
      expect(await command(present, database.url, 'rebuild-statistics')).toMatch(/corrected 0 sums/);
    } finally {
      await fleet?.dispose();
      await database.drop();
    }
  },
  LIMIT_MS,
);
