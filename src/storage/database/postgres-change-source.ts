import pg from 'pg';
import { CHANGE_CHANNEL, newsOf, newsQuery } from './change-log.js';
import type { ChangeSource } from './change-source.js';
import { endWhenSilent } from './postgres-pool.js';
import { StorageError } from './storage-health/storage-state.js';

/** How often to read without notifications, in milliseconds: some poolers do not forward them. */
const POLL_MS = 1_000;
/** How long connecting may take. */
const CONNECT_LIMIT_MS = 2_000;
/** One row is read every `POLL_MS`; a connection without an answer for this long is dead. */
const SILENCE_LIMIT_MS = 3_000;
/** Pauses before reconnecting: the first one, and the longest. */
const FIRST_PAUSE_MS = 50;
const MAX_PAUSE_MS = 1_000;

const SETTINGS = `
  SET statement_timeout = ${SILENCE_LIMIT_MS};
  SET search_path = public;
  LISTEN ${CHANGE_CHANNEL}`;

/**
 * Reads changes made by other processes in a PostgreSQL database, and listens for notifications, over one
 * connection that is replaced whenever it breaks. A database other than `instanceId`, at the same address,
 * counts as no answer.
 */
export function createPostgresChangeSource(connectionString: string, instanceId: string): ChangeSource {
  let client: pg.Client | null = null;
  let connecting: Promise<pg.Client> | null = null;
  let pause = FIRST_PAUSE_MS;
  let timer: NodeJS.Timeout | undefined;
  let hint: (revision?: number) => void = () => {};
  let problem: unknown = new Error('the database is closed');
  let closed = false;

  async function connect(): Promise<pg.Client> {
    const fresh = new pg.Client({
      connectionString,
      connectionTimeoutMillis: CONNECT_LIMIT_MS,
      keepAlive: true,
      application_name: 'control-enforcement-service changes',
    });
    // Without a listener a broken connection would end the process.
    fresh.on('error', (error) => lost(fresh, error));
    fresh.on('end', () => lost(fresh, new Error('Connection terminated')));
    fresh.on('notification', ({ payload }) => hint(revisionOf(payload)));
    try {
      await fresh.connect();
      endWhenSilent(fresh, SILENCE_LIMIT_MS);
      await fresh.query(SETTINGS);
    } catch (error) {
      void fresh.end().catch(() => {});
      throw error;
    }
    if (closed) {
      await fresh.end();
      throw new Error('the database is closed');
    }
    client = fresh;
    pause = FIRST_PAUSE_MS;
    return fresh;
  }

  /** Connects once, for any number of callers. */
  function connected(): Promise<pg.Client> {
    connecting ??= connect()
      .catch((error: unknown) => {
        problem = error;
        scheduleReconnect();
        throw error;
      })
      .finally(() => {
        connecting = null;
      });
    return connecting;
  }

  function lost(which: pg.Client, error: Error): void {
    if (which !== client) return;
    client = null;
    problem = error;
    void which.end().catch(() => {});
    scheduleReconnect();
  }

  function scheduleReconnect(): void {
    if (closed || timer !== undefined) return;
    // Random, so that the processes of a fleet do not all reconnect simultaneously.
    const delay = pause * (0.5 + Math.random() / 2);
    pause = Math.min(pause * 2, MAX_PAUSE_MS);
    timer = setTimeout(() => {
      timer = undefined;
      // Notifications in the meantime were missed.
      connected().then(
        () => hint(),
        () => {},
      );
    }, delay);
    timer.unref();
  }

  return {
    pollMs: POLL_MS,
    async read(known) {
      if (closed) throw new Error('the database is closed');
      // Between two attempts to connect the database is already known to be unreachable.
      if (client === null && connecting === null && timer !== undefined) throw problem;
      const reader = client ?? (await connected());
      const { rows } = await reader.query<unknown[]>({
        name: 'news',
        text: newsQuery('$1::bigint'),
        values: [known],
        rowMode: 'array',
      });
      if (rows.some((row) => row.at(-1) !== instanceId)) {
        throw new StorageError('REPLACED', { particular: 'it is another database' });
      }
      return newsOf(known, rows);
    },
    listen(onHint) {
      hint = onHint;
    },
    async close() {
      closed = true;
      clearTimeout(timer);
      const last = client;
      client = null;
      await last?.end().catch(() => {});
    },
  };
}

/** The revision in a notification; any client that may connect can send others. */
function revisionOf(payload: string | undefined): number | undefined {
  return payload !== undefined && /^\d{1,15}$/.test(payload) ? Number(payload) : undefined;
}
