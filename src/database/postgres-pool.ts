import type { Socket } from 'node:net';
import pg from 'pg';

/** How long a connection may take to come up, and a statement to get one from the pool. */
export const CONNECT_TIMEOUT_MS = 3_000;
/** How long the server may work on one statement. */
export const STATEMENT_TIMEOUT_MS = 10_000;
/** How long a statement waits for a lock of another transaction. */
const LOCK_TIMEOUT_MS = 5_000;
/** How long an idle connection is kept. Must be shorter than `SILENCE_LIMIT_MS`. */
const IDLE_TIMEOUT_MS = 10_000;
/** A connection that says nothing for longer than any statement may last is dead, whatever TCP believes. */
const SILENCE_LIMIT_MS = STATEMENT_TIMEOUT_MS + 5_000;
/** Connections of the pool that serves Prisma. */
export const MAX_CONNECTIONS = 10;
/** Connections of the pool for statements over many rows: one writes, the others answer queries. */
export const MAX_BULK_CONNECTIONS = 4;

/**
 * What every connection is set to. By statement, because poolers in front of the server refuse unknown parameters of
 * the connection itself. Prisma names the schema `public` in its queries, so the others must mean it too.
 */
const SESSION_SETTINGS = `
  SET statement_timeout = ${STATEMENT_TIMEOUT_MS};
  SET lock_timeout = ${LOCK_TIMEOUT_MS};
  SET idle_in_transaction_session_timeout = ${SILENCE_LIMIT_MS};
  SET search_path = public`;

/** Opens a pool that fails fast and replaces broken connections. `onError` is called for each one that breaks. */
export function createPostgresPool(
  connectionString: string,
  max: number,
  onError: (error: Error) => void,
): pg.Pool {
  /**
   * The pool listens for errors of connections that are idle, and takes its listener away while one is in use. A
   * connection that breaks then, also between two statements or while it comes up, would end the process.
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
    // The pool waits for it; its type hides that it may be asynchronous.
    onConnect: async (client) => {
      endWhenSilent(client, SILENCE_LIMIT_MS);
      await client.query(SESSION_SETTINGS);
    },
  });
  // The pool repeats the errors of idle connections, which were told already.
  pool.on('error', () => {});
  return pool;
}

/** Breaks a connection on which nothing was said for too long; whatever waits for an answer then fails. */
export function endWhenSilent(client: pg.ClientBase, limitMs: number): void {
  const socket = socketOf(client);
  socket.setTimeout(limitMs, () => socket.destroy(new Error('Connection terminated: no answer')));
}

/** The socket under a client, after TLS was set up. The types do not know it, and there is no other way to it. */
function socketOf(client: pg.ClientBase): Socket {
  return (client as unknown as { connection: { stream: Socket } }).connection.stream;
}
