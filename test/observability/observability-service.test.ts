import { describe, expect, it } from 'vitest';
import { OutcomeUnknownError, unavailable } from '../../src/database/errors.js';
import { ServiceError } from '../../src/errors/service-error.js';
import { IngestFullError } from '../../src/observability/event-ingest.js';
import { createObservabilityMeter } from '../../src/observability/observability-meter.js';
import { createObservabilityService } from '../../src/observability/observability-service.js';
import { createRefusedEvents } from '../../src/observability/refused-events.js';
import { storedEvent } from './events.support.js';

function service(failure: Error) {
  const lines: object[] = [];
  const clock = { ms: 0 };
  const meter = createObservabilityMeter();
  const { create } = createObservabilityService({
    database: { kind: 'sqlite', bulk: { read: async () => [], transaction: () => Promise.reject(failure) } },
    search: { page: async () => ({ events: [], next: undefined }), count: async () => 0 },
    ingest: () => Promise.reject(failure),
    meter,
    onRefused: createRefusedEvents({
      log: { warn: (facts) => lines.push(facts) },
      now: () => clock.ms,
    }),
    now: () => 1_000,
  });
  return { create, lines, clock, meter };
}
const REFUSAL = new ServiceError('DATABASE_ERROR', { detail: 'refused' });
const FAILED = { received: 2, enqueued: 0, dropped: 2, status: 'failed' };
const events = [storedEvent(), storedEvent({ control_execution_id: 'b' })];
const unstorable = [storedEvent(), storedEvent({ control_execution_id: 'x'.repeat(37) })];

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

  it('are logged once a minute, with how many there were since', async () => {
    const { create, lines, clock } = service(REFUSAL);
    for (let call = 0; call < 50; call += 1) await create(call % 2 === 0 ? events : unstorable);
    expect(lines).toEqual([{ events: 2, calls: 1, err: REFUSAL }]);
    clock.ms = 60_000;
    await create(unstorable);
    await create(unstorable);
    expect(lines.slice(1)).toEqual([{ events: 100, calls: 50 }]);
  });
});
