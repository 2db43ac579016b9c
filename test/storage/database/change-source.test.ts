import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { originOfService } from '../../../src/storage/database/audit-log.js';
import {
  type Change,
  KEPT_REVISIONS,
  MAX_LISTED_AGENTS,
  MAX_READ_REVISIONS,
  PRUNING_INTERVAL,
} from '../../../src/storage/database/change-log.js';
import type { ChangeSource } from '../../../src/storage/database/change-source.js';
import { type Database, openDatabase } from '../../../src/storage/database/database.js';

import { createTestDatabase, describeOnEachDatabase, type TestDatabase } from '../../support/databases.js';
import { keyOf } from '../../support/scoped.js';
import { executeSql } from '../../support/sql.js';
import { startTcpProxy, type TcpProxy } from '../../support/tcp-proxy.js';
import { until } from '../../support/until.js';

const NOTHING_ELSE = { targets: [], access: false };
const ANY_ACCESS = { targets: [], access: true };

async function commit(database: Database, change?: Change): Promise<number> {
  const { revision } = await database.mutate(async () => ({
    value: null,
    changed: true,
    ...(change === undefined ? {} : { change }),
  }));
  return revision;
}

describeOnEachDatabase('A change source', (freshDatabaseUrl) => {
  let url: string;
  let database: Database;
  let source: ChangeSource;
  beforeAll(async () => {
    url = await freshDatabaseUrl();
    database = await openDatabase({ url });
    // Of another process, as far as the database can tell.
    const other = await openDatabase({ url, migrate: false });
    source = other.changes();
    await other.close();
  });
  afterAll(async () => {
    await source.close();
    await database.close();
  });

  it('reports what each mutation of another process changed, in order', async () => {
    const before = await database.revision();
    expect(await source.read(before)).toEqual({ revision: before, changes: [] });
    await commit(database, { agents: ['a', 'é"😀'].map(keyOf), controls: [7] });
    await commit(database, {});
    await commit(database, { controls: [2 ** 31 - 1] });
    await commit(database, { policies: [3, 4], controls: [5] });
    expect(await source.read(before)).toEqual({
      revision: before + 4,
      changes: [
        { revision: before + 1, agents: ['a', 'é"😀'], controls: [7], policies: [], ...NOTHING_ELSE },
        { revision: before + 2, agents: [], controls: [], policies: [], ...NOTHING_ELSE },
        { revision: before + 3, agents: [], controls: [2 ** 31 - 1], policies: [], ...NOTHING_ELSE },
        { revision: before + 4, agents: [], controls: [5], policies: [3, 4], ...NOTHING_ELSE },
      ],
    });
    expect((await source.read(before + 3)).changes).toHaveLength(1);
  });

  it('reports that anything may have changed when the log lacks a change, or has too many', async () => {
    const before = await commit(database, {});
    await commit(database);
    await commit(database, {
      agents: Array.from({ length: MAX_LISTED_AGENTS + 1 }, (_, at) => keyOf(`agent-${at}`)),
    });
    await commit(database, { agents: [keyOf('agent')], policies: [1] });
    expect((await source.read(before)).changes).toEqual(
      [1, 2, 3].map((count) => ({
        revision: before + count,
        agents: 'any',
        controls: [],
        policies: [],
        ...ANY_ACCESS,
      })),
    );
  });

  it('takes a row of a process of an earlier version for a change of anything', async () => {
    const before = await database.revision();
    await executeSql(
      url,
      `UPDATE "service_state" SET "revision" = "revision" + 1;
       INSERT INTO "changes" ("revision", "agents", "controls") VALUES (${before + 1}, '["an-agent"]', '[]')`,
    );
    expect((await source.read(before)).changes).toEqual([
      { revision: before + 1, agents: 'any', controls: [], policies: [], ...ANY_ACCESS },
    ]);
  });

  it('reports to processes of an earlier version that a change of a policy may have changed any agent', async () => {
    const revision = await commit(database, { policies: [3] });
    const row = await database.client.change.findUnique({ where: { revision: BigInt(revision) } });
    expect(row).toMatchObject({ agents: null, controls: '[]', policies: '[3]' });
  });

  it('logs nothing of a mutation that changed nothing or failed', async () => {
    const before = await database.revision();
    await database.mutate(async () => ({ value: null, changed: false }));
    await database
      .mutate(async () => {
        throw new Error('no');
      })
      .catch(() => {});
    expect(await source.read(before)).toEqual({ revision: before, changes: [] });
  });

  it('detects when its changes are incomplete: revisions without a log, too many, or that went back', async () => {
    const before = await commit(database, {});
    // As a version without a log would commit.
    await executeSql(url, 'UPDATE "service_state" SET "revision" = "revision" + 1');
    await commit(database, {});
    expect(await source.read(before)).toEqual({ revision: before + 2, changes: null });
    expect((await source.read(before + 1)).changes).toHaveLength(1);
    expect((await source.read(before + 100)).changes).toBeNull();
    await executeSql(
      url,
      `UPDATE "service_state" SET "revision" = "revision" + ${MAX_READ_REVISIONS};
       UPDATE "changes" SET "revision" = "revision" + ${MAX_READ_REVISIONS}`,
    );
    expect((await source.read(before)).changes).toBeNull();
  });

  it('finds a log that keeps the latest revisions only', async () => {
    const pruned = Math.ceil((KEPT_REVISIONS + 10_000) / PRUNING_INTERVAL) * PRUNING_INTERVAL;
    await executeSql(
      url,
      `DELETE FROM "changes";
       INSERT INTO "changes" ("revision", "agents", "controls") VALUES
         (${pruned - KEPT_REVISIONS - 1}, '[]', '[]'), (${pruned - KEPT_REVISIONS}, '[]', '[]'),
         (${pruned - KEPT_REVISIONS + 1}, '[]', '[]');
       UPDATE "service_state" SET "revision" = ${pruned - 1}`,
    );
    expect(await commit(database, {})).toBe(pruned);
    const kept = await until(
      () => database.client.change.findMany({ orderBy: { revision: 'asc' } }),
      (rows) => rows.length < 4,
    );
    expect(kept.map(({ revision }) => Number(revision))).toEqual([pruned - KEPT_REVISIONS + 1, pruned]);
  });

  it('reports that anything may have changed when the revision outruns those of before a restore', async () => {
    const before = await commit(database, {});
    // Beyond 32 bits.
    const told = before + 5_000_000_000;
    expect(await database.outrun(told, originOfService(1_000))).toBe(told + 1);
    expect(await source.read(before)).toEqual({ revision: told + 1, changes: null });
    expect(await database.outrun(told, originOfService(1_000))).toBe(told + 1);
    const next = await commit(database, { agents: [keyOf('agent')] });
    expect(next).toBe(told + 2);
    expect(await source.read(told)).toEqual({
      revision: next,
      changes: [
        { revision: told + 1, agents: 'any', controls: [], policies: [], ...ANY_ACCESS },
        { revision: next, agents: [keyOf('agent')], controls: [], policies: [], ...NOTHING_ELSE },
      ],
    });
  });

  it('is refused after closing', async () => {
    const closed = database.changes();
    await closed.read(0);
    await closed.close();
    await expect(closed.read(0)).rejects.toThrow('closed');
  });
});

