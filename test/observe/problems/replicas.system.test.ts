import { afterAll, beforeAll, expect, it, onTestFinished } from 'vitest';
import {
  createReplicaStore,
  type ReplicaRow,
  type ReplicaStore,
} from '../../../src/observe/problems/replica-store.js';
import { replicaProblems } from '../../../src/observe/problems/replicas.js';
import { type Database, openDatabase } from '../../../src/storage/database/database.js';
import { describeOnEachDatabase, describeOnSqlite } from '../../support/databases.js';
import { compiled, type ServiceProcess, spawnService } from '../../support/service-process.js';
import { until } from '../../support/until.js';

const MINUTE_MS = 60_000;
const row = (id: string, version: string, startedAtMs = 0): ReplicaRow => ({
  id,
  name: `pod-${id}`,
  version,
  startedAtMs,
});

describeOnEachDatabase('the processes of a database', (freshDatabaseUrl) => {
  let database: Database;
  let store: ReplicaStore;
  beforeAll(async () => {
    database = await openDatabase({ url: await freshDatabaseUrl(), migrate: false });
    store = createReplicaStore(database.bulk);
  });
  afterAll(() => database.close());

  it('are those that said so in the last two minutes; the others are forgotten', async () => {
    await store.saw(row('b', '1.0.0', 5), 0);
    await store.saw(row('a', '1.1.0', 7), MINUTE_MS);
    expect(await store.running(2 * MINUTE_MS)).toEqual([row('a', '1.1.0', 7), row('b', '1.0.0', 5)]);
    expect(await store.running(2 * MINUTE_MS + 1)).toEqual([row('a', '1.1.0', 7)]);
    // One that says so again counts again.
    await store.saw(row('b', '1.0.0', 5), 2 * MINUTE_MS + 1);
    expect(await store.running(2 * MINUTE_MS + 1)).toHaveLength(2);
    await store.saw(row('c', '1.1.0'), 6 * MINUTE_MS);
    expect(await store.running(0)).toEqual([row('c', '1.1.0')]);
    await store.remove('c');
    expect(await store.running(0)).toEqual([]);
  });
});

describeOnSqlite('the processes of a database', (freshDatabaseUrl) => {
  it('are two of a service with two workers, until it stops', async () => {
    const url = await freshDatabaseUrl();
    const database = await openDatabase({ url, migrate: false });
    onTestFinished(() => database.close());
    const store = createReplicaStore(database.bulk);
    const service: ServiceProcess = await spawnService(compiled, {
      environment: { DATABASE_URL: url, SERVICE_WORKERS: '2' },
    });
    onTestFinished(() => service.dispose());
    await service.listening();
    const running = await until(
      () => store.running(Date.now()),
      ({ length }) => length === 2,
    );
    expect(new Set(running.map(({ version }) => version)).size).toBe(1);
    service.process.kill('SIGTERM');
    await service.ended;
    expect(await store.running(Date.now())).toEqual([]);
  });
});

it('different versions are a notice during a rollout, and a warning when it does not end', () => {
  const own = row('own', '2.0.0', 10 * MINUTE_MS);
  const told = (others: ReplicaRow[], nowMs: number) =>
    replicaProblems(own, others, nowMs).map(({ severity, title, subjects }) => [
      severity,
      title,
      subjects.map(({ id }) => id).join(),
    ]);
  expect(told([], 0)).toEqual([]);
  expect(told([own, row('x', '2.0.0')], 0)).toEqual([]);
  const old = row('old', '1.9.0', 2 * MINUTE_MS);
  // The newest process started in the 10th minute.
  expect(told([own, old], 40 * MINUTE_MS)).toEqual([['notice', '2 processes run 2 versions', 'old,own']]);
  expect(told([own, old], 40 * MINUTE_MS + 1)).toEqual([
    ['warning', '2 processes run 2 versions', 'old,own'],
  ]);
});
