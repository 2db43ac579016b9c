import fc from 'fast-check';
import { beforeAll, expect, it } from 'vitest';
import type { ControlEvent } from '../../../../src/observe/events/store/event.js';
import type { EventCursor } from '../../../../src/observe/events/store/event-search.js';
import type { EventStore } from '../../../../src/observe/events/store/event-store.js';
import { generatedCases } from '../../../support/generated-cases.js';
import { eventArbitrary } from '../events.support.js';
import { filterArbitrary } from '../filters.support.js';
import { matches } from '../naive-filter.js';
import { describeOnEachEventStore } from './event-stores.support.js';

const NOW_MS = 1_700_000_000_000;

const idsOf = (events: readonly ControlEvent[]) => events.map(({ control_execution_id: id }) => id);

describeOnEachEventStore('searches', (fresh) => {
  let store: EventStore;
  const stored: ControlEvent[] = [];
  beforeAll(async () => {
    store = (await fresh()).store(NOW_MS);
    const sample = fc.sample(eventArbitrary(NOW_MS, ['client']), { numRuns: 300, seed: 8 });
    stored.push(...sample.map((event, index) => ({ ...event, control_execution_id: `check-${index}` })));
    for (let at = 0; at < stored.length; at += 100)
      await store.write(stored.slice(at, at + 100).map(store.encode));
  });

  it('let the same events through as the filter in memory: walks, counts, pages and reads by position', () =>
    fc.assert(
      fc.asyncProperty(filterArbitrary(NOW_MS), fc.integer({ min: 1, max: 60 }), async (filter, limit) => {
        const wanted = idsOf(stored.filter((event) => matches(filter, event)));
        const walked: string[] = [];
        for await (const part of store.search.walk(filter)) walked.push(...idsOf(part));
        expect(walked.toSorted()).toEqual(wanted.toSorted());
        expect(await store.search.count(filter)).toBe(wanted.length);
        expect(await store.search.estimate(filter)).toEqual({ events: wanted.length, isExact: true });
        const paged: string[] = [];
        let after: EventCursor | undefined;
        do {
          const page = await store.search.page(filter, { limit, after });
          expect(page.events.length).toBeLessThanOrEqual(limit);
          paged.push(...idsOf(page.events));
          after = page.next;
        } while (after !== undefined);
        expect(paged).toEqual(walked);
        const skipped = await store.search.page(filter, { limit, offset: 7 });
        expect(idsOf(skipped.events)).toEqual(walked.slice(7, 7 + limit));
        const told: string[] = [];
        for (let position = 0n, end = false; !end; ) {
          const part = await store.tail.after('search', position, filter);
          told.push(...idsOf(part.events.map(({ event }) => event)));
          end = part.upTo === part.head;
          position = part.upTo;
        }
        // In the order in which they were stored.
        expect(told).toEqual(wanted);
      }),
      { numRuns: generatedCases(60) },
    ));

  it('give the latest first, and of those with the same time the last stored', async () => {
    const found: ControlEvent[] = [];
    for await (const part of store.search.walk({})) found.push(...part);
    const order = new Map(stored.map((event, index) => [event.control_execution_id, index]));
    const sorted = stored.toSorted(
      (one, other) =>
        Number(other.timestamp.us - one.timestamp.us) ||
        (order.get(other.control_execution_id) ?? 0) - (order.get(one.control_execution_id) ?? 0),
    );
    expect(idsOf(found)).toEqual(idsOf(sorted));
  });
});
