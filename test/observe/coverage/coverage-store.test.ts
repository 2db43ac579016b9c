import { afterAll, beforeAll, expect, it } from 'vitest';
import type { AgentKey } from '../../../src/contract/call/namespace.js';
import { createCoverageStore } from '../../../src/observe/coverage/coverage-store.js';
import { createCoverageWriter } from '../../../src/observe/coverage/coverage-writer.js';
import { MAX_STEPS, Sightings } from '../../../src/observe/coverage/sightings.js';
import { type Database, openDatabase } from '../../../src/storage/database/database.js';
import { unavailable } from '../../../src/storage/database/errors.js';
import { describeOnEachDatabase } from '../../support/databases.js';
import { keptFailures, type LoggedFailure } from '../../support/failures.js';
import { executeSql } from '../../support/sql.js';

const AGENT = 'seen-agent-01' as AgentKey;
const OTHER = 'team-a/seen-agent-01' as AgentKey;
const TOOL = { type: 'tool', name: 'send' };

describeOnEachDatabase('stored coverage', (freshDatabaseUrl) => {
  let database: Database;
  let url: string;
  let nowS = 1_000;
  let ids = new Map<string, number>();
  beforeAll(async () => {
    url = await freshDatabaseUrl();
    await executeSql(
      url,
      `INSERT INTO "agents" ("name", "namespace", "data", "created_at_ms") VALUES
        ('${AGENT}', 'default', '{}', 1), ('${OTHER}', 'team-a', '{}', 1), ('full-agent-01', 'default', '{}', 1)`,
    );
    database = await openDatabase({ url });
    const agents = await database.client.agent.findMany({ select: { id: true, name: true } });
    ids = new Map(agents.map(({ id, name }) => [name, id]));
  });
  afterAll(() => database.close());

  /** What a process that serves has. */
  function processNamed(writerId: string, logged: LoggedFailure[] = []) {
    const sightings = new Sightings();
    const store = createCoverageStore(database);
    let fault: 'before' | 'after' | undefined;
    const { flush } = createCoverageWriter({
      sightings,
      store: {
        async add(batch, at) {
          const now = fault;
          fault = undefined;
          if (now === 'before') throw unavailable('away');
          await store.add(batch, at);
          if (now === 'after') throw unavailable('the answer was lost');
        },
      },
      writerId,
      failures: keptFailures(logged),
      now: () => nowS * 1_000,
      monotonic: () => 0,
    });
    const failOnce = (when: 'before' | 'after') => {
      fault = when;
    };
    return { sightings, store, flush, failOnce };
  }
  const stored = async (agent: string) => {
    const rows = await createCoverageStore(database).stepsOf([ids.get(agent) ?? 0]);
    return rows.map(({ agentId: _, ...row }) => row);
  };

  it('has the sums of two processes, the first time and the last one, and keeps them over a restart', async () => {
    const [one, two] = [processNamed('one'), processNamed('two')];
    one.sightings.see(AGENT, TOOL, 'pre', 'hooks');
    await one.flush();
    nowS = 1_010;
    one.sightings.see(AGENT, TOOL, 'pre', 'hooks');
    two.sightings.see(AGENT, TOOL, 'pre', 'hooks');
    two.sightings.see(AGENT, TOOL, 'post', 'rest');
    two.sightings.see(OTHER, TOOL, 'pre', 'hooks');
    await Promise.all([one.flush(), two.flush()]);
    await one.flush();
    const seen = { stepType: 'tool', stepName: 'send', lastSeenS: 1_010 };
    const all = [
      { ...seen, point: 'hooks', stage: 'pre', evaluated: 3, firstSeenS: 1_000 },
      { ...seen, point: 'rest', stage: 'post', evaluated: 1, firstSeenS: 1_010 },
    ];
    expect(await stored(AGENT)).toEqual(all);
    expect(await stored(OTHER)).toMatchObject([{ evaluated: 1 }]);
    // A process that starts knows nothing of what was stored, and adds to it.
    nowS = 1_020;
    const restarted = processNamed('three');
    restarted.sightings.see(AGENT, TOOL, 'pre', 'hooks');
    await restarted.flush();
    expect((await stored(AGENT))[0]).toEqual({ ...all[0], evaluated: 4, lastSeenS: 1_020 });
  });

  it('has each batch once when the database is away, or its answer is lost, with the times of the evaluations', async () => {
    const logged: LoggedFailure[] = [];
    const { sightings, flush, failOnce } = processNamed('four', logged);
    nowS = 2_000;
    sightings.see(AGENT, { type: 'tool', name: 'late' }, 'pre', 'grpc');
    failOnce('before');
    await flush();
    nowS = 2_100;
    failOnce('after');
    await flush();
    nowS = 2_200;
    sightings.see(AGENT, { type: 'tool', name: 'late' }, 'pre', 'grpc');
    await flush();
    expect(logged).toHaveLength(2);
    expect((await stored(AGENT)).find(({ stepName }) => stepName === 'late')).toMatchObject({
      evaluated: 2,
      firstSeenS: 2_000,
      lastSeenS: 2_200,
    });
  });

  it('replaces a time that a clock in the future left', async () => {
    const { sightings, flush } = processNamed('ahead');
    const see = async (atS: number) => {
      nowS = atS;
      sightings.see(AGENT, { type: 'tool', name: 'late' }, 'pre', 'grpc');
      await flush();
      return (await stored(AGENT)).find(({ stepName }) => stepName === 'late')?.lastSeenS;
    };
    expect(await see(90_000)).toBe(90_000);
    expect(await see(2_300)).toBe(2_300);
    expect(await see(2_290)).toBe(2_300);
  });

  it('keeps about the most steps of an agent by name, from however many processes, and those that it has', async () => {
    const full = 'full-agent-01' as AgentKey;
    const named = (name: string) => ({ type: 'tool', name });
    const first = processNamed('five');
    for (let at = 0; at < MAX_STEPS; at += 1) first.sightings.see(full, named(`a${at}`), 'pre', 'rest');
    await first.flush();
    const second = processNamed('six');
    for (let at = 0; at < 50; at += 1) second.sightings.see(full, named(`b${at}`), 'pre', 'rest');
    second.sightings.see(full, named('a7'), 'pre', 'rest');
    await second.flush();
    const rows = await stored(full);
    expect(rows).toHaveLength(MAX_STEPS + 1);
    expect(rows.find(({ stepName }) => stepName === '')).toMatchObject({ stepType: '', evaluated: 50 });
    expect(rows.find(({ stepName }) => stepName === 'a7')).toMatchObject({ evaluated: 2 });
  });

  it('forgets what was last seen long ago, and leaves out agents that were deleted', async () => {
    const { sightings, store, flush } = processNamed('seven');
    await store.prune(2_000, nowS);
    expect((await stored(AGENT)).map(({ stepName }) => stepName)).toEqual(['late']);
    expect(await stored(OTHER)).toEqual([]);
    sightings.see(OTHER, TOOL, 'pre', 'rest');
    sightings.see(AGENT, TOOL, 'pre', 'rest');
    await flush();
    expect(await stored(OTHER)).toHaveLength(1);
    await executeSql(url, `DELETE FROM "agents" WHERE "name" = '${OTHER}'`);
    expect(await stored(OTHER)).toEqual([]);
    sightings.see(OTHER, TOOL, 'pre', 'rest');
    sightings.see(AGENT, TOOL, 'pre', 'rest');
    await flush();
    expect((await stored(AGENT)).find(({ point }) => point === 'rest')).toMatchObject({ evaluated: 2 });
  });
});
