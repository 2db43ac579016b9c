import fc from 'fast-check';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { encodeEvent } from '../../../src/observe/events/sql/event-row.js';
import { createEventSearch } from '../../../src/observe/events/sql/event-search.js';
import { createEventWriter } from '../../../src/observe/events/sql/event-writer.js';
import type { ControlEvent } from '../../../src/observe/events/store/event.js';
import { type EventFilter, eventTest, filterKey } from '../../../src/observe/events/store/event-filter.js';
import { type Database, openDatabase } from '../../../src/storage/database/database.js';
import { describeOnEachDatabase } from '../../support/databases.js';
import { eventArbitrary } from './events.support.js';
import { filterArbitrary } from './filters.support.js';
import { matches } from './naive-filter.js';

const NOW_MS = 1_700_000_000_000;

describeOnEachDatabase('filters of events', (freshDatabaseUrl) => {
  let database: Database;
  const stored: ControlEvent[] = [];
  beforeAll(async () => {
    database = await openDatabase({ url: await freshDatabaseUrl() });
    const write = createEventWriter({ database, now: () => NOW_MS });
    const sample = fc.sample(eventArbitrary(NOW_MS, ['client']), { numRuns: 300, seed: 8 });
    stored.push(...sample.map((event, index) => ({ ...event, control_execution_id: `check-${index}` })));
    await write(stored.map(encodeEvent));
  });
  afterAll(() => database.close());

  it('let the same events through in memory as one that compares each member', () => {
    fc.assert(
      fc.property(filterArbitrary(NOW_MS), (filter) => {
        expect(stored.map(eventTest(filter))).toEqual(stored.map((event) => matches(filter, event)));
      }),
      { numRuns: 300 },
    );
  });

  it('have different keys when they are different', () => {
    fc.assert(
      fc.property(filterArbitrary(NOW_MS), filterArbitrary(NOW_MS), (one, other) => {
        if (filterKey(one) !== filterKey(other)) return;
        expect(stored.map(eventTest(one))).toEqual(stored.map(eventTest(other)));
      }),
    );
  });

  it('give events in parts that are small however large the events are', async () => {
    const read = { ...database.bulk };
    const sizes: number[] = [];
    const search = createEventSearch(
      {
        async read(lane, query) {
          const rows = await read.read(lane, query);
          sizes.push(rows.length);
          return rows;
        },
      },
      { events: 100, octets: 1 },
    );
    const filter: EventFilter = { agent_name: 'rolled-bot-1', check_stages: ['pre'] };
    let count = 0;
    for await (const part of search.walk(filter)) count += part.length;
    expect(count).toBe(stored.filter(eventTest(filter)).length);
    expect(count).toBeGreaterThan(10);
    // The first event of a part is in it whatever its size.
    expect(new Set(sizes)).toEqual(new Set([1]));
  });
});
