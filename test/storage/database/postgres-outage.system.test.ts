import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { type PostgresServer, startPostgresServer } from '../../../scripts/postgres-server.mjs';
import { createAgentStore } from '../../../src/manage/agents/agent-store.js';
import { type Database, openDatabase } from '../../../src/storage/database/database.js';
import { scoped } from '../../support/scoped.js';

const UNAVAILABLE = { name: 'ServiceError', code: 'SERVICE_UNAVAILABLE' };

describe('A PostgreSQL server that goes away and comes back', () => {
  let server: PostgresServer;
  let database: Database;
  const warnings: string[] = [];

  beforeAll(async () => {
    server = await startPostgresServer();
    const failures = { told: () => {}, failed: (_kind: string, message: string) => warnings.push(message) };
    database = await openDatabase({ url: server.url, failures });
  });
  afterAll(async () => {
    await database.close();
    await server.stop();
  });

  it('makes everything unavailable at once, ends an open mutation, and needs no restart', async () => {
    const store = createAgentStore(scoped(database.client));
    // Several idle connections, all of which will break.
    await Promise.all(Array.from({ length: 5 }, () => database.revision()));
    const interrupted = database.mutate(async (tx) => {
      await createAgentStore(scoped(tx)).insert({ name: 'interrupted', data: '{}', createdAtMs: 1 });
      await server.pause();
      await createAgentStore(scoped(tx)).find('interrupted');
      return { value: null, changed: true };
    });
    await expect(interrupted).rejects.toMatchObject(UNAVAILABLE);
    await expect(database.revision()).rejects.toMatchObject(UNAVAILABLE);
    await expect(store.find('anybody')).rejects.toMatchObject(UNAVAILABLE);
    await expect(database.mutate(async () => ({ value: 1, changed: true }))).rejects.toMatchObject(
      UNAVAILABLE,
    );
    await expect(openDatabase({ url: server.url })).rejects.toMatchObject(UNAVAILABLE);
    expect(await database.ping()).toBe(false);
    expect(warnings).not.toEqual([]);

    await server.resume();
    expect(await database.ping()).toBe(true);
    expect(await store.find('interrupted')).toBeNull();
    const results = Array.from({ length: 10 }, () =>
      database.mutate(async () => ({ value: 1, changed: true })),
    );
    const revisions = (await Promise.all(results)).map(({ revision }) => revision);
    expect(revisions).toEqual([1, 2, 3, 4, 5, 6, 7, 8, 9, 10]);
  });
});
