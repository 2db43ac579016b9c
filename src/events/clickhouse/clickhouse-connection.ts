import type { ClickHouseClient, ClickHouseSettings } from '@clickhouse/client';
import type { ClickHouseLocation } from '../../config/event-store-location.js';
import { ServiceError } from '../../contract/errors/service-error.js';
import { OutcomeUnknownError, unavailable } from '../../database/errors.js';
import type { ReadLane } from '../store/event-tail.js';
import type { ClickHouseRow } from './clickhouse-row.js';
import { prepareSchema } from './schema.js';

/** A query without values in its text, and the values: `{name:Type}` stands for one. */
export interface ClickHouseQuery {
  readonly text: string;
  readonly parameters?: Readonly<Record<string, unknown>>;
}

/** How long a query may take, by lane, in milliseconds. */
const READ_LIMIT_MS: Record<ReadLane, number> = { statistics: 10_000, search: 60_000 };
/** How long a change of the structure may take, or the deletion of old rows. */
const COMMAND_LIMIT_MS = 60_000;
/** The server stops a statement that takes too long; the client waits somewhat longer for its answer. */
const ANSWER_MARGIN_MS = 2_000;
/** Connections of each lane. */
const CONNECTIONS = 10;

/** Integers of 64 bits as text, and decimals read and printed without loss. */
const EXACT: ClickHouseSettings = {
  output_format_json_quote_64bit_integers: 1,
  precise_float_parsing: 1,
};
/** The whole insert as one block, which the token of deduplication identifies. */
const AS_ONE_BLOCK: ClickHouseSettings = {
  async_insert: 0,
  input_format_parallel_parsing: 0,
  max_insert_block_size: '10000000',
  min_insert_block_size_rows: '10000000',
  min_insert_block_size_bytes: '10000000000',
  max_block_size: '10000000',
  max_threads: 1,
  max_insert_threads: '1',
  max_partitions_per_insert_block: '0',
};

/** A statement of an insert: the same token never has an effect twice. */
export interface Insertion {
  readonly text: string;
  /** Rows of the format JSONCompactEachRow; undefined when the statement selects them. */
  readonly lines?: readonly string[];
  readonly token: string;
  /** Time after which it must have no effect any more, in milliseconds. */
  readonly limitMs: number;
}

/** The server that stores events. Rejects with a `ServiceError` and nothing else. */
export interface ClickHouseConnection {
  read(lane: ReadLane, query: ClickHouseQuery): Promise<readonly ClickHouseRow[]>;
  /** Rejects with an `OutcomeUnknownError` when there was no answer. */
  insert(insertion: Insertion): Promise<void>;
  /** Changes the structure, or deletes rows. */
  command(text: string): Promise<void>;
  close(): Promise<void>;
}

export interface ClickHouseConnectionOptions {
  readonly location: ClickHouseLocation;
}

