import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import fc from 'fast-check';
import { afterAll, afterEach, beforeAll, expect, it } from 'vitest';
import { parseStoredJson } from '../../../../packages/exact-json/src/index.js';
import { openManifest } from '../../../../packages/parquet-log/src/manifest.js';
import { createS3Files, type S3Options } from '../../../../packages/s3-files/src/index.js';
import {
  createFolderFiles,
  FileChangedError,
  type VersionedFiles,
} from '../../../../packages/versioned-files/src/index.js';
import type { ParquetConfig } from '../../../../src/contract/config/config-sinks.js';
import { createParquetSink } from '../../../../src/observe/events/sinks/parquet-sink.js';
import { createSqlEventStore } from '../../../../src/observe/events/sql/sql-event-store.js';
import { type ControlEvent, forwardedEvent } from '../../../../src/observe/events/store/event.js';
import type { EventStore } from '../../../../src/observe/events/store/event-store.js';
import { type Database, openDatabase } from '../../../../src/storage/database/database.js';
import { describeOnSqlite } from '../../../support/databases.js';
import { type S3Server, startS3Server } from '../../../support/s3-server.js';
import { executeSql } from '../../../support/sql.js';
import { until } from '../../../support/until.js';
import { allEvents, eventArbitrary, storedEvent } from '../events.support.js';
import { allRows, listedFiles, type ParquetRow } from './parquet-files.js';
import { type TestRunner, testRunner } from './sinks.support.js';

const HOUR_MS = 3_600_000;
const NEVER = new AbortController().signal;
const START_MS = Date.parse('2026-12-08T10:00:00Z');
const KEY = { accessKeyId: 'key-id', secretAccessKey: 'secret', region: 'us-east-1' };

const ownerOf = (id: string) => ({ contents: 'events', source: { kind: 'database', id } });

/** An event as clients get it, from a row. */
function shownRow({
  position: _,
  timestamp,
  timestamp_text,
  metadata,
  revision,
  ...row
}: ParquetRow): object {
  expect(timestamp).toBeInstanceOf(Date);
  return {
    ...row,
    timestamp: timestamp_text,
    metadata: parseStoredJson(String(metadata)),
    revision: revision === null ? null : Number(revision),
  };
}
const idOf = (one: ControlEvent | ParquetRow) => String((one as ParquetRow).control_execution_id);
const byId = <T extends ControlEvent | ParquetRow>(list: readonly T[]) =>
  [...list].sort((a, b) => (idOf(a) < idOf(b) ? -1 : 1));

