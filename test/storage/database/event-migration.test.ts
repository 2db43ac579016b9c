import { expect, it, onTestFinished } from 'vitest';
import { encodeEvent } from '../../../src/observe/events/sql/event-row.js';
import { createEventSearch } from '../../../src/observe/events/sql/event-search.js';
import { createEventWriter } from '../../../src/observe/events/sql/event-writer.js';
import { rebuildRollups } from '../../../src/observe/events/sql/rollup-rebuild.js';
import { createStatisticsStore } from '../../../src/observe/events/sql/statistics-store.js';
import { utcTimeOfMs } from '../../../src/observe/events/store/event-time.js';
import { timeWindow } from '../../../src/observe/events/store/time-range.js';
import { openDatabase } from '../../../src/storage/database/database.js';
import { parseDatabaseUrl } from '../../../src/storage/database/database-url.js';
import { migrate } from '../../../src/storage/database/migrate.js';
import { readMigrations } from '../../../src/storage/database/migration-files.js';
import { storedEvent } from '../../observe/events/events.support.js';
import { describeOnEachEmptyDatabase } from '../../support/databases.js';
import { executeSql, sqlText } from '../../support/sql.js';

const BEFORE = '20261125000000_event_rollups';
const NOW = Date.now();
const LONG = 'a control name that is longer than what can be a key in itself: '.repeat(2);
const AGENT = 'old-bot-00001';

/** A row as it was before. The key of the trace is the first 64 bits of the SHA-256 of `trace-a`. */
const oldRow = (id: string, ageMs: number, name: string, more: string) =>
  `INSERT INTO "events" VALUES (${sqlText(id)}, ${NOW - ageMs}000, 'as sent', -3047413978179217976, 'trace-a',
    'span-a', ${sqlText(AGENT)}, 4, ${sqlText(name)}, ${more}, NULL, '{}')`;

describeOnEachEmptyDatabase('events that were stored before they had positions', (freshDatabaseUrl, kind) => {
  it('are found and counted afterwards, and take in nothing any more', async () => {
    const url = await freshDatabaseUrl();
    const known = readMigrations(kind);
    await migrate(
      parseDatabaseUrl(url),
      known.filter(({ name }) => name < BEFORE),
    );
    const rows = [
      oldRow(
        'b',
        90_000_000,
        'short',
        `'post', 'tool_call', 'steer', true, 0.25, 131072.5, 'regex', 'input'`,
      ),
      oldRow('a', 10_000, LONG, `'pre', 'llm_call', 'deny', true, 0.5, NULL, NULL, NULL`),
      oldRow('c', 5_000, LONG, `'pre', 'llm_call', 'observe', false, 1, 0.125, NULL, NULL`),
    ];
    await executeSql(url, rows.join(';'));
    const database = await openDatabase({ url });
    onTestFinished(() => database.close());
    const search = createEventSearch(database.bulk);
    const { events } = await search.page({}, { limit: 10 });
    expect(events.map((one) => one.control_execution_id)).toEqual(['c', 'a', 'b']);
    expect(events[2]).toEqual(
      storedEvent({
        origin: 'merged',
        control_execution_id: 'b',
        timestamp: { us: BigInt(NOW - 90_000_000) * 1_000n, text: 'as sent' },
        trace_id: 'trace-a',
        span_id: 'span-a',
        agent_name: AGENT,
        control_id: 4,
        control_name: 'short',
        check_stage: 'post',
        applies_to: 'tool_call',
        action: 'steer',
        confidence: 0.25,
        execution_duration_ms: 131_072.5,
        evaluator_name: 'regex',
        selector_path: 'input',
      }),
    );
    expect(await search.count({})).toBe(3);
    expect(await search.count({ span_id: 'span-a' })).toBe(3);
    expect(await search.count({ trace_id: 'trace-a' })).toBe(3);
    const write = createEventWriter({ database, now: () => NOW });
    const timestamp = utcTimeOfMs(NOW - 10_000);
    const sent = { agent_name: AGENT, control_id: 4, control_name: LONG, timestamp };
    const later = (id: string, origin: 'client' | 'service') =>
      encodeEvent(storedEvent({ ...sent, control_execution_id: id, origin }));
    await write([later('a', 'service'), later('b', 'client'), later('new', 'client')]);
    const after = await search.page({}, { limit: 10 });
    expect(after.events.filter((one) => one.control_execution_id !== 'new')).toEqual(events);

    const statistics = createStatisticsStore(database);
    const window = timeWindow('7d', Date.now());
    const query = {
      agentName: AGENT,
      controlId: null,
      window,
      byBucket: false,
      agents: 0,
      controls: 10,
      topControls: 0,
    };
    const { controls } = await statistics.count(query);
    expect(controls).toMatchObject([
      { controlName: LONG, executions: 3, denies: 2, nonMatches: 1, durations: 1, durationSum: 0.125 },
      { controlName: 'short', executions: 1, steers: 1, durationSum: 131_072.5, confidenceSum: 0.25 },
    ]);
    expect(await rebuildRollups({ database, now: () => Date.now() })).toMatchObject({ corrected: 0 });
  });
});
