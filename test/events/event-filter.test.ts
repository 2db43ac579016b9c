import fc from 'fast-check';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { type Database, openDatabase } from '../../src/database/database.js';
import type { ControlEvent } from '../../src/events/event.js';
import { type EventFilter, eventTest, filterKey } from '../../src/events/event-filter.js';
import { encodeEvent } from '../../src/events/sql/event-row.js';
import { createEventSearch } from '../../src/events/sql/event-search.js';
import { createEventTail } from '../../src/events/sql/event-tail.js';
import { createEventWriter } from '../../src/events/sql/event-writer.js';
import { describeOnEachDatabase } from '../support/databases.js';
import { eventArbitrary } from './events.support.js';

const NOW_MS = 1_700_000_000_000;

const optional = <T>(value: fc.Arbitrary<T>) => fc.option(value, { nil: undefined });
const some = <T>(...values: T[]) => fc.subarray(values);
const moment = fc
  .integer({ min: -100 * 86_400_000, max: 100 * 86_400_000 })
  .map((age) => BigInt(NOW_MS - age) * 1_000n);

const filterArbitrary: fc.Arbitrary<EventFilter> = fc.record({
  traceId: optional(fc.constantFrom('', 'trace-1', 'trace-3', 'trace-1\\0')),
  spanId: optional(fc.constantFrom('', 'span-1', 'span-3')),
  executionId: fc.option(fc.constantFrom('check-1', 'check-99'), { nil: undefined, freq: 4 }),
  agentName: optional(fc.constantFrom('', 'rolled-bot-1', 'Rolled-Bot-1')),
  controlIds: some(1, 2, -3, 2 ** 40),
  actions: some('deny', 'steer', 'observe'),
  matched: optional(fc.boolean()),
  stages: some('pre', 'post'),
  appliesTo: some('llm_call', 'tool_call'),
  fromUs: optional(moment),
  toUs: optional(moment),
  stepType: optional(fc.constantFrom('', 'tool', 'other')),
  stepName: optional(fc.constantFrom('', 'send', 'ö'.repeat(1_024), 'send\\0')),
  sessionId: optional(fc.constantFrom('', 'session-1', 'session-3')),
  stepId: fc.option(fc.constantFrom('step-1', 'step-3'), { nil: undefined, freq: 4 }),
  decisionId: fc.option(fc.constantFrom('decision-1', 'decision-3'), { nil: undefined, freq: 4 }),
  minRevision: fc.option(fc.constantFrom(0, 1, 7, Number.MAX_SAFE_INTEGER), { nil: undefined, freq: 4 }),
  hasError: optional(fc.boolean()),
  maxRevision: fc.option(fc.constantFrom(0, 7, 8, Number.MAX_SAFE_INTEGER), { nil: undefined, freq: 4 }),
});

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

  it('let the same events through in memory and in the database', () =>
    fc.assert(
      fc.asyncProperty(filterArbitrary, async (filter) => {
        const search = createEventSearch(database.bulk, { events: 40, octets: 5_000 });
        const found: string[] = [];
        for await (const part of search.walk(filter)) {
          found.push(...part.map(({ control_execution_id: id }) => id));
        }
        const wanted = stored.filter(eventTest(filter)).map(({ control_execution_id: id }) => id);
        expect(found.toSorted()).toEqual(wanted.toSorted());
        const tail = createEventTail(database.bulk, { events: 40, octets: 5_000 });
        const told: string[] = [];
        for (let position = 0n, end = false; !end; ) {
          const part = await tail.after('search', position, filter);
          told.push(...part.events.map(({ event }) => event.control_execution_id));
          end = part.upTo === part.head;
          position = part.upTo;
        }
        // In the order in which they were stored.
        expect(told).toEqual(wanted);
      }),
      { numRuns: 60 },
    ));

  it('have different keys when they are different', () => {
    fc.assert(
      fc.property(filterArbitrary, filterArbitrary, (one, other) => {
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
    let count = 0;
    for await (const part of search.walk({ agentName: 'rolled-bot-1', stages: ['pre'] }))
      count += part.length;
    expect(count).toBe(stored.filter(eventTest({ agentName: 'rolled-bot-1', stages: ['pre'] })).length);
    expect(count).toBeGreaterThan(10);
    // The first event of a part is in it whatever its size.
    expect(new Set(sizes)).toEqual(new Set([1]));
  });
});
