import { randomBytes } from 'node:crypto';
import { cp, mkdir, mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import path from 'node:path';
import { runOn } from '../support/databases.js';
import { type CompiledService, compiled } from '../support/service-process.js';

const ROOT = path.resolve(import.meta.dirname, '../..');

/** Adds to tables in use, as a migration of a release does. */
const ADDITION = `ALTER TABLE "agents" ADD COLUMN "later" TEXT;
  ALTER TABLE "events" ADD COLUMN "later" BIGINT NOT NULL DEFAULT 0;
  CREATE TABLE "later" ("id" INTEGER NOT NULL PRIMARY KEY)`;
export const LATER = '99990101000000_later';

/**
 * The next release of the service, as far as the database is concerned: a copy with one more migration, below
 * `dist`, from where it finds its packages.
 */
export async function nextRelease(sql: string = ADDITION): Promise<CompiledService> {
  const copy = await mkdtemp(path.join(ROOT, 'dist', 'next-'));
  await cp(path.dirname(compiled.main), path.join(copy, 'src'), { recursive: true });
  // It looks for its migrations from its own folder upwards.
  const folder = path.join(copy, 'prisma');
  for (const kind of ['sqlite', 'postgresql']) {
    const migrations = path.join(folder, kind, 'migrations');
    await cp(path.join(ROOT, 'prisma', kind, 'migrations'), migrations, { recursive: true });
    await mkdir(path.join(migrations, LATER));
    await writeFile(path.join(migrations, LATER, 'migration.sql'), sql);
  }
  return {
    main: path.join(copy, 'src', 'main.js'),
    remove: () => rm(copy, { recursive: true, force: true }),
  };
}

/** Addresses of a database for the user that owns its structure and for the one of the service. */
export interface Roles {
  readonly owner: string;
  readonly user: string;
  /** Gives the tables of events to the user of the service, once they exist. */
  handOver(): Promise<void>;
  /** To be called after the database is dropped. */
  drop(): Promise<void>;
}

/** Creates both users as docs/upgrades.md says. */
export async function createRoles(databaseUrl: string): Promise<Roles> {
  const page = await readFile(path.join(ROOT, 'docs', 'upgrades.md'), 'utf8');
  const sql = /^```sql\n(CREATE ROLE[\s\S]*?)^```$/m.exec(page)?.[1];
  const gift = /^```sql\n(ALTER TABLE[\s\S]*?)^```$/m.exec(page)?.[1];
  if (sql === undefined || gift === undefined)
    throw new Error('docs/upgrades.md does not say how to create the users');
  // Roles are of the whole server.
  const id = randomBytes(6).toString('hex');
  const named = (text: string) => text.replaceAll('service_', `service_${id}_`);
  await runOn(databaseUrl, named(sql));
  const as = (role: string, password: string): string => {
    const url = new URL(databaseUrl);
    url.username = `service_${id}_${role}`;
    url.password = password;
    return String(url);
  };
  return {
    owner: as('owner', 'owner-password'),
    user: as('user', 'user-password'),
    handOver: () => runOn(databaseUrl, named(gift)),
    drop: () =>
      runOn(process.env.TEST_DATABASE_URL ?? '', `DROP ROLE service_${id}_owner, service_${id}_user`),
  };
}
