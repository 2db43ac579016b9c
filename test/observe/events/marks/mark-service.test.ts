import { afterAll, beforeAll, expect, it } from 'vitest';
import { ServiceError } from '../../../../src/contract/errors/service-error.js';
import { createMarkService } from '../../../../src/observe/events/marks/mark-service.js';
import { utcTimeOfMs } from '../../../../src/observe/events/store/event-time.js';
import { type Database, openDatabase } from '../../../../src/storage/database/database.js';
import { createMutator } from '../../../../src/storage/database/mutator.js';
import { adminCall } from '../../../manage/pack-installations/updates.support.js';
import { describeOnEachDatabase } from '../../../support/databases.js';

const DAY_MS = 24 * 3_600_000;
const NOW = Date.parse('2026-06-01T00:00:00Z');
const ADMIN = adminCall();

describeOnEachDatabase('marks of matches', (freshDatabaseUrl) => {
  let database: Database;
  beforeAll(async () => {
    database = await openDatabase({ url: await freshDatabaseUrl() });
  });
  afterAll(() => database.close());

  /** Marks the match of an event that is some days old, where events are kept for some days. */
  async function markAged(id: string, days: number, retentionDays: number, maxMarks = 3) {
    const mutate = createMutator({ database, now: () => NOW, onCommit: () => {} });
    const service = createMarkService({
      database,
      mutate,
      retentionDays,
      maxMarks,
      now: () => NOW,
      search: {
        page: async () => ({ events: [eventOf(id, days)], next: undefined }),
      },
    });
    await service.mark(ADMIN, { control_execution_id: id, control_id: 1, note: undefined });
    const { false_positives: marks } = await service.list(ADMIN, {
      cursor: null,
      limit: 100,
      control_id: undefined,
      control_execution_ids: [],
      days: undefined,
    });
    return marks.map(({ control_execution_id: one }) => one);
  }

  it('are kept as long as events, and for the days that pages count', async () => {
    expect(await markAged('old', 100, 0)).toEqual(['old']);
    expect(await markAged('late', 29, 120)).toEqual(['late', 'old']);
    expect(await markAged('new', 1, 7)).toEqual(['new', 'late']);
  });

  it('are bounded, also when one is made anew', async () => {
    expect(await markAged('last', 1, 7)).toEqual(['last', 'new', 'late']);
    const refused = await markAged('more', 1, 7).catch((error: unknown) => error);
    expect(refused).toBeInstanceOf(ServiceError);
    expect(refused).toMatchObject({
      code: 'VALIDATION_ERROR',
      options: { items: [{ field: 'control_execution_id', code: 'too_many_marks' }] },
    });
    expect(await markAged('last', 1, 7)).toEqual(['last', 'new', 'late']);
  });
});

function eventOf(id: string, days: number) {
  return {
    origin: 'service',
    control_execution_id: id,
    trace_id: 't',
    span_id: 's',
    agent_name: 'marked-bot-01',
    control_id: 1,
    control_name: 'no-bad',
    check_stage: 'pre',
    applies_to: 'tool_call',
    action: 'deny',
    matched: true,
    confidence: 1,
    timestamp: utcTimeOfMs(NOW - days * DAY_MS),
    execution_duration_ms: null,
    evaluator_name: null,
    selector_path: null,
    error_message: null,
    metadata: {},
    step_type: null,
    step_name: null,
    session_id: null,
    step_id: null,
    revision: null,
    decision_id: null,
  } as const;
}
