import { afterAll, beforeAll, expect, it } from 'vitest';
import { Prisma } from '../../../gen/prisma/sqlite/client.js';
import { type Database, openDatabase } from '../../../src/storage/database/database.js';
import { createWriteProbe } from '../../../src/storage/database/write-probe.js';
import { describeOnEachDatabase } from '../../support/databases.js';
import { executeSql } from '../../support/sql.js';

describeOnEachDatabase('the probe of writing', (freshDatabaseUrl) => {
  let url: string;
  let replicas: Database[];
  beforeAll(async () => {
    url = await freshDatabaseUrl();
    replicas = [await openDatabase({ url }), await openDatabase({ url }), await openDatabase({ url })];
  });
  afterAll(async () => {
    for (const database of replicas) await database.close();
  });
  const [first, second, third] = [0, 1, 2].map((index) => () => replicas[index] as Database) as [
    () => Database,
    () => Database,
    () => Database,
  ];
  const writes = async () => {
    const rows = await first().bulk.read('search', Prisma.sql`SELECT "writes" FROM "storage_probe"`);
    return Number(rows[0]?.[0]);
  };
  const probeOf = (database: Database) => createWriteProbe(database.bulk, database.instanceId);

  it('writes each time when no other process does', async () => {
    const probe = probeOf(first());
    const before = await writes();
    for (let count = 0; count < 3; count += 1) await probe();
    expect(await writes()).toBe(before + 3);
  });

  it('leaves writing to one of several processes, and to another when that one ends', async () => {
    const probes = [first, second, third].map((database) => probeOf(database()));
    for (const probe of probes) await probe();
    const before = await writes();
    for (let round = 0; round < 5; round += 1) for (const probe of probes) await probe();
    expect(await writes()).toBe(before + 5);
    const left = probes.slice(1);
    for (let round = 0; round < 5; round += 1) for (const probe of left) await probe();
    expect(await writes()).toBeGreaterThanOrEqual(before + 9);
    expect(await writes()).toBeLessThanOrEqual(before + 10);
  });

  it('reports when this is another database, and when its tables are missing', async () => {
    const stranger = createWriteProbe(first().bulk, 'another-instance');
    await expect(stranger()).rejects.toMatchObject({ state: 'REPLACED' });
    await executeSql(url, 'ALTER TABLE "storage_probe" RENAME TO "gone"');
    await expect(probeOf(first())()).rejects.toMatchObject({ state: 'REPLACED' });
    await executeSql(url, 'ALTER TABLE "gone" RENAME TO "storage_probe"');
    await probeOf(first())();
  });
});
