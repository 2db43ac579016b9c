import { hash } from 'node:crypto';
import { tmpdir } from 'node:os';
import path from 'node:path';

/** Address of the ClickHouse server that stores the events of all tests, if there is one: `npm run test:clickhouse`. */
export const CLICKHOUSE_URL = process.env.TEST_CLICKHOUSE_URL;

/**
 * The environment of a service with its events on that server, if there is one. Services with the same database share
 * their events, others do not.
 */
export function eventStoreOf(databaseUrl: string): Record<string, string> {
  if (CLICKHOUSE_URL === undefined) return {};
  const url = new URL(CLICKHOUSE_URL);
  const name = hash('sha256', databaseUrl).slice(0, 32);
  return {
    SERVICE_EVENT_STORE: `clickhouse://${url.host}/test_${name}`,
    // The next process with this database finds what the last one has left.
    SERVICE_EVENT_SPOOL_DIR: path.join(tmpdir(), 'event-spools', name),
  };
}
