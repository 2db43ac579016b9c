import { expect, it } from 'vitest';
import { createEventPruner } from '../../../../src/observe/events/event-pruner.js';
import type { ControlEvent } from '../../../../src/observe/events/store/event.js';
import { pruningLimits } from '../../../../src/observe/events/store/event-retention.js';
import type { EventStore } from '../../../../src/observe/events/store/event-store.js';
import { utcTime } from '../../../../src/observe/events/store/event-time.js';
import { type TimeRange, timeWindow } from '../../../../src/observe/events/store/time-range.js';
import { storedEvent } from '../events.support.js';
import { describeOnEachEventStore } from './event-stores.support.js';

const NOW = 1_760_000_000_123;
const DAY = 86_400_000;
const RETENTION_DAYS = 30;
const CUTOFF_US = BigInt(NOW - RETENTION_DAYS * DAY) * 1_000n;

const eventAt = (us: bigint, id: string): ControlEvent =>
  storedEvent({ control_execution_id: id, timestamp: utcTime(us) });
const write = (store: EventStore, ...events: ControlEvent[]) => store.write(events.map(store.encode));

function pruner({ retention }: EventStore, nowMs = NOW, retentionDays = RETENTION_DAYS) {
  return createEventPruner({
    retention,
    retentionDays,
    log: { info: () => {} },
    failures: { failed: (_kind, message) => expect(message).toBe('no failure') },
    now: () => nowMs,
  });
}

async function ids({ search }: EventStore): Promise<string[]> {
  const { events } = await search.page({}, { limit: 1_000 });
  return events.map(({ control_execution_id: id }) => id).toSorted();
}

async function executions(store: EventStore, range: TimeRange = '365d', nowMs = NOW): Promise<number> {
  const { agents } = await store.statistics.count({
    agentName: null,
    controlId: null,
    window: timeWindow(range, nowMs),
    byBucket: false,
    agents: 10,
    controls: 10,
    topControls: 0,
  });
  return agents.reduce((sum, one) => sum + Number(one.executions), 0);
}

describeOnEachEventStore('retention', (fresh) => {
  it('deletes what is older than its limit, and says before how much that is', async () => {
    const store = (await fresh()).store(NOW);
    await write(
      store,
      eventAt(CUTOFF_US, 'at'),
      eventAt(CUTOFF_US - 1n, 'before'),
      eventAt(CUTOFF_US + 1n, 'after'),
      eventAt(-(10n ** 15n), 'long before'),
      eventAt(BigInt(NOW) * 1_000n, 'new'),
    );
    const limits = pruningLimits(NOW, RETENTION_DAYS);
    expect((await store.retention.oldest()).eventUs).toBe(-(10n ** 15n));
    expect(await store.retention.count(limits)).toMatchObject({ events: 2 });
    expect(await ids(store)).toHaveLength(5);
    expect(await pruner(store).prune()).toMatchObject({ events: 2 });
    expect(await ids(store)).toEqual(['after', 'at', 'new']);
    expect(await store.search.count({})).toBe(3);
    expect((await store.retention.oldest()).eventUs).toBe(CUTOFF_US);
    expect(await pruner(store).prune()).toEqual({ events: 0, rollups: 0 });
  });

  it('leaves statistics as they are, also when they are rebuilt', async () => {
    const store = (await fresh()).store(NOW);
    const old = Array.from({ length: 50 }, (_, index) =>
      eventAt(CUTOFF_US - BigInt(index + 1) * 3_600_000_000n, `old-${index}`),
    );
    await write(store, ...old, eventAt(BigInt(NOW) * 1_000n, 'new'));
    expect(await executions(store)).toBe(51);
    await pruner(store).prune();
    expect(await ids(store)).toEqual(['new']);
    expect(await store.rebuildStatistics()).toMatchObject({ corrected: 0 });
    expect(await executions(store)).toBe(51);
  });

  it('forgets the ids of deleted events: the same event is new then, and counted', async () => {
    const store = (await fresh()).store(NOW);
    await write(store, eventAt(CUTOFF_US - 5_000_000n, 'old'));
    await pruner(store).prune();
    await write(store, eventAt(CUTOFF_US - 5_000_000n, 'old'), eventAt(BigInt(NOW) * 1_000n, 'new'));
    expect(await executions(store)).toBe(3);
    await pruner(store).prune();
    expect(await ids(store)).toEqual(['new']);
    expect(await store.rebuildStatistics()).toMatchObject({ corrected: 0 });
    expect(await executions(store)).toBe(3);
  });

  it('keeps events forever when configured so', async () => {
    const store = (await fresh()).store(NOW);
    await write(store, eventAt(-(10n ** 15n), 'old'));
    expect(await pruner(store, NOW, 0).prune()).toMatchObject({ events: 0 });
    expect(await ids(store)).toEqual(['old']);
  });

  it('is claimed by one of several processes', async () => {
    const { replica, store } = await fresh();
    const one = store(NOW);
    const other = store(NOW, await replica());
    expect(await one.retention.claim()).toBe(true);
    expect(await other.retention.claim()).toBe(false);
  });

  it('keeps every count right while processes store events and prune at the same time', async () => {
    const { replica, store } = await fresh();
    const stores = [store(NOW), store(NOW, await replica()), store(NOW, await replica())];
    const [first, second, third] = stores;
    if (first === undefined || second === undefined || third === undefined) throw new Error('no stores');
    const each = 600;
    const sent = (writer: number) =>
      Array.from({ length: each }, (_, index) => {
        // Half of them are too old when they arrive.
        const ageMs = index % 2 === 0 ? RETENTION_DAYS * DAY + 1 + index * 60_000 : index * 60_000;
        return eventAt(BigInt(NOW - ageMs) * 1_000n, `${writer}-${index}`);
      });
    let writing = true;
    const pruned = (async () => {
      while (writing) await pruner(third).prune();
    })();
    await Promise.all(
      [first, second].map(async (one, index) => {
        const events = sent(index);
        for (let at = 0; at < each; at += 60) await write(one, ...events.slice(at, at + 60));
      }),
    );
    writing = false;
    await pruned;
    await pruner(first).prune();
    expect(await first.search.count({})).toBe(each);
    expect(await executions(first)).toBe(2 * each);
    expect(await first.rebuildStatistics()).toMatchObject({ corrected: 0 });
  });
});
