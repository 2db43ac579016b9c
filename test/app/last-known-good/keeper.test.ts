import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { nodeFileSystem } from '../../../src/app/last-known-good/file-system.js';
import { Keeper } from '../../../src/app/last-known-good/keeper.js';
import { StateFile } from '../../../src/app/last-known-good/state-file.js';
import { originOfService } from '../../../src/storage/database/audit-log.js';
import type { RecordedChange } from '../../../src/storage/database/change-log.js';
import { type Database, openDatabase } from '../../../src/storage/database/database.js';
import { unavailable } from '../../../src/storage/database/errors.js';
import { createTestDatabase, type TestDatabase } from '../../support/databases.js';
import { until } from '../../support/until.js';
import { sample, writing } from './support.js';

describe('what keeps the last known good file', () => {
  let folder: string;
  let place: TestDatabase;
  let database: Database;
  let file: StateFile;
  const keepers: Keeper[] = [];
  beforeEach(async () => {
    folder = await mkdtemp(join(tmpdir(), 'keeper-'));
    place = await createTestDatabase('sqlite');
    database = await openDatabase({ url: place.url });
    file = new StateFile(join(folder, 'kept', 'state'), nodeFileSystem);
  });
  afterEach(async () => {
    for (const keeper of keepers.splice(0)) await keeper.close();
    await database.close();
    await place.drop();
    await rm(folder, { recursive: true });
  });

  const change = (revision: number): RecordedChange => ({
    revision,
    agents: [],
    controls: [],
    policies: [],
    targets: [],
    access: false,
  });
  /** Advances the revision and tells the keeper. */
  async function commit(keeper?: Keeper): Promise<number> {
    const { revision } = await database.mutate(async () => ({ value: null, changed: true }));
    keeper?.changed([change(revision)]);
    return revision;
  }

  function createKeeper(more: { maxStalenessMs?: number | null; readAtOnce?: Database['readAtOnce'] } = {}) {
    const lines: string[] = [];
    const restored: number[] = [];
    const clock = { aheadMs: 0 };
    const log = (level: string) => (_facts: object, message: string) => lines.push(`${level} ${message}`);
    const keeper = new Keeper({
      file,
      database: { readAtOnce: more.readAtOnce ?? database.readAtOnce },
      maxStalenessMs: more.maxStalenessMs ?? null,
      onRestored: (revision) => restored.push(revision),
      log: { info: log('info'), warn: log('warn'), error: log('error') },
      now: () => Date.now() + clock.aheadMs,
    });
    keepers.push(keeper);
    return { keeper, lines, restored, clock };
  }
  const saves = (keeper: Keeper, count: number) =>
    until(
      () => keeper.meter,
      ({ saved }) => saved === count,
    );

  it('saves it after its start, and after changes, several at once', async () => {
    const { keeper, lines } = createKeeper();
    keeper.changed([change(await commit())]);
    keeper.start();
    await saves(keeper, 1);
    expect(await file.header()).toMatchObject({ revision: 1, instanceId: database.instanceId });
    let last = 0;
    for (let count = 0; count < 20; count += 1) last = await commit(keeper);
    await saves(keeper, 2);
    expect(await file.header()).toMatchObject({ revision: last });
    expect(keeper.meter).toMatchObject({ revision: last, superseded: 0, failed: 0 });
    expect(lines).toEqual([]);
  });

  it('does not save what it has saved, however often it is notified of it', async () => {
    const { keeper } = createKeeper();
    const revision = await commit();
    keeper.start();
    await saves(keeper, 1);
    for (let count = 0; count < 3; count += 1) keeper.changed([change(revision)]);
    keeper.catchUp();
    // Closing saves what is due.
    await keeper.close();
    expect(keeper.meter.saved).toBe(1);
  });

  it('does nothing before it is started', async () => {
    const { keeper } = createKeeper();
    await commit(keeper);
    await keeper.close();
    expect(await file.header()).toBeNull();
  });

  it('saves a change that is not saved when it is closed, and nothing after that', async () => {
    const { keeper } = createKeeper();
    keeper.start();
    const revision = await commit(keeper);
    await keeper.close();
    expect(await file.header()).toMatchObject({ revision });
    await commit(keeper);
    keeper.catchUp();
    await keeper.close();
    expect(keeper.meter.saved).toBe(1);
  });

  it('logs once why it cannot write, and logs when it can again', async () => {
    await writeFile(join(folder, 'kept'), 'a file where there should be a folder');
    const { keeper, lines } = createKeeper();
    keeper.start();
    await until(
      () => keeper.meter,
      ({ failed }) => failed === 1,
    );
    await commit(keeper);
    await until(
      () => keeper.meter,
      ({ failed }) => failed === 2,
    );
    expect(lines).toEqual([
      expect.stringMatching(/^warn the last known good state cannot be saved: ENOTDIR/),
    ]);
    await rm(join(folder, 'kept'));
    await commit(keeper);
    await saves(keeper, 1);
    expect(lines.slice(1)).toEqual(['info the last known good state is saved again']);
  });

  it('tries again after a while when nothing changes', async () => {
    await writeFile(join(folder, 'kept'), '');
    const { keeper, clock } = createKeeper();
    keeper.start();
    await until(
      () => keeper.meter,
      ({ failed }) => failed === 1,
    );
    await rm(join(folder, 'kept'));
    keeper.catchUp();
    clock.aheadMs += 60_000;
    keeper.catchUp();
    await saves(keeper, 1);
  });

  it('logs nothing about a database that does not answer, and saves when it does', async () => {
    let isDown = true;
    const { keeper, lines } = createKeeper({
      readAtOnce: (work) => (isDown ? Promise.reject(unavailable('away')) : database.readAtOnce(work)),
    });
    keeper.start();
    await until(
      () => keeper.meter,
      ({ failed }) => failed === 1,
    );
    isDown = false;
    keeper.catchUp();
    await saves(keeper, 1);
    expect(lines).toEqual([]);
  });

  it('leaves the old file alone when the database fails in the middle', async () => {
    await file.save(writing(sample(0, { instanceId: database.instanceId })));
    const before = await readFile(file.path);
    let fails = 3;
    const { keeper } = createKeeper({
      readAtOnce: (work) =>
        database.readAtOnce((read) =>
          work(async (query) => {
            fails -= 1;
            if (fails === 0) throw unavailable('away');
            return read(query);
          }),
        ),
    });
    keeper.start();
    await until(
      () => keeper.meter,
      ({ failed }) => failed === 1,
    );
    expect(await readFile(file.path)).toEqual(before);
  });

  it('does not replace a later state, which another process has saved', async () => {
    const { keeper, restored, lines } = createKeeper({
      async readAtOnce(work) {
        const result = await database.readAtOnce(async (read) => {
          await read({ text: 'SELECT 1', sql: 'SELECT 1', values: [] } as never);
          // Between the two the other process is faster.
          await file.save(writing(sample(9, { instanceId: database.instanceId })));
          return work(read);
        });
        return result;
      },
    });
    keeper.start();
    await until(
      () => keeper.meter,
      ({ superseded }) => superseded === 1,
    );
    expect(await file.header()).toMatchObject({ revision: 9 });
    expect(restored).toEqual([]);
    expect(lines).toEqual([]);
  });

  it('reports that the database was restored when the file was later already', async () => {
    await file.save(writing(sample(9, { instanceId: database.instanceId })));
    const { keeper, restored } = createKeeper();
    keeper.start();
    await until(
      () => restored,
      (all) => all.length === 1,
    );
    expect(restored).toEqual([9]);
    expect(await file.header()).toMatchObject({ revision: 9 });
    // The database gets a revision above that.
    keeper.changed([change(await database.outrun(9, originOfService(1_000)))]);
    await saves(keeper, 1);
    expect(await file.header()).toMatchObject({ revision: 10 });
  });

  it('does not replace the state of another database, and logs that once', async () => {
    await file.save(writing(sample(1)));
    const { keeper, lines } = createKeeper();
    keeper.start();
    await until(
      () => keeper.meter,
      ({ superseded }) => superseded === 1,
    );
    await commit(keeper);
    await until(
      () => keeper.meter,
      ({ superseded }) => superseded === 2,
    );
    expect(lines).toEqual(['error the last known good file is that of another database and is not replaced']);
    expect(await file.header()).toMatchObject({ instanceId: 'an-instance' });
  });

  it('replaces the state of another database that has no controls', async () => {
    await file.save(writing(sample(1, { controls: [], policies: [], agents: [] })));
    const { keeper } = createKeeper();
    keeper.start();
    await saves(keeper, 1);
    expect(await file.header()).toMatchObject({ instanceId: database.instanceId });
  });

  it.each([
    [null, 3_600_000],
    [60_000, 30_000],
    [2_000, 10_000],
  ])('renews the time of a state that does not change: limit %s ms, every %s ms', async (limit, everyMs) => {
    for (const [aheadMs, expected] of [
      [everyMs - 5_000, 1],
      [everyMs, 2],
    ] as const) {
      const { keeper, clock } = createKeeper({ maxStalenessMs: limit });
      keeper.start();
      await saves(keeper, 1);
      clock.aheadMs += aheadMs;
      keeper.catchUp();
      // Closing saves what is due.
      await keeper.close();
      expect(keeper.meter.saved).toBe(expected);
    }
  });
});
