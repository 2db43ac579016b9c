import { spawn } from 'node:child_process';
import { existsSync } from 'node:fs';
import { chmod, mkdtemp, rm, writeFile } from 'node:fs/promises';
import net from 'node:net';
import { tmpdir } from 'node:os';
import path from 'node:path';
import pg from 'pg';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { openDatabase } from '../../../src/storage/database/database.js';
import { haveOwnSessions } from '../../../src/storage/database/postgres-sessions.js';
import { createTestDatabase, type TestDatabase } from '../../support/databases.js';
import { until } from '../../support/until.js';

const PGBOUNCER = '/usr/sbin/pgbouncer';

async function freePort(): Promise<number> {
  const server = net.createServer().listen(0, '127.0.0.1');
  await new Promise((resolve) => server.once('listening', resolve));
  const { port } = server.address() as net.AddressInfo;
  await new Promise((resolve) => server.close(resolve));
  return port;
}

describe('connections to PostgreSQL', () => {
  let database: TestDatabase;
  let folder: string;
  const started: ReturnType<typeof spawn>[] = [];
  beforeAll(async () => {
    database = await createTestDatabase('postgresql');
    folder = await mkdtemp(path.join(tmpdir(), 'pgbouncer-'));
    // PgBouncer, which does not run as root, reads its file there.
    await chmod(folder, 0o755);
  });
  afterAll(async () => {
    for (const child of started) child.kill('SIGKILL');
    await rm(folder, { recursive: true, force: true });
    await database.drop();
  });

  it('have sessions of their own at the server itself', async () => {
    const [one, two] = [new pg.Client(database.url), new pg.Client(database.url)];
    await Promise.all([one.connect(), two.connect()]);
    expect(await haveOwnSessions(one, two)).toBe(true);
    // As behind a pooler that gives both the same session, or the first one another.
    expect(await haveOwnSessions(one, one)).toBe(false);
    // The first one is given another session after it has set its own.
    const moved = { query: (text: string) => (text.startsWith('SET') ? one : two).query(text) };
    expect(await haveOwnSessions(moved as never, two)).toBe(false);
    await Promise.all([one.end(), two.end()]);
  });

  describe.runIf(existsSync(PGBOUNCER))('through PgBouncer', () => {
    async function pooled(mode: string): Promise<string> {
      const { hostname, port, username, password, pathname } = new URL(database.url);
      const own = await freePort();
      const file = path.join(folder, `${mode}.ini`);
      const server = `host=${hostname} port=${port} user=${username} password=${decodeURIComponent(password)}`;
      await writeFile(
        file,
        `[databases]\n* = ${server}\n[pgbouncer]\nlisten_addr = 127.0.0.1\nlisten_port = ${own}\nauth_type = any\n` +
          `pool_mode = ${mode}\nmax_client_conn = 100\ndefault_pool_size = 4\nunix_socket_dir =\nuser = nobody\n`,
      );
      const child = spawn(PGBOUNCER, [file], { stdio: 'ignore' });
      started.push(child);
      const url = `postgresql://${username}@127.0.0.1:${own}${pathname}`;
      await until(
        async () => {
          const client = new pg.Client(url);
          client.on('error', () => {});
          const isUp = await client.connect().then(
            () => true,
            () => false,
          );
          await client.end().catch(() => {});
          return isUp;
        },
        (isUp) => isUp,
      );
      return url;
    }

    it.each(['transaction', 'statement'])('in %s mode are refused, with what to set', async (mode) => {
      const url = await pooled(mode);
      await expect(openDatabase({ url })).rejects.toThrow(/pooler .+ pool_mode=session/);
    });

    it('in session mode are used', async () => {
      const opened = await openDatabase({ url: await pooled('session') });
      await opened.close();
    });
  });
});
