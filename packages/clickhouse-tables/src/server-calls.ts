import type { ClickHouseSettings } from '@clickhouse/client';

/** Why something could not be done with the tables. The cause is the error of the client, if there is one. */
export class TablesError extends Error {
  constructor(
    message: string,
    /** Whether an insert may have had its effect, or may still have it: there was no answer. */
    readonly effect: 'none' | 'unknown' = 'none',
    cause?: unknown,
  ) {
    super(message, cause === undefined ? {} : { cause });
    this.name = 'TablesError';
  }
}

/** A database on a server. */
export interface ClickHouseLocation {
  /** Address of its HTTP interface, without credentials, for example `http://localhost:8123`. */
  readonly url: string;
  readonly username: string;
  readonly password: string;
  readonly database: string;
  /** Whether tables are replicated: inserts wait for a quorum of replicas, and reads see all of them. */
  readonly isReplicated: boolean;
}

/** A query without values in its text, and the values: `{name:Type}` stands for one. */
export interface ClickHouseQuery {
  readonly text: string;
  readonly parameters?: Readonly<Record<string, unknown>>;
}

/** A value as the server prints it: integers of 64 bits as text. */
export type ClickHouseValue = null | string | number | boolean;
export type ClickHouseRow = readonly ClickHouseValue[];

/** A statement of an insert: the same token never has an effect twice. */
export interface Insertion {
  readonly text: string;
  /** Rows of the format JSONCompactEachRow; undefined when the statement selects them. */
  readonly lines?: readonly string[];
  readonly token: string;
}

/** How long a change of the structure may take, or the deletion of old rows. */
const COMMAND_LIMIT_MS = 60_000;
/** The server stops a statement that takes too long; the client waits somewhat longer for its answer. */
const ANSWER_MARGIN_MS = 2_000;
/** Connections of each database. */
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

/** Calls of a server, each with a limit in milliseconds. They reject with the errors of the client. */
export interface ServerCalls {
  read(query: ClickHouseQuery, limitMs: number): Promise<readonly ClickHouseRow[]>;
  /** Changes the structure, or deletes rows. */
  command(text: string): Promise<void>;
  /** After the limit, it has no effect any more. */
  insert(insertion: Insertion, limitMs: number): Promise<void>;
  close(): Promise<void>;
}

/** Loads the client. It connects with the first call. */
export async function openServer(location: ClickHouseLocation, application: string): Promise<ServerCalls> {
  const { url, username, password, database, isReplicated } = location;
  const consistent: ClickHouseSettings = isReplicated ? { select_sequential_consistency: '1' } : {};
  const quorum: ClickHouseSettings = isReplicated ? { insert_quorum: 'auto', insert_quorum_parallel: 0 } : {};
  const { ClickHouseLogLevel, createClient } = await import('@clickhouse/client');
  const client = createClient({
    url,
    username,
    password,
    database,
    application,
    max_open_connections: CONNECTIONS,
    // Each call has a limit of its own.
    request_timeout: 10 * COMMAND_LIMIT_MS,
    // Failures are reported by the caller; the client would log statements with their data.
    log: { level: ClickHouseLogLevel.OFF },
  });
  return {
    async read({ text, parameters }, limitMs) {
      const { abort_signal, limit } = limitOf(limitMs);
      const result = await client.query({
        query: text,
        format: 'JSONCompactEachRow',
        abort_signal,
        clickhouse_settings: { ...limit, ...EXACT, ...consistent, max_query_size: '100000000' },
        ...(parameters === undefined ? {} : { query_params: parameters }),
      });
      return rowsOf(await result.text());
    },
    async command(text) {
      const { abort_signal, limit } = limitOf(COMMAND_LIMIT_MS);
      await client.command({ query: text, abort_signal, clickhouse_settings: { ...limit, ...quorum } });
    },
    async insert({ text, lines, token }, limitMs) {
      const { abort_signal, limit } = limitOf(limitMs);
      const result = await client.exec({
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
    },
    close: () => client.close(),
  };
}

/** The server gives a call up after the limit, and the client waits somewhat longer. */
function limitOf(limitMs: number): { abort_signal: AbortSignal; limit: ClickHouseSettings } {
  return {
    abort_signal: AbortSignal.timeout(Math.ceil(limitMs) + ANSWER_MARGIN_MS),
    limit: { max_execution_time: Math.max(1, Math.floor(limitMs / 1_000)) },
  };
}

function rowsOf(text: string): readonly ClickHouseRow[] {
  return text === '' ? [] : (JSON.parse(`[${text.trimEnd().replaceAll('\n', ',')}]`) as ClickHouseRow[]);
}
