import { describe, expect, it } from 'vitest';
import { OutcomeUnknownError, unavailable } from '../../src/database/errors.js';
import { ServiceError } from '../../src/errors/service-error.js';
import { IngestFullError } from '../../src/observability/event-ingest.js';
import { createObservabilityService } from '../../src/observability/observability-service.js';
import { NO_FAILURES } from '../support/failures.js';
import { storedEvent } from './events.support.js';

function service(failure: Error) {
  return createObservabilityService({
    database: { kind: 'sqlite', bulk: { read: async () => [], transaction: () => Promise.reject(failure) } },
    search: { page: async () => ({ events: [], next: undefined }), count: async () => 0 },
    ingest: () => Promise.reject(failure),
    failures: NO_FAILURES,
    now: () => 1_000,
  });
}
const events = [storedEvent(), storedEvent({ control_execution_id: 'b' })];

describe('events that cannot be stored', () => {
  it.each([
    ['the database is away', unavailable('away')],
    ['the database refuses them', new ServiceError('DATABASE_ERROR', { detail: 'refused' })],
  ])('are reported as dropped when %s', async (_what, failure) => {
    expect(await service(failure).create(events)).toEqual({
      received: 2,
      enqueued: 0,
      dropped: 2,
      status: 'failed',
    });
  });

  it.each([
    ['too many wait already', new IngestFullError()],
    ['nobody knows whether they are stored', new OutcomeUnknownError('gone')],
  ])('are refused with 503 and a time to come back when %s', async (_what, failure) => {
    await expect(service(failure).create(events)).rejects.toMatchObject({
      code: 'SERVICE_UNAVAILABLE',
      options: { retryAfterSeconds: 1 },
    });
  });
});
