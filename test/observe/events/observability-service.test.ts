import { describe, expect, it } from 'vitest';
import { ServiceError } from '../../../src/contract/errors/service-error.js';
import { createRepeatLog } from '../../../src/contract/runtime/repeat-log.js';
import { IngestFullError } from '../../../src/observe/events/event-ingest.js';
import { createObservabilityMeter } from '../../../src/observe/events/observability-meter.js';
import { createObservabilityService } from '../../../src/observe/events/observability-service.js';
import { readEvents } from '../../../src/observe/events/read-events.js';
import { encodeEvent } from '../../../src/observe/events/sql/event-row.js';
import { createSqlEventStore } from '../../../src/observe/events/sql/sql-event-store.js';
import { OutcomeUnknownError, unavailable } from '../../../src/storage/database/errors.js';
import { storedEvent } from './events.support.js';

function service(failure: Error) {
  const lines: object[] = [];
  const meter = createObservabilityMeter();
  const failures = createRepeatLog({
    log: { debug() {}, info() {}, error() {}, warn: (facts) => lines.push(facts) },
  });
  const bulk = {
    read: async () => [],
    readAtOnce: () => Promise.reject(failure),
    transaction: () => Promise.reject(failure),
    close: async () => {},
  };
  const { create } = createObservabilityService({
    store: createSqlEventStore({
      database: { kind: 'sqlite', bulk },
      now: () => 1_000,
    }),
    ingest: () => Promise.reject(failure),
    meter,
    failures,
    recorder: undefined,
    counts: { flush: async () => {}, stats: () => Promise.reject(failure) },
    now: () => 1_000,
  });
  return { create, lines, failures, meter };
}
const REFUSAL = new ServiceError('DATABASE_ERROR', { detail: 'refused' });
const FAILED = { received: 2, enqueued: 0, dropped: 2, status: 'failed' };
const events = readEvents([storedEvent(), storedEvent({ control_execution_id: 'b' })], encodeEvent);
const unstorable = readEvents(
  [storedEvent(), storedEvent({ control_execution_id: 'x'.repeat(37) })],
  encodeEvent,
);

describe('events that cannot be stored', () => {
  it('are reported as dropped when the database refuses them for good', async () => {
    expect(await service(REFUSAL).create(events)).toEqual(FAILED);
  });

  it('are reported and counted as dropped when no database can hold one of them', async () => {
    const { create, meter } = service(new Error('the database was asked'));
    expect(await create(unstorable)).toEqual(FAILED);
    expect(meter.dropped.client.refused).toBe(2);
  });

  it.each([
    ['the database is away', unavailable('away')],
    ['too many wait already', new IngestFullError()],
    ['it is unknown whether they are stored', new OutcomeUnknownError('gone')],
  ])('are refused with 503 and a time to come back when %s', async (_what, failure) => {
    await expect(service(failure).create(events)).rejects.toMatchObject({
      code: 'SERVICE_UNAVAILABLE',
      options: { retryAfterSeconds: 1 },
    });
  });

  it('are logged once per interval, with how often they came since', async () => {
    const { create, lines, failures } = service(REFUSAL);
    for (let call = 0; call < 50; call += 1) await create(call % 2 === 0 ? events : unstorable);
    expect(lines).toEqual([{ events: 2, reason: 'refused' }]);
    failures.close();
    expect(lines.slice(1)).toEqual([{ events: 2, repeated: 49 }]);
  });
});