describeOnSqlite('Parquet files', (freshDatabaseUrl) => {
  let url: string;
  let database: Database;
  let store: EventStore;
  let s3: S3Server;
  let folder: string;
  let written = 0;
  /** The time of day, for the sink. */
  let nowMs = START_MS;
  const runners: TestRunner[] = [];
  beforeAll(async () => {
    url = await freshDatabaseUrl();
    database = await openDatabase({ url });
    store = createSqlEventStore({ database, now: () => START_MS });
    folder = await mkdtemp(path.join(tmpdir(), 'parquet-'));
    s3 = await startS3Server({ ...KEY, bucket: 'audit' });
  });
  afterEach(async () => {
    s3.failWith(null);
    for (const runner of runners.splice(0)) await runner.close();
    nowMs = START_MS;
    await executeSql(url, `BEGIN; DELETE FROM "event_sinks"; DELETE FROM "events"; COMMIT`);
  });
  afterAll(async () => {
    await database.close();
    await s3.stop();
    await rm(folder, { recursive: true, force: true });
  });

  let places = 0;
  const inFolder = (): ParquetConfig['place'] => {
    places += 1;
    return { kind: 'folder', path: path.join(folder, String(places)) };
  };
  const inBucket = (): { kind: 's3' } & S3Options => {
    places += 1;
    const prefix = `${places}/`;
    return {
      kind: 's3',
      bucket: 'audit',
      prefix,
      endpoint: s3.url,
      pathStyle: true,
      sessionToken: null,
      ...KEY,
    };
  };
  const filesOf = (place: ParquetConfig['place']): VersionedFiles =>
    place.kind === 's3' ? createS3Files(place) : createFolderFiles(place.path);
  function sinkOf(place: ParquetConfig['place'], more: Partial<ParquetConfig> = {}) {
    const limits = { intervalMs: HOUR_MS, maxRows: 1_000_000, maxBytes: 64 * 1024 * 1024 };
    const config: ParquetConfig = { place, from: 'oldest', ...limits, ...more };
    return createParquetSink({ config, source: () => database.instanceId, now: () => nowMs });
  }
  function run(place: ParquetConfig['place'], more: Partial<ParquetConfig> = {}): TestRunner {
    const runner = testRunner({
      sink: sinkOf(place, more),
      database,
      tail: store.tail,
      from: more.from ?? 'oldest',
    });
    runners.push(runner);
    runner.start();
    return runner;
  }
  async function write(count: number): Promise<string[]> {
    const events = Array.from({ length: count }, () => {
      written += 1;
      return storedEvent({ control_execution_id: `event-${written}` });
    });
    await store.write(events.map(store.encode));
    return events.map(idOf);
  }
  const taken = (runner: TestRunner, count: number) =>
    until(
      () => runner.figures.delivered,
      (delivered) => delivered >= count,
    );
  const listed = (files: VersionedFiles, count: number) =>
    until(
      () => listedFiles(files),
      (entries) => entries.length >= count,
    );
  const ids = async (files: VersionedFiles) => (await allRows(files)).map(idOf);

  it('have every member of any event, with its type, as another implementation reads them', async () => {
    const events = fc.sample(eventArbitrary(START_MS, ['client', 'service']), { numRuns: 1_500, seed: 1 });
    const distinct = events.map((event, index) => ({ ...event, control_execution_id: `any-${index}` }));
    const exact = { ...storedEvent(), metadata: parseStoredJson('{"big":123456789012345678901234567890.5}') };
    const first = { us: -62_135_596_800_000_000n, text: '0001-01-01T00:00:00' };
    const odd = [
      { ...exact, control_execution_id: 'exact' } as ControlEvent,
      storedEvent({ control_execution_id: 'first', timestamp: first, control_id: -(2 ** 31) }),
      storedEvent({ control_execution_id: 'long', error_message: 'ü'.repeat(3_000_000) }),
    ];
    for (let at = 0; at < distinct.length; at += 500)
      await store.write(distinct.slice(at, at + 500).map(store.encode));
    await store.write(odd.map(store.encode));
    const place = inFolder();
    const runner = run(place);
    await taken(runner, 1_503);
    await runner.close();
    const rows = byId(await allRows(filesOf(place)));
    const expected = byId(await allEvents(database));
    expect(rows.map(shownRow)).toEqual(expected.map(forwardedEvent));
    for (const [index, event] of expected.entries()) {
      const read = rows[index]?.timestamp as Date;
      expect(read.getTime()).toBe(Number(event.timestamp.us / 1_000n));
    }
  });

  it.each([
    ['a folder', inFolder],
    ['a bucket', inBucket],
  ])('are written to %s at the end of each hour, and when they are large enough', async (_name, newPlace) => {
    const place = newPlace();
    const files = filesOf(place);
    const runner = run(place, { maxRows: 400 });
    const before = await write(10);
    await taken(runner, 10);
    expect(await listedFiles(files)).toEqual([]);
    nowMs += HOUR_MS;
    await listed(files, 1);
    const more = await write(450);
    await listed(files, 2);
    nowMs += 14 * HOUR_MS;
    const last = await write(1);
    await taken(runner, 461);
    nowMs += HOUR_MS;
    const entries = await listed(files, 3);
    expect(entries.map(({ path: one }) => one.slice(0, 'date=2026-12-09/hour=01/'.length))).toEqual([
      'date=2026-12-08/hour=10/',
      'date=2026-12-08/hour=11/',
      'date=2026-12-09/hour=01/',
    ]);
    expect(await ids(files)).toEqual([...before, ...more, ...last]);
  });

  it('are written when the interval is over, or the limit of bytes is reached', async () => {
    const place = inFolder();
    const files = filesOf(place);
    const runner = run(place, { intervalMs: 60_000, maxBytes: 100_000 });
    await write(1);
    await taken(runner, 1);
    nowMs += 60_000;
    await listed(files, 1);
    await write(300);
    await listed(files, 2);
    expect((await ids(files)).length).toBe(301);
  });

  it('have everything taken so far when the service stops', async () => {
    const place = inFolder();
    const runner = run(place);
    const before = await write(3);
    await taken(runner, 3);
    await runner.close();
    expect(await ids(filesOf(place))).toEqual(before);
    const after = await write(2);
    const next = run(place);
    await taken(next, 2);
    await next.close();
    expect(await ids(filesOf(place))).toEqual([...before, ...after]);
  });

  it('hold events once after a process has ended between any two steps', async () => {
    const place = inFolder();
    const files = filesOf(place);
    const all: string[] = [];
    // How far each process gets with a file: only taken, written, or listed.
    for (const end of ['taken', 'written', 'listed'] as const) {
      const session = await sinkOf(place, { maxRows: end === 'taken' ? 1_000 : 1 }).open(
        null,
        async () => 0n,
        NEVER,
      );
      all.push(...(await write(5)));
      const part = await store.tail.after('search', session.start, {});
      if (end === 'written') {
        // As if it was killed before the manifest was replaced: another process has replaced it meanwhile.
        const { upTo } = await openManifest({
          files,
          ...ownerOf(database.instanceId),
          first: async () => 0n,
        });
        const manifest = (await files.read('manifest/00000001.json')) ?? {
          bytes: Buffer.alloc(0),
          version: '',
        };
        await files.replace('manifest/00000001.json', manifest.bytes, manifest.version);
        await expect(session.take(part.events, part.upTo)).rejects.toThrow(FileChangedError);
        expect(session.durable).toBe(upTo);
        expect((await files.list('date=', '')).length).toBe((await listedFiles(files)).length + 1);
      } else {
        await session.take(part.events, part.upTo);
      }
      await session.close();
    }
    expect(await ids(files)).toEqual(all);
    const next = run(place);
    await taken(next, 0);
    await until(
      () => next.figures.isRunning,
      (isRunning) => isRunning,
    );
    // The file that was not listed is gone.
    expect(await files.list('date=', '')).toEqual((await listedFiles(files)).map(({ path: one }) => one));
  });

  it('of two processes that deliver at the same time hold events once', async () => {
    const place = inBucket();
    const files = filesOf(place);
    const first = await sinkOf(place, { maxRows: 1 }).open(null, async () => 0n, NEVER);
    const second = await sinkOf(place, { maxRows: 1 }).open(null, async () => 0n, NEVER);
    const all = await write(5);
    const part = await store.tail.after('search', first.start, {});
    await second.take(part.events, part.upTo);
    await expect(first.take(part.events, part.upTo)).rejects.toThrow(FileChangedError);
    await first.close();
    await second.close();
    expect(await ids(files)).toEqual(all);
  });

  it('are written later when the bucket fails for a while, from the log', async () => {
    const place = inBucket();
    const files = filesOf(place);
    const runner = run(place, { maxRows: 1 });
    const before = await write(2);
    await listed(files, 1);
    s3.failWith(503);
    const after = await write(3);
    await until(
      () => runner.figures.failures,
      (failures) => failures >= 2,
    );
    s3.failWith(null);
    s3.loseReplies(1);
    await listed(files, 2);
    expect(await ids(files)).toEqual([...before, ...after]);
  });

  it('begin with the events from now on if that is configured, even if there are none before the next start', async () => {
    const place = inFolder();
    await write(4);
    const runner = run(place, { from: 'now' });
    await until(
      () => runner.figures.isRunning,
      (isRunning) => isRunning,
    );
    await runner.close();
    const after = await write(2);
    const next = run(place, { from: 'now' });
    await taken(next, 2);
    await next.close();
    expect(await ids(filesOf(place))).toEqual(after);
  });

  it('say how often the database was restored, since positions begin again then', async () => {
    const place = inFolder();
    const files = filesOf(place);
    const before = await write(5);
    const runner = run(place);
    await taken(runner, 5);
    await runner.close();
    const end = (await store.tail.state()).head - 2n;
    await executeSql(
      url,
      `BEGIN; DELETE FROM "events" WHERE "position" > ${end}; UPDATE "event_log" SET "position" = ${end}; COMMIT`,
    );
    const next = run(place);
    await until(
      () => next.figures.isRunning && next.figures.position === end,
      (isRewound) => isRewound,
    );
    const after = await write(1);
    await taken(next, 1);
    await next.close();
    const entries = await listedFiles(files);
    expect(entries.map(({ rows, restorations }) => [rows, restorations])).toEqual([
      [5, 0],
      [1, 1],
    ]);
    expect(entries[1]).toMatchObject({ after: Number(end), up_to: Number(end) + 1 });
    expect([before.length, after.length]).toEqual([5, 1]);
  });

  it('of another database are not added to', async () => {
    const place = inFolder();
    await openManifest({ files: filesOf(place), ...ownerOf('another'), first: async () => 0n });
    const error = await sinkOf(place)
      .open(null, async () => 0n, NEVER)
      .catch((thrown: Error) => thrown);
    expect(String(error)).toContain('lists the events of another database');
  });

  it('are not written to a store that ignores the conditions of writes', async () => {
    const old = await startS3Server({ ...KEY, bucket: 'audit', ignoresConditions: true });
    const error = await sinkOf({ ...inBucket(), endpoint: old.url })
      .open(null, async () => 0n, NEVER)
      .catch((thrown: Error) => thrown);
    expect(String(error)).toContain('ignores the conditions of writes');
    expect(old.objects.size).toBe(0);
    await old.stop();
  });
});
