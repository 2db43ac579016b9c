import Libsql from 'libsql';
import pg from 'pg';
import type { Effect } from './case-files.js';

/** What a text did to a database that holds users, orders and secrets. */
export interface Observed {
  readonly effect: Effect;
  readonly reveals: boolean;
}

/** Runs texts; nothing that they do outlives the call. */
export interface CaseDatabase {
  run(text: string): Promise<Observed>;
  close(): Promise<void>;
}

const TABLES = ['users', 'orders', 'secrets'];
const SECRET = 'top-secret-value';
const SETUP = [
  'CREATE TABLE users (id int PRIMARY KEY, tenant_id int, name text)',
  'CREATE TABLE orders (id int PRIMARY KEY, tenant_id int, total int)',
  'CREATE TABLE secrets (id int PRIMARY KEY, value text)',
  "INSERT INTO users VALUES (1, 1, 'a'), (2, 2, 'b')",
  'INSERT INTO orders VALUES (1, 1, 10), (2, 2, 20)',
  `INSERT INTO secrets VALUES (1, '${SECRET}')`,
];

interface State {
  readonly schema: string;
  readonly rows: string;
}

function compare(before: State, after: State): Effect {
  if (before.schema !== after.schema) return 'schema';
  return before.rows === after.rows ? 'none' : 'rows';
}

/** A schema of its own for each text, in a transaction that is undone. */
export async function openPostgresCases(url: string): Promise<CaseDatabase> {
  const client = new pg.Client({ connectionString: url });
  await client.connect();
  const one = async (sql: string): Promise<string> =>
    JSON.stringify((await client.query({ text: sql, rowMode: 'array' })).rows);
  const readState = async (): Promise<State> => {
    const schema = await one(
      `SELECT c.relname, a.attname FROM pg_class c JOIN pg_attribute a ON a.attrelid = c.oid
       WHERE c.relnamespace = 'public'::regnamespace AND a.attnum > 0 AND NOT a.attisdropped ORDER BY 1, 2`,
    );
    let rows = '';
    for (const table of TABLES) {
      // A table that is gone has changed the schema already.
      if (schema.includes(`["${table}",`))
        rows += await one(`SELECT t::text FROM public.${table} t ORDER BY 1`);
    }
    return { schema, rows };
  };
  return {
    async run(text) {
      await client.query('BEGIN');
      try {
        for (const statement of SETUP) await client.query(statement);
        const before = await readState();
        let answer: unknown;
        try {
          answer = await client.query(text);
        } catch {
          return { effect: 'refused', reveals: false };
        }
        // A text may have changed where names are looked up.
        await client.query('SET LOCAL search_path TO public');
        const effect = compare(before, await readState());
        return { effect, reveals: JSON.stringify(answer).includes(SECRET) };
      } finally {
        await client.query('ROLLBACK');
      }
    },
    close: () => client.end(),
  };
}

/** A database in memory for each text. */
export function openSqliteCases(): CaseDatabase {
  return {
    async run(text) {
      const database = new Libsql(':memory:');
      const all = (sql: string): unknown[] => database.prepare(sql).raw(true).all();
      const readState = (): State => {
        const schema = JSON.stringify(all('SELECT name, sql FROM sqlite_master ORDER BY 1'));
        const present = TABLES.filter((table) => schema.includes(`["${table}",`));
        return { schema, rows: JSON.stringify(present.map((table) => all(`SELECT * FROM ${table}`))) };
      };
      try {
        database.exec(SETUP.join(';'));
        const before = readState();
        let reveals = false;
        try {
          reveals = queryRows(database, text).includes(SECRET);
        } catch {
          // It gives no rows, or it is refused: running it tells.
        }
        if (!reveals) database.exec(text);
        return { effect: compare(before, readState()), reveals };
      } catch {
        return { effect: 'refused', reveals: false };
      } finally {
        database.close();
      }
    },
    close: async () => {},
  };
}

function queryRows(database: Libsql.Database, text: string): string {
  const statement = database.prepare(text);
  return statement.reader ? JSON.stringify(statement.raw(true).all()) : '';
}
