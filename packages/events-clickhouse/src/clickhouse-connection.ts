import type { ReadLane } from '../../../src/observe/events/store/event-tail.js';
import { OutcomeUnknownError, unavailable } from '../../../src/storage/database/errors.js';
import {
  type ClickHouseLocation,
  type ClickHouseQuery,
  type ClickHouseRow,
  type ClickHouseTables,
  createClickHouseTables,
  TablesError,
} from '../../clickhouse-tables/src/index.js';
import { SCHEMA } from './schema.js';

/** How long a query may take, by lane, in milliseconds. */
const READ_LIMIT_MS: Record<ReadLane, number> = { statistics: 10_000, search: 60_000 };

/** The tables of events. Rejects with a `ServiceError` and nothing else. */
export interface ClickHouseConnection extends Omit<ClickHouseTables, 'read'> {
  read(lane: ReadLane, query: ClickHouseQuery): Promise<readonly ClickHouseRow[]>;
}

export interface ClickHouseConnectionOptions {
  readonly location: ClickHouseLocation;
}

/** Opens connections when they are needed first, and creates the tables then. */
export function createClickHouseConnection({ location }: ClickHouseConnectionOptions): ClickHouseConnection {
  const tables = createClickHouseTables({
    location,
    application: 'control-enforcement-service',
    name: 'event store',
    schema: SCHEMA,
  });
  return {
    read: (lane, query) => asServiceErrors(tables.read(query, READ_LIMIT_MS[lane])),
    insert: (insertion, left) => asServiceErrors(tables.insert(insertion, left)),
    command: (text) => asServiceErrors(tables.command(text)),
    close: tables.close,
  };
}

/** An insert without an answer rejects with an `OutcomeUnknownError`. */
async function asServiceErrors<T>(work: Promise<T>): Promise<T> {
  try {
    return await work;
  } catch (error) {
    if (!(error instanceof TablesError)) throw error;
    const { effect, message, cause } = error;
    throw effect === 'unknown' ? new OutcomeUnknownError(message, cause) : unavailable(message, cause);
  }
}
