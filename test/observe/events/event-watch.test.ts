import { afterAll, beforeEach, describe, expect, it } from 'vitest';
import { Prisma } from '../../../gen/prisma/sqlite/client.js';
import { DEFAULT_NAMESPACE } from '../../../src/contract/call/namespace.js';
import { parseInput } from '../../../src/contract/input/parse-input.js';
import { EventFeed, type FeedLimits } from '../../../src/observe/events/event-feed.js';
import { createEventSchemas } from '../../../src/observe/events/event-schemas.js';
import { createWatchEvents } from '../../../src/observe/events/event-watch.js';
import { encodeEvent } from '../../../src/observe/events/sql/event-row.js';
import { createEventTail } from '../../../src/observe/events/sql/event-tail.js';
import { createEventWriter } from '../../../src/observe/events/sql/event-writer.js';
import { skipPositions } from '../../../src/observe/events/store/log-row.js';
import type { BulkDatabase } from '../../../src/storage/database/bulk.js';
import { type Database, openDatabase } from '../../../src/storage/database/database.js';
import { unavailable } from '../../../src/storage/database/errors.js';
import { describeOnEachDatabase } from '../../support/databases.js';
import { until } from '../../support/until.js';
import { storedEvent } from './events.support.js';

interface Message {
  readonly position: bigint;
  readonly events?: {
    readonly events: { readonly position: bigint; readonly event: { control_execution_id: string } }[];
  };
  readonly heartbeat?: { readonly staleness_seconds: number };
  readonly fell_behind?: { readonly reason: string; readonly up_to_position: bigint };
}

const idsOf = (messages: readonly Message[]) =>
  messages.flatMap(({ events }) => events?.events.map(({ event }) => event.control_execution_id) ?? []);