describe('A change source of PostgreSQL', () => {
  let server: TestDatabase;
  let proxy: TcpProxy;
  let database: Database;
  let source: ChangeSource;
  const hints: (number | undefined)[] = [];
  beforeAll(async () => {
    server = await createTestDatabase('postgresql');
    database = await openDatabase({ url: server.url });
    proxy = await startTcpProxy(server.url);
    const behind = await openDatabase({ url: proxy.url, migrate: false });
    source = behind.changes();
    await behind.close();
    source.listen((revision) => hints.push(revision));
    await source.read(0);
  });
  afterAll(async () => {
    await source.close();
    await proxy.close();
    await database.close();
    await server.drop();
  });

  const hinted = (revision: number | undefined) =>
    until(
      () => hints,
      (all) => all.includes(revision),
    );
  const readable = async () => {
    const { revision } = await until(
      () => source.read(0).catch(() => null),
      (news) => news !== null,
    ).then((news) => news ?? { revision: -1 });
    return revision;
  };

  it('is notified of a mutation when it commits, and of nothing when it does not', async () => {
    const revision = await commit(database, {});
    await hinted(revision);
    await database.mutate(async () => ({ value: null, changed: false }));
    await hinted(await commit(database, {}));
    expect(hints.filter((hint) => hint === revision + 2)).toEqual([]);
  });

  it('takes what others send for a hint without a revision', async () => {
    hints.length = 0;
    await executeSql(server.url, `NOTIFY control_enforcement_changes, '99999999999999999999'`);
    await hinted(undefined);
  });

  it.each<[string, () => Promise<void> | void]>([
    ['broke', () => proxy.cut()],
    [
      'broke and could not be replaced for a while',
      async () => {
        await proxy.set('refuse');
        proxy.cut();
        await expect(
          until(
            () => source.read(0),
            () => false,
          ),
        ).rejects.toThrow(/ECONNRE|terminated/);
        await proxy.set('clear');
      },
    ],
    [
      'was ended by the server',
      () =>
        executeSql(
          server.url,
          `SELECT pg_terminate_backend(pid) FROM pg_stat_activity
         WHERE application_name = 'control-enforcement-service changes' AND datname = current_database()`,
        ),
    ],
    ['was forgotten by the network', () => proxy.forget()],
  ])('listens again after its connection %s', async (_name, breakIt) => {
    await breakIt();
    hints.length = 0;
    // Polling notices that a connection is dead.
    await readable();
    await until(
      () =>
        source.read(0).then(
          () => commit(database, {}).then(() => hints.length),
          () => 0,
        ),
      (count) => count > 0,
    );
    expect(await readable()).toBe(await database.revision());
  });
});
