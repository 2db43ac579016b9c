import { afterAll, beforeAll, expect, it } from 'vitest';
import { namespaceNamed } from '../../../src/contract/call/namespace.js';
import { createOverdueWatch } from '../../../src/observe/coverage/overdue-watch.js';
import { createProblemStore } from '../../../src/observe/problems/problem-store.js';
import { type Database, openDatabase } from '../../../src/storage/database/database.js';
import { unavailable } from '../../../src/storage/database/errors.js';
import { describeOnEachDatabase } from '../../support/databases.js';
import { keptFailures, type LoggedFailure } from '../../support/failures.js';
import { executeSql } from '../../support/sql.js';

/** An agent is expected every 300 seconds at "hooks", and nothing is expected of the other one. */
const SEED = `
  INSERT INTO "agents" ("id", "name", "namespace", "data", "created_at_ms") VALUES
    (1, 'team-a/hooked-agent-01', 'team-a', '{}', 1), (2, 'other-agent-01', 'default', '{}', 1);
  INSERT INTO "agent_expectations" ("agent_id", "point", "interval_s", "since_s") VALUES (1, 'hooks', 300, 1000);
  INSERT INTO "notification_destinations" ("namespace", "name", "type", "kinds", "created_at_ms", "created_by") VALUES
    ('team-a', 'on-call', 'email', '["agent.heard_again","agent.overdue"]', 1, 'x'),
    ('default', 'others', 'email', '["agent.heard_again","agent.overdue"]', 1, 'x')`;

describeOnEachDatabase('agents that are expected', (freshDatabaseUrl) => {
  let database: Database;
  let url: string;
  let nowS = 0;
  const logged: LoggedFailure[] = [];
  beforeAll(async () => {
    url = await freshDatabaseUrl();
    await executeSql(url, SEED);
    database = await openDatabase({ url });
  });
  afterAll(() => database.close());

  const watching = (acquire: () => Promise<{ position: null } | null> = async () => ({ position: null })) =>
    createOverdueWatch({
      database,
      lease: { acquire },
      outbox: { maxWaiting: 100, publicUrl: 'https://controls.example.com' },
      failures: keptFailures(logged),
      now: () => nowS * 1_000,
    });
  /** Looks every 60 seconds from one second to another. */
  async function watched(look: () => Promise<void>, fromS: number, toS: number) {
    for (nowS = fromS; nowS <= toS; nowS += 60) await look();
  }
  const told = async () => {
    const rows = await database.client.notificationDelivery.findMany({ orderBy: { id: 'asc' } });
    await executeSql(url, 'DELETE FROM "notification_deliveries"');
    return rows.map(({ namespace, object, payload }) => ({ namespace, object, ...JSON.parse(payload) }));
  };
  const heard = (point: string, seconds: number) =>
    executeSql(
      url,
      `INSERT INTO "agent_coverage" ("agent_id", "point", "stage", "step_type", "step_name", "evaluated", "first_seen_s", "last_seen_s")
        VALUES (1, '${point}', 'pre', 'tool', 'send', 1, ${seconds}, ${seconds})
        ON CONFLICT ("agent_id", "point", "stage", "step_type", "step_name") DO UPDATE SET "last_seen_s" = ${seconds}`,
    );
  const overdue = (name = 'team-a') =>
    createProblemStore(database.bulk, namespaceNamed(name)).overdueAgents();

  it('are overdue after the interval, which begins when it is set, when a process begins to watch, or when they are heard', async () => {
    const look = watching();
    await watched(look, 5_000, 5_300);
    expect(await overdue()).toEqual([]);
    await heard('hooks', 5_290);
    await watched(look, 5_360, 5_600);
    expect(await overdue()).toEqual([]);
    // At another point it does not count.
    await heard('rest', 5_600);
    await watched(look, 5_620, 5_680);
    expect(await overdue()).toEqual([
      { agentName: 'hooked-agent-01', point: 'hooks', intervalS: 300, lastSeenS: 5_290 },
    ]);
    expect(await overdue('default')).toEqual([]);
    expect(await told()).toMatchObject([
      {
        namespace: 'team-a',
        object: 'agent:hooked-agent-01',
        type: 'agent.overdue',
        data: {
          agent_name: 'hooked-agent-01',
          point: 'hooks',
          interval_seconds: 300,
          last_seen_at: '1970-01-01T01:28:10Z',
          url: 'https://controls.example.com/ui/coverage?name=hooked-agent-01',
        },
      },
    ]);
  });

  it('are told of once, by whichever process, and again when they are heard', async () => {
    const [one, other] = [watching(), watching()];
    await watched(one, 5_740, 6_200);
    await watched(other, 6_260, 6_600);
    expect(await told()).toEqual([]);
    await heard('hooks', 6_590);
    nowS = 6_610;
    await Promise.all([one(), other()]);
    expect(await overdue()).toEqual([]);
    expect(await told()).toMatchObject([
      { type: 'agent.heard_again', data: { agent_name: 'hooked-agent-01', point: 'hooks' } },
    ]);
  });

  it('are not overdue for a time in which no process watched', async () => {
    let isAway = false;
    let isHeld = true;
    const look = watching(async () => {
      if (isAway) throw unavailable('away');
      return isHeld ? { position: null } : null;
    });
    await watched(look, 6_620, 6_680);
    isAway = true;
    await watched(look, 6_740, 6_980);
    isAway = false;
    await watched(look, 7_000, 7_300);
    isHeld = false;
    await watched(look, 7_310, 7_610);
    isHeld = true;
    await watched(look, 7_620, 7_900);
    expect(await overdue()).toEqual([]);
    expect(logged).toHaveLength(5);
    // Heard by a clock that is a day ahead.
    await heard('hooks', 94_400);
    await watched(look, 7_960, 8_020);
    expect(await overdue()).toHaveLength(1);
    await executeSql(url, 'DELETE FROM "agents" WHERE "id" = 1');
    expect(await overdue()).toEqual([]);
  });
});
