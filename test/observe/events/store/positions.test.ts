import { expect, it } from 'vitest';
import type { EventStore } from '../../../../src/observe/events/store/event-store.js';
import { utcTimeOfMs } from '../../../../src/observe/events/store/event-time.js';
import { CLICKHOUSE_URL } from '../../../support/clickhouse.js';
import { storedEvent } from '../events.support.js';
import { describeOnEachEventStore } from './event-stores.support.js';

const NOW = 1_760_000_000_123;
/** Of each writer. ClickHouse in one thread takes a second for each. */
const BATCHES = CLICKHOUSE_URL === undefined ? 15 : 6;

const event = (id: string, origin: 'client' | 'service' = 'client') =>
  storedEvent({ control_execution_id: id, origin, timestamp: utcTimeOfMs(NOW) });

/** All that is stored after a position, and the last position. */
async function readAfter({ tail }: EventStore, from: bigint): Promise<{ ids: string[]; upTo: bigint }> {
  const ids: string[] = [];
  let upTo = from;
  for (let more = true; more; ) {
    const part = await tail.after('search', upTo, {});
    ids.push(...part.events.map(({ event: { control_execution_id: id } }) => id));
    more = part.upTo < part.head;
    upTo = part.upTo;
  }
  return { ids, upTo };
}

describeOnEachEventStore('positions', (fresh) => {
  it('are read without a gap while several processes write', async () => {
    const { database, replica, store } = await fresh();
    const writers = [database, await replica(), await replica()].map((on) => store(NOW, on));
    const reader = store(NOW, await replica());
    let { head: position } = await reader.tail.state();
    let writing = true;
    const told: string[] = [];
    const reading = (async () => {
      for (let last = false; !last; ) {
        last = !writing;
        const { ids, upTo } = await readAfter(reader, position);
        told.push(...ids);
        position = upTo;
      }
    })();
    const sent = await Promise.all(
      writers.map(async (one, writer) => {
        const ids: string[] = [];
        for (let batch = 0; batch < BATCHES; batch += 1) {
          const events = Array.from({ length: 1 + batch * 3 }, (_, index) =>
            event(`${writer}-${batch}-${index}`),
          );
          await one.write(events.map(one.encode));
          ids.push(...events.map(({ control_execution_id: id }) => id));
        }
        return ids;
      }),
    );
    writing = false;
    await reading;
    expect(told).toHaveLength(new Set(told).size);
    expect(told.toSorted()).toEqual(sent.flat().toSorted());
    for (const [writer, ids] of sent.entries())
      expect(told.filter((id) => id.startsWith(`${writer}-`))).toEqual(ids);
  });

  it('of events that are sent again, or completed later, stay the same', async () => {
    const store = (await fresh()).store(NOW);
    const before = (await store.tail.state()).head;
    await store.write([event('a'), event('b')].map(store.encode));
    const { upTo } = await readAfter(store, before);
    await store.write([event('a'), event('b', 'service'), event('c')].map(store.encode));
    expect((await readAfter(store, upTo)).ids).toEqual(['c']);
    const all = await store.tail.after('search', before, {});
    expect(all.events.map(({ event: { control_execution_id: id, origin } }) => [id, origin])).toEqual([
      ['a', 'client'],
      ['b', 'merged'],
      ['c', 'client'],
    ]);
  });

  it('of deleted events are reported', async () => {
    const store = (await fresh()).store(NOW);
    const before = (await store.tail.state()).head;
    await store.write([store.encode({ ...event('old'), timestamp: utcTimeOfMs(NOW - 86_400_000) })]);
    await store.write([store.encode(event('new'))]);
    const remove = store.retention.eventBatches(BigInt(NOW - 3_600_000) * 1_000n);
    while ((await remove()) > 0);
    const part = await store.tail.after('search', before, {});
    expect(part.events.map(({ event: { control_execution_id: id } }) => id)).toEqual(['new']);
    expect(part.prunedPosition).toBeGreaterThan(before);
    expect(part.prunedPosition).toBeLessThan(part.head);
    expect(part.head).toBe((await store.tail.state()).head);
  });

  it('are skipped after a restore, so that none is given away twice, and readers learn which ones', async () => {
    const { store } = await fresh();
    const one = store(NOW);
    await one.write(['a', 'b', 'c'].map((id) => one.encode(event(id))));
    const { head, restored } = await one.tail.state();
    expect(restored).toEqual({ from: 0n, to: 0n });

    await one.skipPositions(1_000_000, 0);
    const to = head + 1_000_000n;
    expect(await one.tail.state()).toMatchObject({ head: to, restored: { from: head, to } });
    // Nothing was stored in between: both are one restore.
    await one.skipPositions(1_000_000, 0);
    const further = { from: head, to: to + 1_000_000n };
    expect(await one.tail.after('search', head + 5n, {})).toMatchObject({
      events: [],
      head: further.to,
      restored: further,
    });

    await one.write([one.encode(event('d')), one.encode(event('a'))]);
    expect((await readAfter(one, head + 5n)).ids).toEqual(['d']);
    expect((await readAfter(one, further.to)).ids).toEqual(['d']);
    const { ids, upTo } = await readAfter(one, 0n);
    expect(ids).toEqual(['a', 'b', 'c', 'd']);
    await one.skipPositions(1_000_000, 0);
    expect((await one.tail.state()).restored).toEqual({ from: upTo, to: upTo + 1_000_000n });
    await one.skipPositions(1, 1_000_000_000_000_000);
    expect(await one.tail.state()).toMatchObject({
      head: 1_000_000_000_000_000n,
      restored: { from: upTo, to: 1_000_000_000_000_000n },
    });
    expect(await one.rebuildStatistics()).toMatchObject({ corrected: 0 });
  });
});
