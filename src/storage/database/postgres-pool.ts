import type { Socket } from 'node:net';
import pg from 'pg';

/** How long connecting may take, and waiting for a connection of the pool. */
export const CONNECT_TIMEOUT_MS = 3_000;
/** How long the server may work on one statement. */
export const STATEMENT_TIMEOUT_MS = 10_000;
/** How long a statement waits for a lock of another transaction. */
const LOCK_TIMEOUT_MS = 5_000;
/** How long an idle connection is kept. Must be shorter than `SILENCE_LIMIT_MS`. */
const IDLE_TIMEOUT_MS = 10_000;
/** A connection silent for longer than any statement may last is dead, whatever TCP reports. */
const SILENCE_LIMIT_MS = STATEMENT_TIMEOUT_MS + 5_000;
/** Connections of the pool that serves Prisma. */
export const MAX_CONNECTIONS = 10;
/** Connections of the pool for statements over many rows: one for writes, the others for queries. */
export const MAX_BULK_CONNECTIONS = 4;
/** Connections of a pool for short work of one kind. */
export const MAX_OWN_CONNECTIONS = 2;

/**
 * Settings of every connection. Set by statement, because poolers before the server reject unknown parameters
 * of the connection itself. Prisma names the schema `public` in its queries, so other queries must use it
 * too.
 */
const SESSION_SETTINGS = `
  SET statement_timeout = ${STATEMENT_TIMEOUT_MS};
  SET lock_timeout = ${LOCK_TIMEOUT_MS};
  SET idle_in_transaction_session_timeout = ${SILENCE_LIMIT_MS};
  SET search_path = public`;

/** Opens a pool that fails fast and replaces broken connections. `onError` is called for each broken one. */
export function createPostgresPool(
  connectionString: string,
  max: number,
  onError: (error: Error) => void,
): pg.Pool {
  /**
   * The pool listens for errors of idle connections, and removes its listener while one is in use. A
   * connection that breaks then, even between two statements or while connecting, would end the process.
   */
  class Connection extends pg.Client {
    constructor(config?: pg.ClientConfig) {
      super(config);
      this.on('error', onError);
    }
  }
  const pool = new pg.Pool({
    Client: Connection,
    connectionString,
    max,
    connectionTimeoutMillis: CONNECT_TIMEOUT_MS,
    idleTimeoutMillis: IDLE_TIMEOUT_MS,
    keepAlive: true,
    application_name: 'control-enforcement-service',
    // The pool awaits it; its type hides that it may be asynchronous.
    onConnect: async (client) => {
      endWhenSilent(client, SILENCE_LIMIT_MS);
      await client.query(SESSION_SETTINGS);
    },
  });
  // The pool repeats the errors of idle connections, which were reported already.
  pool.on('error', () => {});
  return pool;
}

/**
 * Breaks a connection that was silent for too long; pending answers then fail. An answer that arrived while
 * the process was busy is read first.
 */
export function endWhenSilent(client: pg.ClientBase, limitMs: number): void {
  const socket = socketOf(client);
  socket.setTimeout(limitMs, () => {
    const { bytesRead } = socket;
    // Timers run before input is read, immediates after it.
    setImmediate(() => {
      if (socket.bytesRead === bytesRead) socket.destroy(new Error('Connection terminated: no answer'));
    });
  });
}

/** The socket of a client, after TLS was set up. It is missing in the types, without another access. */
function socketOf(client: pg.ClientBase): Socket {
  return (client as pg.ClientBase & { readonly connection: { readonly stream: Socket } }).connection.stream;
}
