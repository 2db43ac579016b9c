import { setTimeout as sleep } from 'node:timers/promises';
import { prepareTables, type TablesSchema } from './prepare-tables.js';
import {
  type ClickHouseLocation,
  type ClickHouseQuery,
  type ClickHouseRow,
  type Insertion,
  openServer,
  type ServerCalls,
  TablesError,
} from './server-calls.js';

/** Attempts of an insert, and the pause between them in milliseconds. It is repeated under the same token. */
const ATTEMPTS = 3;
const PAUSE_MS = 200;
/** An insert is not begun with less time left, in milliseconds. */
const LEAST_LEFT_MS = 1_000;

/** The tables of a database. Rejects with a `TablesError` and nothing else. */
export interface ClickHouseTables {
  /** @param limitMs How long it may take, in milliseconds. */
  read(query: ClickHouseQuery, limitMs: number): Promise<readonly ClickHouseRow[]>;
  /**
   * Inserts once: it is repeated while there is time, since an attempt without an answer may have had its effect.
   * @param left Milliseconds left. After that, it has no effect any more.
   */
  insert(insertion: Insertion, left: () => number): Promise<void>;
  /** Changes the structure, or deletes rows. */
  command(text: string): Promise<void>;
  close(): Promise<void>;
}

export interface ClickHouseTablesOptions {
  readonly location: ClickHouseLocation;
  /** Name of the program in the logs of the server. */
  readonly application: string;
  /** What errors call the tables, such as `event store`. */
  readonly name: string;
  readonly schema: TablesSchema;
}

/** Opens connections when they are needed first, and creates the tables then. The client is loaded then, too. */
export function createClickHouseTables(options: ClickHouseTablesOptions): ClickHouseTables {
  const { location, application, name } = options;
  let opening: Promise<ServerCalls> | undefined;
  let closed = false;

  async function open(): Promise<ServerCalls> {
    const server = await openServer(location, application);
    try {
      await prepareTables({ ...options, server });
      return server;
    } catch (error) {
      await server.close();
      throw error;
    }
  }

  async function opened(): Promise<ServerCalls> {
    if (closed) throw new TablesError(`The ${name} is closed.`);
    opening ??= open().catch((error: unknown) => {
      opening = undefined;
      throw error;
    });
    return opening;
  }

  /** An answer of the server says that it refused; everything else says nothing about the effect of an insert. */
  async function call<T>(kind: 'insert' | 'other', work: (server: ServerCalls) => Promise<T>): Promise<T> {
    try {
      return await work(await opened());
    } catch (error) {
      if (error instanceof TablesError) throw error;
      if (kind === 'insert' && !isAnswer(error))
        throw new TablesError(`The ${name} did not answer.`, 'unknown', error);
      throw new TablesError(`The ${name} cannot be reached, or refused an operation.`, 'none', error);
    }
  }

  async function attempt(insertion: Insertion, limitMs: number): Promise<void> {
    // One that ends later could meet those of another writer.
    if (limitMs < LEAST_LEFT_MS) throw new TablesError(`The ${name} takes too long.`);
    await call('insert', (server) => server.insert(insertion, limitMs));
  }

  return {
    read: (query, limitMs) => call('other', (server) => server.read(query, limitMs)),
    command: (text) => call('other', (server) => server.command(text)),
    async insert(insertion, left) {
      let unknown: TablesError | undefined;
      for (let attempts = 1; ; attempts += 1) {
        try {
          return await attempt(insertion, left());
        } catch (error) {
          // Then the server may still be at work on an earlier attempt.
          if (error instanceof TablesError && error.effect === 'unknown') unknown = error;
          if (attempts === ATTEMPTS || left() < LEAST_LEFT_MS + PAUSE_MS) throw unknown ?? error;
          await sleep(PAUSE_MS);
        }
      }
    },
    async close() {
      closed = true;
      const server = await opening?.catch(() => undefined);
      await server?.close();
    },
  };
}

/** The type of the client is loaded late, so its errors are recognised by their members. */
const isAnswer = (error: unknown): boolean =>
  error instanceof Error && 'code' in error && 'type' in error && /^\d+$/.test(String(error.code));
