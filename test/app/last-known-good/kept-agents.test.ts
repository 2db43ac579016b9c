import { describe, expect, it } from 'vitest';
import { KeptAgents } from '../../../src/app/last-known-good/kept-agents.js';
import { KnownChanges } from '../../../src/app/last-known-good/known-changes.js';
import { StateFile } from '../../../src/app/last-known-good/state-file.js';
import { createStateReader } from '../../../src/app/last-known-good/state-reader.js';
import { ServiceError } from '../../../src/contract/errors/service-error.js';
import { unavailable } from '../../../src/storage/database/errors.js';
import { Disk } from './disk.js';
import { key, type SampleState, sample, writing } from './support.js';

const AGENT = 'some-agent-1';

/** A process that has followed the database since a revision, and a file beside it. */
function process(startedAt: number) {
  const disk = new Disk();
  const file = new StateFile('/state', disk);
  const changes = new KnownChanges();
  changes.startedAt(startedAt);
  const warnings: string[] = [];
  const clock = { now: 1_700_000_100_000, monotonic: 500_000 };
  const kept = new KeptAgents({
    file,
    instanceId: () => 'an-instance',
    changes,
    log: { warn: (_facts, message) => warnings.push(message) },
    now: () => clock.now,
    monotonic: () => clock.monotonic,
  });
  const database = {
    up: true,
    failure: null as Error | null,
    revision: startedAt,
    asked: 0,
    answer: Promise.resolve(),
  };
  const ask = () => {
    database.asked += 1;
    if (database.failure !== null) throw database.failure;
    return database.revision;
  };
  const links = { policyIds: [], controlIds: [] };
  const reader = createStateReader({
    stored: {
      async linksOf(agents) {
        await database.answer;
        return {
          revision: ask(),
          links: new Map(agents.map((agent) => [agent, { links, registration: '{}', stepSchemas: null }])),
          bound: new Map(),
        };
      },
      async controlsOf(some) {
        await database.answer;
        return { revision: ask(), controls: some.map(() => []) };
      },
    },
    kept,
    changes,
    databaseUp: () => database.up,
    followed: () => startedAt,
  });
  /** The controls of an agent that has one policy. Rejects with the error of either read. */
  async function stateOf(agent: string, needed: number) {
    const read = await reader.linksOf([{ agent: key(agent), target: null, needed }])[0];
    return reader.controlsOf([{ links: read?.links ?? links, needed }])[0];
  }
  /** The same from the file; null when either is not in it. */
  async function keptStateOf(agent: string, needed: number) {
    const read = await kept.linksOf(key(agent), null, needed);
    return read?.links ? kept.controlsOf(read.links, needed) : null;
  }
  return {
    disk,
    changes,
    keptStateOf,
    reader,
    kept,
    warnings,
    clock,
    database,
    save: (state: SampleState) => file.save(writing(state)),
    revisionOf: async (agent = AGENT, needed = 0) => (await keptStateOf(agent, needed))?.revision ?? null,
    stateOf,
  };
}

describe('the last known good state of an agent', () => {
  it('is of the file, as old as that states', async () => {
    const { save, keptStateOf, clock } = process(5);
    await save(sample(5, { timeMs: clock.now - 30_000 }));
    expect(await keptStateOf(AGENT, 0)).toEqual({
      revision: 5,
      controls: [{ id: 1, name: 'control-5', data: '{"of":5}' }],
      keptAtMs: 470_000,
    });
    expect(await keptStateOf('never-heard-of', 0)).toBeNull();
  });

  it('is as old as now when the clock was set back since it was saved', async () => {
    const { save, keptStateOf, clock } = process(5);
    await save(sample(5, { timeMs: clock.now + 3_600_000 }));
    expect(await keptStateOf(AGENT, 0)).toMatchObject({ keptAtMs: clock.monotonic });
  });

  it('is not used when the process has a later change of the agent, or of one of its controls', async () => {
    const { save, changes, revisionOf } = process(5);
    await save(sample(5));
    expect(await revisionOf()).toBe(5);
    changes.changed([
      { revision: 6, agents: [key('other-agent')], controls: [2], policies: [3], targets: [], access: false },
    ]);
    expect(await revisionOf()).toBe(5);
    changes.changed([{ revision: 7, agents: [], controls: [1], policies: [], targets: [], access: false }]);
    expect(await revisionOf()).toBeNull();
    const linked = process(5);
    await linked.save(sample(5));
    linked.changes.changed([
      { revision: 6, agents: [key(AGENT)], controls: [], policies: [], targets: [], access: false },
    ]);
    expect(await linked.revisionOf()).toBeNull();
  });

  it('is not used when it is older than what is demanded, or than what decided before', async () => {
    const { save, changes, revisionOf } = process(5);
    await save(sample(5));
    expect(await revisionOf(AGENT, 6)).toBeNull();
    changes.used({ agents: [key(AGENT)] }, 9);
    expect(await revisionOf(AGENT)).toBeNull();
  });

  it('is not used when the file is from before this process began, or of another database', async () => {
    const behind = process(6);
    await behind.save(sample(5));
    expect(await behind.revisionOf()).toBeNull();
    const foreign = process(5);
    await foreign.save(sample(5, { instanceId: 'another-one' }));
    expect(await foreign.revisionOf()).toBeNull();
  });

  it('comes from a newer file when there is one, looked for now and then', async () => {
    const { disk, save, changes, revisionOf, clock } = process(5);
    await save(sample(5));
    expect(await revisionOf()).toBe(5);
    changes.changed([
      { revision: 6, agents: [key(AGENT)], controls: [], policies: [], targets: [], access: false },
    ]);
    expect(await revisionOf()).toBeNull();
    await save(sample(6));
    const { steps } = disk;
    for (let count = 0; count < 10; count += 1) expect(await revisionOf()).toBeNull();
    expect(disk.steps).toBe(steps);
    clock.monotonic += 5_000;
    expect(await Promise.all([revisionOf(), revisionOf(), revisionOf()])).toEqual([6, 6, 6]);
  });

  it('is read again after it was released', async () => {
    const { save, kept, revisionOf } = process(5);
    await save(sample(5));
    expect(await revisionOf()).toBe(5);
    expect(kept.isAtHand).toBe(true);
    await save(sample(6));
    kept.release();
    expect(kept.isAtHand).toBe(false);
    expect(await revisionOf()).toBe(6);
  });

  it('is reported once when the file is damaged', async () => {
    const { disk, warnings, revisionOf, clock } = process(5);
    await (await disk.create('/state')).write(Buffer.from('{}\n'));
    for (let count = 0; count < 3; count += 1) {
      expect(await revisionOf()).toBeNull();
      clock.monotonic += 10_000;
    }
    expect(warnings).toEqual(['the last known good file cannot be used: it is not a last-known-good file']);
  });
});