describeOnEachDatabase('the streams of events', (freshDatabaseUrl) => {
  let database: Database;
  let write: (...ids: string[]) => Promise<void>;
  const opened: Database[] = [];
  beforeEach(async () => {
    database = await openDatabase({ url: await freshDatabaseUrl() });
    opened.push(database);
    const writer = createEventWriter({ database, now: () => 1_700_000_000_000 });
    write = (...ids) => writer(ids.map((id) => encodeEvent(storedEvent({ control_execution_id: id }))));
  });
  afterAll(async () => {
    for (const one of opened) await one.close();
  });

  /** Streams over a database whose reads can be counted, kept waiting and broken. */
  function service(limits: Partial<FeedLimits> = {}, heartbeatMs = 3_600_000) {
    const reads = { count: 0, broken: false };
    const bulk: Pick<BulkDatabase, 'read'> = {
      async read(lane, query) {
        reads.count += 1;
        if (reads.broken) throw unavailable('away');
        return database.bulk.read(lane, query);
      },
    };
    const tail = createEventTail(bulk);
    const now = () => performance.now();
    // So long that nothing but the test itself makes it read.
    const feed = new EventFeed({
      tail,
      now,
      log: { error: () => {} },
      limits: { pollMs: 3_600_000, ...limits },
    });
    const watch = createWatchEvents({ feed, tail, now, heartbeatMs });
    const schema = createEventSchemas(() => 0).watchEvents;
    return {
      feed,
      reads,
      watch: (request: object = {}, signal = new AbortController().signal) =>
        watch(
          { ...parseInput(schema, request), namespace: DEFAULT_NAMESPACE },
          { signal },
        ) as AsyncGenerator<Message>,
      async store(...ids: string[]) {
        await write(...ids);
        feed.committed();
      },
    };
  }

  async function next(stream: AsyncGenerator<Message>): Promise<Message> {
    const { done, value } = await stream.next();
    if (done === true) throw new Error('the stream has ended');
    return value;
  }

  /** Reads until it is told that it is at the end. */
  async function toEnd(stream: AsyncGenerator<Message>): Promise<Message[]> {
    const messages: Message[] = [];
    for (;;) {
      const message = await next(stream);
      messages.push(message);
      if (message.heartbeat !== undefined) return messages;
    }
  }

  /** As retention does it. */
  async function prune(...positions: bigint[]): Promise<void> {
    const last = positions.reduce((one, other) => (one > other ? one : other));
    await database.bulk.transaction((tx) =>
      tx.run(
        Prisma.sql`UPDATE "event_log" SET "pruned_position" = ${last}, "events" = "events" - ${positions.length}`,
        Prisma.sql`DELETE FROM "events" WHERE "position" IN (${Prisma.join(positions)})`,
      ),
    );
  }

  it('read once for a commit, however many there are, and share the message', async () => {
    const { watch, store, feed, reads } = service();
    const streams = Array.from({ length: 30 }, () => watch());
    for (const stream of streams) await toEnd(stream);
    const before = reads.count;
    const waiting = streams.map((stream) => next(stream));
    await store('a', 'b');
    const messages = await Promise.all(waiting);
    expect(idsOf(messages.slice(0, 1))).toEqual(['a', 'b']);
    expect(new Set(messages).size).toBe(1);
    expect(reads.count - before).toBe(1);
    expect(feed.watchers).toBe(30);
    for (const stream of streams) await stream.return(undefined);
    expect(feed.watchers).toBe(0);
    await store('c');
    expect(reads.count - before).toBe(1);
  });

  it('share nothing with those that filter otherwise', async () => {
    const { watch, store } = service();
    const filters = [
      {},
      { control_execution_id: 'a' },
      { control_execution_id: 'b' },
      { agent_name: 'stored-bot-01' },
    ];
    const streams = filters.map((filter) => watch(filter));
    for (const stream of streams) await toEnd(stream);
    const waiting = streams.map((stream) => next(stream));
    await store('a', 'b');
    const told = (await Promise.all(waiting)).map((message) => idsOf([message]));
    expect(told).toEqual([['a', 'b'], ['a'], ['b'], ['a', 'b']]);
    for (const stream of streams) await stream.return(undefined);
  });

  it('send what others have stored at the next poll', async () => {
    const { watch } = service({ pollMs: 5 });
    const stream = watch();
    await toEnd(stream);
    const waiting = next(stream);
    await write('of another process');
    expect(idsOf([await waiting])).toEqual(['of another process']);
    await stream.return(undefined);
  });

  it('lose nothing for a reader that falls behind what is held in memory, and report that it does', async () => {
    const { watch, store } = service({ recent: { events: 10, octets: 1e9 } });
    const slow = watch();
    await toEnd(slow);
    const ids = Array.from({ length: 60 }, (_, index) => `slow-${index}`);
    const quick = watch();
    await toEnd(quick);
    for (const id of ids) {
      const waiting = next(quick);
      await store(id);
      expect(idsOf([await waiting])).toEqual([id]);
    }
    const told = await toEnd(slow);
    expect(told[0]).toMatchObject({ fell_behind: { reason: 'slow_reader' } });
    expect(told.filter(({ fell_behind: behind }) => behind !== undefined)).toHaveLength(1);
    expect(idsOf(told)).toEqual(ids);
    // It keeps up again, so it is told when it falls behind again.
    for (let index = 0; index < 20; index += 1) await store(`more-${index}`);
    const again = await toEnd(slow);
    expect(again.filter(({ fell_behind: behind }) => behind !== undefined)).toHaveLength(1);
    expect(idsOf(again)).toEqual(Array.from({ length: 20 }, (_, index) => `more-${index}`));
    for (const stream of [slow, quick]) await stream.return(undefined);
  });

  it('hold no more than the limit of bytes', async () => {
    const { watch, store } = service({ recent: { events: 1_000, octets: 1 } });
    const stream = watch();
    await toEnd(stream);
    await store('a', 'b');
    const told = await toEnd(stream);
    expect(told.map((message) => Object.keys(message)[1])).toEqual(['fell_behind', 'events', 'heartbeat']);
    expect(idsOf(told)).toEqual(['a', 'b']);
    await stream.return(undefined);
  });

  it('report when events were deleted that a client requests, and continue with those that are left', async () => {
    const { watch } = service();
    await write('a', 'b', 'c', 'd');
    await prune(1n, 3n);
    const stream = watch({ after_position: 1 });
    const told = await toEnd(stream);
    expect(told[0]).toEqual({ position: 1n, fell_behind: { reason: 'events_deleted', up_to_position: 3n } });
    expect(idsOf(told)).toEqual(['b', 'd']);
    expect(told).toHaveLength(3);
    const after = watch({ after_position: 3 });
    expect(idsOf(await toEnd(after))).toEqual(['d']);
    for (const one of [stream, after]) await one.return(undefined);
  });

  it('report when events were deleted before this process read them', async () => {
    const { watch, feed } = service();
    const stream = watch();
    await toEnd(stream);
    const waiting = next(stream);
    await write('a', 'b');
    await prune(1n);
    feed.committed();
    expect(await waiting).toEqual({
      position: 0n,
      fell_behind: { reason: 'events_deleted', up_to_position: 1n },
    });
    expect(idsOf([await next(stream)])).toEqual(['b']);
    await write('c');
    await prune(2n);
    feed.committed();
    // What was told already is no loss.
    expect(idsOf([await next(stream)])).toEqual(['c']);
    await stream.return(undefined);
  });

  it('start over when the database was restored', async () => {
    const { watch, store, feed } = service();
    const stream = watch({ after_position: 0 });
    await toEnd(stream);
    const first = next(stream);
    await store('a', 'b', 'c');
    expect(idsOf([await first])).toEqual(['a', 'b', 'c']);
    const waiting = next(stream);
    await database.bulk.transaction((tx) =>
      tx.run(
        Prisma.sql`UPDATE "event_log" SET "position" = 1, "events" = 1`,
        Prisma.sql`DELETE FROM "events" WHERE "position" > 1`,
      ),
    );
    feed.committed();
    expect(await waiting).toEqual({
      position: 1n,
      fell_behind: { reason: 'database_restored', up_to_position: 1n },
    });
    const after = next(stream);
    await store('other');
    expect(idsOf([await after])).toEqual(['other']);
    await stream.return(undefined);
  });

  it('report positions of a state before a restore, and send everything that was stored since', async () => {
    const { watch, store, feed } = service();
    await store('a', 'b', 'c', 'lost', 'lost too');
    const stream = watch({ after_position: 0 });
    await toEnd(stream);
    const waiting = next(stream);
    await database.bulk.transaction((tx) =>
      tx.run(
        Prisma.sql`UPDATE "event_log" SET "position" = 3, "events" = 3`,
        Prisma.sql`DELETE FROM "events" WHERE "position" > 3`,
      ),
    );
    await skipPositions('event_log', database.bulk, 1_000, 0);
    await store('d', 'e', 'f');
    feed.committed();
    expect(await waiting).toEqual({
      position: 5n,
      fell_behind: { reason: 'database_restored', up_to_position: 1_006n },
    });
    expect(idsOf([await next(stream)])).toEqual(['d', 'e', 'f']);
    await stream.return(undefined);

    for (const [position, isTold] of [
      [2, false],
      [3, false],
      [4, true],
      [5, true],
      [1_003, false],
      [1_004, false],
    ] as const) {
      const again = watch({ after_position: position });
      const messages = await toEnd(again);
      expect({ position, isTold: messages.some(({ fell_behind }) => fell_behind !== undefined) }).toEqual({
        position,
        isTold,
      });
      const sent = ['c', 'd', 'e', 'f'].slice(position === 2 ? 0 : position === 1_004 ? 2 : 1);
      expect(idsOf(messages)).toEqual(sent);
      await again.return(undefined);
    }
  });

  it('report after a while that there is nothing, and how long ago that was certain', async () => {
    const { watch, store, reads } = service({ pollMs: 1 }, 20);
    await write('before');
    const stream = watch({ agent_name: 'somebody-else' });
    const [first] = await toEnd(stream);
    expect(first).toMatchObject({ position: 1n });
    await store('not for it');
    // Also while there is always something new for others.
    expect(
      await until(
        () => next(stream),
        ({ position }) => position === 2n,
      ),
    ).toMatchObject({ heartbeat: {} });
    reads.broken = true;
    const stale = await until(
      () => next(stream),
      ({ heartbeat }) => (heartbeat?.staleness_seconds ?? 0) > 0.05,
    );
    expect(stale.position).toBe(2n);
    reads.broken = false;
    await stream.return(undefined);
  });

  it('continue after an outage of the database, also for a reader that is behind', async () => {
    const { watch, store, reads, feed } = service({ recent: { events: 1, octets: 1e9 } }, 5);
    await write('a', 'b', 'c');
    const live = watch();
    await toEnd(live);
    const behind = watch({ after_position: 0 });
    reads.broken = true;
    await expect(behind.next()).rejects.toMatchObject({ code: 'SERVICE_UNAVAILABLE' });
    reads.broken = false;
    const again = watch({ after_position: 0 });
    // It has joined when it says that it is behind.
    const first = next(again);
    await until(
      () => feed.watchers,
      (count) => count === 2,
    );
    expect(idsOf([await first])).toEqual(['a', 'b', 'c']);
    reads.broken = true;
    await store('d', 'e');
    reads.broken = false;
    feed.committed();
    expect(
      idsOf([
        await until(
          () => next(live),
          ({ events }) => events !== undefined,
        ),
      ]),
    ).toEqual(['d', 'e']);
    for (const one of [live, again]) await one.return(undefined);
  });

  it('are no more than a limit, and end when the service does', async () => {
    const { watch, feed } = service({ watchers: 2 });
    const streams = [watch(), watch()];
    for (const stream of streams) await toEnd(stream);
    await expect(watch().next()).rejects.toMatchObject({ code: 'SERVICE_UNAVAILABLE' });
    expect(feed.watchers).toBe(2);
    const waiting = streams.map((stream) => expect(next(stream)).rejects.toMatchObject({ code: 'DRAINING' }));
    feed.close();
    await Promise.all(waiting);
    expect(feed.watchers).toBe(0);
    await expect(watch().next()).rejects.toMatchObject({ code: 'DRAINING' });
  });

  it('end when a stored event cannot be read, and new ones begin after it', async () => {
    const { watch, store, feed } = service();
    const stream = watch();
    await toEnd(stream);
    const waiting = expect(next(stream)).rejects.toThrow();
    await write('damaged');
    await database.bulk.transaction((tx) => tx.run(Prisma.sql`UPDATE "events" SET "metadata" = '{'`));
    feed.committed();
    await waiting;
    const later = watch();
    await toEnd(later);
    const told = next(later);
    await store('sound');
    expect(idsOf([await told])).toEqual(['sound']);
    await later.return(undefined);
  });

  it('end their wait when the caller goes away', async () => {
    const { watch, feed } = service();
    const caller = new AbortController();
    const stream = watch({}, caller.signal);
    await toEnd(stream);
    const end = stream.next();
    caller.abort();
    expect(await end).toEqual({ done: true, value: undefined });
    expect(feed.watchers).toBe(0);
  });
});

describe('a stream that filters', () => {
  it('is refused what it cannot keep', () => {
    const schema = createEventSchemas(() => 0).watchEvents;
    expect(() => parseInput(schema, { control_ids: Array.from({ length: 1_001 }, (_, id) => id) })).toThrow();
    expect(() => parseInput(schema, { span_id: 'x'.repeat(1_025) })).toThrow();
    expect(parseInput(schema, { span_id: 'x'.repeat(1_024) }).span_id).toHaveLength(1_024);
  });
});
