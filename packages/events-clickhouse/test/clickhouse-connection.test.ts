import { expect, it } from 'vitest';
import { ServiceError } from '../../../src/contract/errors/service-error.js';
import { OutcomeUnknownError } from '../../../src/storage/database/errors.js';
import { createClickHouseConnection } from '../src/clickhouse-connection.js';

it('what cannot be done with the tables of events is an error of the service', async () => {
  const connection = createClickHouseConnection({
    // Nothing listens there.
    location: {
      url: 'http://127.0.0.1:9',
      username: 'default',
      password: '',
      database: 'events',
      isReplicated: false,
    },
  });
  const errorOf = (work: Promise<unknown>) => work.catch((error: unknown) => error);
  const unreachable = {
    code: 'SERVICE_UNAVAILABLE',
    message: 'The event store cannot be reached, or refused an operation.',
    cause: { code: 'ECONNREFUSED' },
  };
  const read = await errorOf(connection.read('search', { text: 'SELECT 1' }));
  expect(read).toBeInstanceOf(ServiceError);
  expect(read).not.toBeInstanceOf(OutcomeUnknownError);
  expect(read).toMatchObject(unreachable);
  expect(await errorOf(connection.command('SELECT 1'))).toMatchObject(unreachable);

  const insertion = { text: 'INSERT INTO events', lines: [], token: 'batch' };
  const unanswered = await errorOf(connection.insert(insertion, () => 1_100));
  expect(unanswered).toBeInstanceOf(OutcomeUnknownError);
  expect(unanswered).toMatchObject({ ...unreachable, message: 'The event store did not answer.' });
  const late = await errorOf(connection.insert(insertion, () => 0));
  expect(late).not.toBeInstanceOf(OutcomeUnknownError);
  expect(late).toMatchObject({ code: 'SERVICE_UNAVAILABLE', message: 'The event store takes too long.' });

  await connection.close();
  const closed = await errorOf(connection.read('statistics', { text: 'SELECT 1' }));
  expect(closed).toMatchObject({ code: 'SERVICE_UNAVAILABLE', message: 'The event store is closed.' });
});
