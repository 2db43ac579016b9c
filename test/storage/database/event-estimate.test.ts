import fc from 'fast-check';
import { afterAll, beforeAll, expect, it, onTestFinished } from 'vitest';
import { createEventEstimate } from '../../../src/observe/events/sql/event-estimate.js';
import { createSqlEventStore } from '../../../src/observe/events/sql/sql-event-store.js';
import type { ControlEvent } from '../../../src/observe/events/store/event.js';
import { type EventFilter, eventTest } from '../../../src/observe/events/store/event-filter.js';
import { utcTimeOfMs } from '../../../src/observe/events/store/event-time.js';
import { type Database, openDatabase } from '../../../src/storage/database/database.js';
import { eventArbitrary, storedEvent } from '../../observe/events/events.support.js';
import { describeOnEachDatabase } from '../../support/databases.js';

const HOUR_MS = 3_600_000;
const DAY_MS = 24 * HOUR_MS;
/** A whole hour, so that no unit of the rollups is only partly within them. */
const NOW_MS = 490_000 * HOUR_MS;
const ROLLED_MS = 400 * DAY_MS;
const EXACT = 20;
const now = () => NOW_MS;

const optional = <T>(value: fc.Arbitrary<T>) => fc.option(value, { nil: undefined });
const hour = fc.integer({ min: -100, max: 30 * 24 }).map((age) => utcTimeOfMs(NOW_MS - age * HOUR_MS));

/** What rollups know all about; ranges of whole hours. */
const rolledArbitrary: fc.Arbitrary<EventFilter> = fc
  .record({
    agent_name: optional(fc.constantFrom('', 'rolled-bot-1', 'nobody-here')),
    control_ids: fc.subarray([1, 2, -3, 2 ** 40]),
    start_time: optional(hour),
    end_time: optional(hour.map(({ us }) => ({ us: us - 1n }))),
    matched: optional(fc.boolean()),
    has_error: optional(fc.boolean()),
    actions: fc.subarray<'deny' | 'steer' | 'observe'>(['deny', 'steer', 'observe']),
  })
  .map((filter) =>
    filter.actions.length === 0 ? filter : { ...filter, matched: true, has_error: undefined },
  );

const sampledArbitrary: fc.Arbitrary<EventFilter> = fc
  .record({
    rolled: rolledArbitrary,
    check_stages: fc.subarray<'pre' | 'post'>(['pre', 'post']),
    applies_to: fc.subarray<'llm_call' | 'tool_call'>(['llm_call', 'tool_call']),
    session_id: optional(fc.constantFrom('session-1', 'session-3', 'nul \0')),
    matched: optional(fc.boolean()),
  })
  .map(({ rolled, ...more }) => ({ ...rolled, ...more }));

describeOnEachDatabase('the estimated number of events', (freshDatabaseUrl) => {
  let database: Database;
  const stored: ControlEvent[] = [];
  const matching = (filter: EventFilter) => stored.filter(eventTest(filter));
  const estimate = (filter: EventFilter, limits = { exact: EXACT, places: 5, events: 20 }) =>
    createEventEstimate({ database, now, limits })(filter);

  beforeAll(async () => {
    database = await openDatabase({ url: await freshDatabaseUrl() });
    const { write, encode } = createSqlEventStore({ database, now });
    const sample = fc.sample(eventArbitrary(NOW_MS, ['client']), { numRuns: 400, seed: 8 });
    stored.push(...sample.map((event, index) => ({ ...event, control_execution_id: `check-${index}` })));
    // One in four over two days is a deny; every hundredth is of a session.
    for (let index = 0; index < 4_000; index += 1) {
      stored.push(
        storedEvent({
          control_execution_id: `many-${index}`,
          agent_name: index % 10 === 0 ? 'rare-bot-0001' : 'many-bot-0001',
          action: (['deny', 'steer', 'observe', 'observe'] as const)[index % 4] ?? 'deny',
          check_stage: index < 3_000 ? 'pre' : 'post',
          session_id: index % 100 === 7 ? 'seldom' : null,
          timestamp: utcTimeOfMs(NOW_MS - 3 * DAY_MS + index * 40_000),
        }),
      );
    }
    for (let at = 0; at < stored.length; at += 1_000) await write(stored.slice(at, at + 1_000).map(encode));
  });
  afterAll(() => database.close());

  it('is exact up to the limit, and above the limit beyond it', () =>
    fc.assert(
      fc.asyncProperty(sampledArbitrary, async (filter) => {
        const count = matching(filter).length;
        const { events, isExact } = await estimate(filter);
        const isAll = Object.values(filter).every((value) => !value || (value as unknown[]).length === 0);
        expect(isExact).toBe(isAll || count <= EXACT);
        if (isExact) expect(events).toBe(count);
        else expect(events).toBeGreaterThan(EXACT);
      }),
      { numRuns: 60 },
    ));

  it('is what rollups count, with the older events up to the limit', () =>
    fc.assert(
      fc.asyncProperty(rolledArbitrary, async (filter) => {
        const oldestUs = BigInt(NOW_MS - ROLLED_MS) * 1_000n;
        const found = matching(filter);
        const older = found.filter(({ timestamp }) => timestamp.us < oldestUs).length;
        const { events } = await estimate(filter);
        expect(events).toBe(
          found.length <= EXACT ? found.length : found.length - older + Math.min(older, EXACT + 1),
        );
      }),
      { numRuns: 60 },
    ));

  it.each<[string, EventFilter]>([
    ['all denies', { agent_name: 'many-bot-0001', actions: ['deny'] }],
    ['a stage that begins late', { agent_name: 'many-bot-0001', check_stages: ['post'] }],
    ['a stage of a rare agent', { agent_name: 'rare-bot-0001', check_stages: ['pre'] }],
    ['a control and an action', { control_ids: [1], agent_name: 'many-bot-0001', actions: ['observe'] }],
    ['a part of the time', { start_time: utcTimeOfMs(NOW_MS - 2 * DAY_MS), actions: ['observe'] }],
  ])('is within a tenth for %s', async (_name, filter) => {
    const count = matching(filter).length;
    const { events, isExact } = await estimate(filter, { exact: EXACT, places: 40, events: 50 });
    expect(isExact).toBe(false);
    expect(Math.abs(events - count) / count).toBeLessThan(0.1);
  });

  it('does not count events that were pruned', async () => {
    const url = await freshDatabaseUrl();
    const pruned = await openDatabase({ url });
    onTestFinished(() => pruned.close());
    const store = createSqlEventStore({ database: pruned, now });
    const events = Array.from({ length: 400 }, (_, index) =>
      storedEvent({
        control_execution_id: `pruned-${index}`,
        timestamp: utcTimeOfMs(NOW_MS - index * HOUR_MS),
      }),
    );
    await store.write(events.map(store.encode));
    const prune = store.retention.eventBatches(BigInt(NOW_MS - 100 * HOUR_MS) * 1_000n);
    while ((await prune()) > 0);
    const limits = { exact: EXACT, places: 5, events: 20 };
    const found = await createEventEstimate({ database: pruned, now, limits })({
      agent_name: 'stored-bot-01',
    });
    expect(found).toEqual({ events: 101, isExact: false });
  });
});