describe('the controls of an agent', () => {
  it('are those of the database while it answers, whatever the file contains', async () => {
    const { save, stateOf } = process(5);
    await save(sample(5));
    expect(await stateOf(AGENT, 0)).toEqual({ revision: 5, controls: [] });
  });

  it('are those of the file when the database fails, and without asking it once that is known', async () => {
    for (const failure of [unavailable('away'), new ServiceError('DATABASE_ERROR', { detail: 'damaged' })]) {
      const { save, stateOf, database } = process(5);
      await save(sample(5));
      database.failure = failure;
      expect(await stateOf(AGENT, 0)).toMatchObject({ revision: 5, keptAtMs: expect.any(Number) });
      expect(database.asked).toBe(2);
      database.up = false;
      expect(await stateOf(AGENT, 0)).toMatchObject({ revision: 5, keptAtMs: expect.any(Number) });
      expect(database.asked).toBe(2);
    }
  });

  it('are read from the database again when the file does not have them, and fail with its error', async () => {
    const { save, stateOf, database } = process(5);
    await save(sample(5));
    database.up = false;
    database.failure = unavailable('away');
    await expect(stateOf('never-heard-of', 0)).rejects.toBe(database.failure);
    database.failure = null;
    const before = database.asked;
    expect(await stateOf('never-heard-of', 0)).toMatchObject({ revision: 5, controls: [] });
    expect(database.asked).toBeGreaterThan(before);
  });

  it('fail with mistakes of the service itself', async () => {
    const { save, stateOf, database } = process(5);
    await save(sample(5));
    database.failure = new ServiceError('INTERNAL_ERROR', { detail: 'a mistake' });
    await expect(stateOf(AGENT, 0)).rejects.toBe(database.failure);
  });

  it('are not those of the file when the links are later: the file may lack a control of them', async () => {
    for (const later of [
      { policyIds: [], controlIds: [99] },
      { policyIds: [99], controlIds: [] },
    ]) {
      const { save, reader, database } = process(5);
      await save(sample(5));
      database.failure = unavailable('away');
      await expect(reader.controlsOf([{ links: later, needed: 0 }])[0]).rejects.toBe(database.failure);
      database.up = false;
      await expect(reader.controlsOf([{ links: later, needed: 0 }])[0]).rejects.toBe(database.failure);
    }
  });

  it('of one agent do not depend on what others need, or wait for the database', async () => {
    const { save, reader, database } = process(5);
    await save(sample(5));
    database.up = false;
    const hanging = new Promise<void>(() => {});
    database.answer = hanging;
    const [first, other] = reader.linksOf([
      { agent: key(AGENT), target: null, needed: 5 },
      { agent: key(AGENT), target: null, needed: 6 },
    ]);
    expect(await first).toMatchObject({ revision: 5 });
    const outcome = await Promise.race([
      other,
      new Promise((resolve) => setImmediate(() => resolve('waits'))),
    ]);
    expect(outcome).toBe('waits');
  });

  it('are never older than those that were read ahead of the changes that are followed', async () => {
    const { save, stateOf, database } = process(5);
    await save(sample(5));
    database.revision = 8;
    expect(await stateOf(AGENT, 0)).toMatchObject({ revision: 8 });
    database.up = false;
    database.failure = unavailable('away');
    await expect(stateOf(AGENT, 0)).rejects.toBe(database.failure);
  });
});
