import { existsSync } from 'node:fs';
import pg from 'pg';
import { beforeEach, describe, expect, it } from 'vitest';
import { openDatabase } from '../../../src/storage/database/database.js';
import { parseDatabaseUrl } from '../../../src/storage/database/database-url.js';
import { migrate } from '../../../src/storage/database/migrate.js';
import { type Migration, readMigrations } from '../../../src/storage/database/migration-files.js';
import { createTestDatabase, DATABASE_KINDS, describeOnEachEmptyDatabase } from '../../support/databases.js';
import { executeSql } from '../../support/sql.js';
import { until } from '../../support/until.js';

const CHECK = { mode: 'check', url: null } as const;
const OFF = { mode: 'off', url: null } as const;
const later = (sql: string): Migration => ({ name: '99990101000000_later', sql, checksum: 'later' });
const ADDITIVE = later('ALTER TABLE agents ADD COLUMN later TEXT; CREATE TABLE more (x INTEGER)');

describeOnEachEmptyDatabase('A database', (freshDatabaseUrl, kind) => {
  const known = readMigrations(kind);
  let url: string;
  beforeEach(async () => {
    url = await freshDatabaseUrl();
  });

  it('that lacks migrations is refused with their names when they are only checked, and not touched', async () => {
    await expect(openDatabase({ url, structure: CHECK })).rejects.toMatchObject({
      code: 'DATABASE_ERROR',
      message: expect.stringMatching(
        /lacks \d+ migrations of this version \(20261121000000_agents_and_controls, .*Run the command "migrate"/,
      ),
    });
    if (kind === 'sqlite') expect(existsSync(url.replace('file:', ''))).toBe(false);
    const location = parseDatabaseUrl(url);
    await migrate(location, known.slice(0, -1));
    const last = known.at(-1)?.name;
    await expect(openDatabase({ url, structure: CHECK })).rejects.toThrow(
      `The database lacks 1 migration of this version (${last})`,
    );
    expect((await migrate(location)).applied).toEqual([last]);
    const database = await openDatabase({ url, structure: CHECK });
    expect(database.created).toBe(false);
    await database.close();
  });

  it('that does not exist is not created when migrations are off', async () => {
    await expect(openDatabase({ url, structure: OFF })).rejects.toThrow(
      'There is no database, and SERVICE_MIGRATE=off does not let the service create one.',
    );
    if (kind === 'sqlite') expect(existsSync(url.replace('file:', ''))).toBe(false);
  });

  it('is opened without a look at its migrations when they are off', async () => {
    await migrate(parseDatabaseUrl(url));
    await executeSql(url, 'DROP TABLE "_prisma_migrations"');
    const database = await openDatabase({ url, structure: OFF });
    expect(await database.revision()).toBe(0);
    await database.close();
  });

  it.each(['auto', 'check'] as const)(
    'that a later version added to is used, and that is logged: %s',
    async (mode) => {
      await migrate(parseDatabaseUrl(url), [...known, ADDITIVE]);
      const lines: unknown[] = [];
      const logger = { warn: (details: object, message: string) => lines.push([details, message]) };
      const database = await openDatabase({ url, logger, structure: { mode, url: null } });
      expect(lines).toEqual([
        [
          expect.objectContaining({ migrations: [ADDITIVE.name] }),
          'the database has 1 migration of a later version that this one can work with',
        ],
      ]);
      await database.mutate(async (tx) => {
        await tx.agent.create({ data: { name: 'by-the-older', data: '{}', createdAtMs: 1n } });
        return { value: null, changed: true };
      });
      await database.close();
      // The later version again.
      expect(await migrate(parseDatabaseUrl(url), [...known, ADDITIVE])).toEqual({ applied: [], newer: [] });
    },
  );

  it('that a later version has changed is used by the programs that it does not exclude', async () => {
    const last = known.at(-1)?.name;
    const change = later(`-- Incompatible before ${last}: it is not read since then\nDROP TABLE agent_uses`);
    await migrate(parseDatabaseUrl(url), [...known, change]);
    expect((await migrate(parseDatabaseUrl(url))).newer).toEqual([change.name]);
    await expect(migrate(parseDatabaseUrl(url), known.slice(0, -1))).rejects.toThrow(
      /migration .* is not known here, and not compatible with this version/,
    );
  });

  it('of which a later migration carries no note is refused', async () => {
    await migrate(parseDatabaseUrl(url), [...known, ADDITIVE]);
    await executeSql(url, `UPDATE "_prisma_migrations" SET "logs" = NULL`);
    await expect(openDatabase({ url })).rejects.toThrow(
      /99990101000000_later is not known here, and not known to be compatible/,
    );
  });
});

describe.runIf(DATABASE_KINDS.includes('postgresql'))('A migration of PostgreSQL', () => {
  it('lets others use a table while it waits for it', async () => {
    const { url, drop } = await createTestDatabase('postgresql', 'nothing');
    const known = readMigrations('postgresql');
    const location = parseDatabaseUrl(url);
    await migrate(location, known);
    const reader = new pg.Client({ connectionString: url });
    await reader.connect();
    await reader.query('BEGIN; SELECT 1 FROM agents');
    const migrated = migrate(location, [...known, ADDITIVE]);
    // Later queries wait behind the waiting migration, until it gives way.
    await until(
      () => rowsOf(url, `SELECT 1 FROM pg_locks WHERE mode = 'AccessExclusiveLock' AND NOT granted`),
      (rows) => rows > 0,
    );
    expect(await rowsOf(url, 'SELECT count(*) FROM agents')).toBe(1);
    await reader.query('COMMIT');
    expect((await migrated).applied).toEqual([ADDITIVE.name]);
    await reader.end();
    await drop();
  });

  async function rowsOf(url: string, sql: string): Promise<number> {
    const client = new pg.Client({ connectionString: url });
    await client.connect();
    try {
      return (await client.query(sql)).rows.length;
    } finally {
      await client.end();
    }
  }
});