/** Opens connections when they are needed first, and creates the tables then. The client is loaded then, too. */
export function createClickHouseConnection({ location }: ClickHouseConnectionOptions): ClickHouseConnection {
  const { isReplicated } = location;
  const consistent: ClickHouseSettings = isReplicated ? { select_sequential_consistency: '1' } : {};
  const quorum: ClickHouseSettings = isReplicated ? { insert_quorum: 'auto', insert_quorum_parallel: 0 } : {};
  let opening: Promise<ClickHouseClient> | undefined;
  let closed = false;

  async function open(): Promise<ClickHouseClient> {
    const client = await connect(location, location.database);
    try {
      await prepareSchema({
        location,
        command: (text) => commandOn(client, text),
        read: (text) => readOn(client, 'statistics', { text }),
        createDatabase: async (text) => {
          const bootstrap = await connect(location, 'system');
          await commandOn(bootstrap, text).finally(() => bootstrap.close());
        },
      });
      return client;
    } catch (error) {
      await client.close();
      throw error;
    }
  }

  async function client(): Promise<ClickHouseClient> {
    if (closed) throw unavailable('The event store is closed.');
    opening ??= open().catch((error: unknown) => {
      opening = undefined;
      throw error;
    });
    return opening;
  }

  async function commandOn(on: ClickHouseClient, text: string): Promise<void> {
    await inTime(COMMAND_LIMIT_MS, async (abort_signal, limit) => {
      await on.command({ query: text, abort_signal, clickhouse_settings: { ...limit, ...quorum } });
    });
  }

  async function readOn(on: ClickHouseClient, lane: ReadLane, query: ClickHouseQuery) {
    return inTime(READ_LIMIT_MS[lane], async (abort_signal, limit) => {
      const result = await on.query({
        query: query.text,
        format: 'JSONCompactEachRow',
        abort_signal,
        clickhouse_settings: { ...limit, ...EXACT, ...consistent, max_query_size: '100000000' },
        ...(query.parameters === undefined ? {} : { query_params: query.parameters }),
      });
      return rowsOf(await result.text());
    });
  }

  return {
    read: (lane, query) => withServerErrors(async () => readOn(await client(), lane, query)),
    command: (text) => withServerErrors(async () => commandOn(await client(), text)),
    insert: ({ text, lines, token, limitMs }) =>
      withServerErrors(async () => {
        const on = await client();
        await inTime(limitMs, async (abort_signal, limit) => {
          const result = await on.exec({
            query: lines === undefined ? text : `${text} FORMAT JSONCompactEachRow\n${lines.join('\n')}`,
            abort_signal,
            clickhouse_settings: {
              ...limit,
              ...EXACT,
              ...AS_ONE_BLOCK,
              ...consistent,
              ...quorum,
              max_query_size: '100000',
              insert_deduplication_token: token,
            },
          });
          // The connection is free again when the answer was read.
          for await (const _ of result.stream);
        });
      }, 'write'),
    async close() {
      closed = true;
      const opened = await opening?.catch(() => undefined);
      await opened?.close();
    },
  };
}

async function connect(location: ClickHouseLocation, database: string): Promise<ClickHouseClient> {
  const { ClickHouseLogLevel, createClient } = await import('@clickhouse/client');
  return createClient({
    url: location.url,
    username: location.username,
    password: location.password,
    database,
    application: 'control-enforcement-service',
    max_open_connections: CONNECTIONS,
    // Each call has a limit of its own.
    request_timeout: 10 * COMMAND_LIMIT_MS,
    // Failures are reported by the caller; the client would log statements with their data.
    log: { level: ClickHouseLogLevel.OFF },
  });
}

/** Runs one call: the server gives it up after the limit, and the client waits somewhat longer. */
async function inTime<T>(
  limitMs: number,
  work: (abort: AbortSignal, limit: ClickHouseSettings) => Promise<T>,
): Promise<T> {
  const abort = AbortSignal.timeout(Math.ceil(limitMs) + ANSWER_MARGIN_MS);
  return work(abort, { max_execution_time: Math.max(1, Math.floor(limitMs / 1_000)) });
}

function rowsOf(text: string): readonly ClickHouseRow[] {
  return text === '' ? [] : (JSON.parse(`[${text.trimEnd().replaceAll('\n', ',')}]`) as ClickHouseRow[]);
}

/** Any failure becomes a `ServiceError`: an answer of the server says that it refused, everything else says nothing. */
async function withServerErrors<T>(work: () => Promise<T>, what: 'read' | 'write' = 'read'): Promise<T> {
  try {
    return await work();
  } catch (error) {
    throw serverError(error, what);
  }
}

function serverError(error: unknown, what: 'read' | 'write'): ServiceError {
  if (error instanceof ServiceError) return error;
  if (what === 'write' && !isAnswer(error))
    return new OutcomeUnknownError('The event store did not answer.', error);
  return unavailable('The event store cannot be reached, or refused an operation.', error);
}

/** The type of the client is loaded late, so its errors are recognised by their members. */
const isAnswer = (error: unknown): boolean =>
  error instanceof Error && 'code' in error && 'type' in error && /^\d+$/.test(String(error.code));
