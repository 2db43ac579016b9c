import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { ANONYMOUS } from '../../../src/contract/call/handler.js';
import { ControlFeed } from '../../../src/manage/agents/control-feed.js';
import { createWatchControls, type WatchControls } from '../../../src/manage/agents/watch-controls.js';
import { type Database, type DbClient, openDatabase } from '../../../src/storage/database/database.js';
import { serviceRegistry } from '../../support/evaluators.js';
import { keyOf } from '../../support/scoped.js';
import { executeSql } from '../../support/sql.js';

const AGENT = 'fed-agent-01';
const KEY = keyOf(AGENT);
const DEFINITION = JSON.stringify({
  execution: 'server',
  condition: { selector: { path: 'input' }, evaluator: { name: 'regex', config: { pattern: 'x' } } },
  action: { decision: 'deny' },
  enabled: true,
});
const NEVER = new AbortController().signal;
const HOUR_MS = 3_600_000;

type Message = {
  revision: number;
  full?: { controls: { name: string }[] };
  changed?: { upserted: { name: string }[]; removed: number[] };
  current?: { staleness_seconds: number };
};

describe('the feed of controls', () => {
  let directory: string;
  let url: string;
  let database: Database;
  let feed: ControlFeed;
  let loads = 0;
  let fails = false;
  const followed = { revision: 1, currentAtMs: 0 };
  beforeEach(async () => {
    directory = mkdtempSync(path.join(tmpdir(), 'feed-'));
    url = `file:${path.join(directory, 'service.db')}`;
    database = await openDatabase({ url });
    await executeSql(
      url,
      `INSERT INTO "agents" ("id", "name", "data", "created_at_ms") VALUES (1, '${AGENT}', '{}', 1);
       UPDATE "service_state" SET "revision" = 1`,
    );
    loads = 0;
    fails = false;
    Object.assign(followed, { revision: 1, currentAtMs: 0 });
    feed = feedOf();
  });
  afterEach(async () => {
    await database.close();
    rmSync(directory, { recursive: true, force: true });
  });

  /** The client of the database, which fails when it is told to. */
  function failingClient(): DbClient {
    return new Proxy(database.client, {
      get(target, member) {
        if (member === '$queryRaw') {
          loads += 1;
          if (fails) return () => Promise.reject(Object.assign(new Error('gone'), { code: 'ECONNREFUSED' }));
        }
        return Reflect.get(target, member) as unknown;
      },
    });
  }

  function feedOf(maxWatchers?: number, now = () => 0): ControlFeed {
    return new ControlFeed({
      client: failingClient(),
      registry: serviceRegistry,
      followed: () => followed,
      now,
      ...(maxWatchers === undefined ? {} : { maxWatchers }),
    });
  }

  const watcher = (heartbeatMs = HOUR_MS, now = () => 0): WatchControls =>
    createWatchControls({ feed, asked: { note: () => {} }, now, heartbeatMs, maxMessageBytes: 1_000_000 });
  const open = (watch = watcher(), signal = NEVER, fromRevision?: number) =>
    watch(
      {
        agent_name: AGENT,
        from_revision: fromRevision,
        max_message_bytes: undefined,
        target_type: undefined,
        target_id: undefined,
      },
      { signal, principal: ANONYMOUS },
    );
  const next = async (stream: AsyncGenerator<object>) => (await stream.next()).value as Message;

  /** Commits a control that is linked to the agent, without telling the feed. */
  async function link(id: number, revision: number): Promise<void> {
    await executeSql(
      url,
      `INSERT INTO "controls" ("id", "name", "live_name", "data", "enabled", "template_backed", "restricts_step_types",
         "restricts_stages", "created_at_ms", "updated_at_ms")
         VALUES (${id}, 'control-${id}', 'control-${id}', '${DEFINITION}', 1, 0, 0, 0, 1, 1);
       INSERT INTO "agent_controls" ("agent_id", "control_id") VALUES (1, ${id});
       UPDATE "service_state" SET "revision" = ${revision}`,
    );
  }
  function tell(revision: number): void {
    feed.changed([{ revision, agents: [KEY], controls: [], policies: [], targets: [], access: false }]);
    followed.revision = revision;
  }

  it('tells all streams the same objects, also at a later revision without a change of the controls', async () => {
    const first = (await next(open())) as object as { full: object };
    expect(await next(open())).toBe(first);
    feed.changed([{ revision: 2, agents: [], controls: [], policies: [], targets: [], access: false }]);
    followed.revision = 2;
    const later = await next(open());
    expect(later.revision).toBe(2);
    expect(later.full).toBe(first.full);
  });

  it('lists from the loaded controls those of exactly the revision that the database is at', async () => {
    await link(1, 2);
    const agent = await feed.at(KEY, 2);
    expect(agent?.listed().map(({ view }) => view.id)).toEqual([1]);
    const reply = agent?.reply('all', () => ({ controls: agent.listed() }));
    const before = loads;
    expect((await feed.at(KEY, 2))?.reply('all', () => ({ controls: [] }))).toBe(reply);
    expect(loads).toBe(before);
    // A change that this process was not told of.
    await link(2, 3);
    const changed = await feed.at(KEY, 3);
    expect(changed?.listed().map(({ view }) => view.id)).toEqual([2, 1]);
    expect(changed?.reply('all', () => ({ controls: [] }))).not.toBe(reply);
    // A database that was restored to an earlier revision.
    expect(await feed.at(KEY, 2)).toBeNull();
    await expect(feed.at(keyOf('another-agent-1'), 3)).rejects.toMatchObject({ code: 'AGENT_NOT_FOUND' });
    expect(feed.watchers).toBe(0);
    feed.close();
    expect(await feed.at(KEY, 3)).toBeNull();
  });

  it('sends a slow reader the newest state in one message', async () => {
    const slow = open();
    expect(await next(slow)).toEqual({ revision: 1, full: { controls: [] } });
    const quick = open();
    await next(quick);
    for (const id of [1, 2, 3]) {
      await link(id, id + 1);
      tell(id + 1);
      expect(await next(quick)).toMatchObject({ revision: id + 1, changed: { upserted: [{ id }] } });
    }
    const late = await next(slow);
    expect(late.revision).toBe(4);
    expect(late.changed?.upserted.map(({ name }) => name)).toEqual(['control-3', 'control-2', 'control-1']);
    await slow.return(undefined);
    await quick.return(undefined);
  });

  it('gives readers at the same state one message', async () => {
    const streams = [open(), open(), open()];
    const first = await Promise.all(streams.map(next));
    expect(new Set(first).size).toBe(1);
    await link(1, 2);
    tell(2);
    const second = await Promise.all(streams.map(next));
    expect(new Set(second).size).toBe(1);
    expect(loads).toBe(2);
  });

  it('loads an agent once for streams that are opened one after the other, and forgets it later', async () => {
    const clock = { ms: 0 };
    feed = feedOf(undefined, () => clock.ms);
    for (let count = 0; count < 20; count += 1) {
      const stream = open();
      expect((await next(stream)).full).toEqual({ controls: [] });
      await stream.return(undefined);
      clock.ms += 100;
    }
    expect([loads, feed.size, feed.watchers]).toEqual([1, 0, 0]);
    // What changed meanwhile is in the first message.
    await link(1, 2);
    tell(2);
    const later = open();
    expect((await next(later)).full?.controls).toMatchObject([{ id: 1 }]);
    await later.return(undefined);
    const before = loads;
    clock.ms += 10_000;
    feed.catchUp();
    await link(2, 3);
    tell(3);
    feed.catchUp();
    expect(loads).toBe(before);
    const fresh = open();
    expect((await next(fresh)).full?.controls).toHaveLength(2);
    expect(loads).toBe(before + 1);
    await fresh.return(undefined);
  });

  it('reports now and then that nothing changed, up to which revision, and how long ago that was known', async () => {
    const stream = open(watcher(1, () => 4_500));
    await next(stream);
    expect(await next(stream)).toEqual({ revision: 1, current: { staleness_seconds: 4.5 } });
    Object.assign(followed, { revision: 7, currentAtMs: 4_000 });
    expect(await next(stream)).toEqual({ revision: 7, current: { staleness_seconds: 0.5 } });
    await stream.return(undefined);
  });

  it('continues after an outage of the database, and does not report the change as known meanwhile', async () => {
    const stream = open(watcher(1));
    await next(stream);
    fails = true;
    await link(1, 2);
    tell(2);
    followed.revision = 9;
    expect(await next(stream)).toMatchObject({ revision: 1, current: {} });
    fails = false;
    feed.catchUp();
    let message = await next(stream);
    while (message.changed === undefined) message = await next(stream);
    expect(message).toMatchObject({ revision: 9, changed: { upserted: [{ id: 1 }] } });
    await stream.return(undefined);
  });

  it('refuses to begin during an outage of the database', async () => {
    fails = true;
    await expect(next(open())).rejects.toMatchObject({ code: 'SERVICE_UNAVAILABLE' });
    expect(feed.size).toBe(0);
    expect(feed.watchers).toBe(0);
  });

  it('sends everything anew when the database was restored', async () => {
    await link(1, 5);
    followed.revision = 5;
    const stream = open();
    expect(await next(stream)).toMatchObject({ revision: 5, full: { controls: [{ id: 1 }] } });
    await executeSql(url, 'UPDATE "service_state" SET "revision" = 2');
    followed.revision = 2;
    feed.startOver(5);
    expect(await next(stream)).toMatchObject({ revision: 2, full: { controls: [{ id: 1 }] } });
    // A client that comes with a revision of the database before that one has to be told everything too.
    const other = open(watcher(), NEVER, 5);
    expect(await next(other)).toMatchObject({ revision: 2, full: { controls: [{ id: 1 }] } });
    await stream.return(undefined);
    await other.return(undefined);
  });

  it('reads what a client already has, though this process has not yet received it', async () => {
    const first = open();
    await next(first);
    await link(1, 2);
    const second = open(watcher(), NEVER, 2);
    expect(await next(second)).toMatchObject({ revision: 2 });
    expect(await next(first)).toMatchObject({ revision: 2, changed: { upserted: [{ id: 1 }] } });
  });

  it('ends with AGENT_NOT_FOUND when the agent is gone', async () => {
    const stream = open();
    await next(stream);
    await executeSql(url, 'DELETE FROM "agents"; UPDATE "service_state" SET "revision" = 2');
    tell(2);
    await expect(next(stream)).rejects.toMatchObject({ code: 'AGENT_NOT_FOUND' });
    expect(feed.size).toBe(0);
  });

  it('releases a reader that ended while it waited, and an agent without watchers', async () => {
    const abort = new AbortController();
    const stream = open(watcher(), abort.signal);
    await next(stream);
    const waiting = stream.next();
    expect([feed.size, feed.watchers]).toEqual([1, 1]);
    abort.abort();
    expect(await waiting).toEqual({ value: undefined, done: true });
    expect([feed.size, feed.watchers]).toEqual([0, 0]);
    tell(2);
    expect(loads).toBe(1);
  });

  it('takes a bounded number of readers', async () => {
    feed = feedOf(2);
    const streams = [open(), open()];
    await Promise.all(streams.map(next));
    await expect(next(open())).rejects.toMatchObject({ code: 'SERVICE_UNAVAILABLE' });
    await streams[0]?.return(undefined);
    expect(await next(open())).toMatchObject({ full: {} });
  });

  it('ends every stream when it is closed, and begins no other', async () => {
    const streams = [open(), open()];
    await Promise.all(streams.map(next));
    const ends = streams.map((stream) => stream.next().catch((error: unknown) => error));
    feed.close();
    for (const end of ends) expect(await end).toMatchObject({ code: 'DRAINING' });
    await expect(next(open())).rejects.toMatchObject({ code: 'DRAINING' });
    expect(feed.watchers).toBe(0);
  });
});
