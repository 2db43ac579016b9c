import { randomUUID } from 'node:crypto';
import pg from 'pg';
import { ServiceError } from '../../contract/errors/service-error.js';
import { CONNECT_TIMEOUT_MS } from './postgres-pool.js';

/** A setting of no extension: PostgreSQL keeps it in the session. */
const MARK = 'control_enforcement.session';

/**
 * Rejects when connections do not have sessions of their own, as behind a pooler in transaction mode: settings, prepared statements,
 * `LISTEN` and locks of a session would then be those of other connections, and be missing where they are expected. Resolves
 * where the server does not answer: that is told by what needs it.
 */
export async function demandOwnSessions(connectionString: string): Promise<void> {
  const clients = [1, 2].map(() => {
    const client = new pg.Client({ connectionString, connectionTimeoutMillis: CONNECT_TIMEOUT_MS });
    client.on('error', () => {});
    return client;
  });
  const [one, two] = clients as [pg.Client, pg.Client];
  try {
    await one.connect();
    await two.connect();
    if (await haveOwnSessions(one, two)) return;
  } catch {
    return;
  } finally {
    await Promise.allSettled(clients.map((client) => client.end()));
  }
  throw new ServiceError('DATABASE_ERROR', {
    detail:
      'DATABASE_URL leads to a pooler that gives each transaction another session (such as PgBouncer with pool_mode=transaction), ' +
      'which loses settings, locks and notifications: name the server itself, or a pool with pool_mode=session.',
  });
}

/** Whether what one client sets in its session stays there, and is not in that of the other. */
export async function haveOwnSessions(
  one: Pick<pg.Client, 'query'>,
  two: Pick<pg.Client, 'query'>,
): Promise<boolean> {
  const mark = randomUUID();
  await one.query(`SET ${MARK} = '${mark}'`);
  const isMarked = async (client: Pick<pg.Client, 'query'>): Promise<boolean> => {
    const { rows } = await client.query(`SELECT current_setting('${MARK}', true) AS mark`);
    return rows[0]?.mark === mark;
  };
  // A pooler gives the session that was used last to the next transaction.
  return !(await isMarked(two)) && (await isMarked(one));
}
