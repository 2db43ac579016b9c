import { expect, it } from 'vitest';
import { Prisma } from '../../../gen/prisma/sqlite/client.js';
import { createAgentStore } from '../../../src/manage/agents/agent-store.js';
import { originOfService } from '../../../src/storage/database/audit-log.js';
import { type Database, openDatabase } from '../../../src/storage/database/database.js';
import { unavailable } from '../../../src/storage/database/errors.js';
import { createLateDatabase, type LateDatabase } from '../../../src/storage/database/late-database.js';
import { describeOnEachEmptyDatabase } from '../../support/databases.js';
import { openedInTest } from '../../support/opened.js';
import { keyOf, scoped } from '../../support/scoped.js';
import { until } from '../../support/until.js';

const REFUSED = { name: 'ServiceError', code: 'SERVICE_UNAVAILABLE', message: 'not mounted yet' };
const COUNT = Prisma.sql`SELECT COUNT(*) FROM "agents"`;

describeOnEachEmptyDatabase('a database that comes late', (freshDatabaseUrl, kind) => {
  const opened = openedInTest<Database>((one) => one.close());
  const late = (): LateDatabase => {
    const database = createLateDatabase({
      kind,
      instanceId: 'expected',
      refusal: () => unavailable('not mounted yet'),
      problem: () => ({ state: 'DOWN', meaning: 'It is not mounted yet.', advice: 'Mount it.' }),
    });
    opened.push(database);
    return database;
  };

  it('refuses everything with the reason until then', async () => {
    const database = late();
    const agents = createAgentStore(scoped(database.client));
    await expect(agents.find('some-agent-1')).rejects.toMatchObject(REFUSED);
    await expect(database.client.$queryRaw(COUNT)).rejects.toMatchObject(REFUSED);
    await expect(database.client.$executeRaw`SELECT 1`).rejects.toMatchObject(REFUSED);
    await expect(database.mutate(async () => ({ value: 1, changed: true }))).rejects.toMatchObject(REFUSED);
    await expect(database.revision()).rejects.toMatchObject(REFUSED);
    await expect(database.outrun(7, originOfService(1_000))).rejects.toMatchObject(REFUSED);
    await expect(database.readAtOnce(async () => 1)).rejects.toMatchObject(REFUSED);
    await expect(database.bulk.read('search', COUNT)).rejects.toMatchObject(REFUSED);
    await expect(database.bulk.transaction(async () => 1)).rejects.toMatchObject(REFUSED);
    const own = database.openBulk();
    await expect(own.read('search', COUNT)).rejects.toMatchObject(REFUSED);
    await expect(own.readAtOnce(async () => 1)).rejects.toMatchObject(REFUSED);
    await expect(own.transaction(async () => 1)).rejects.toMatchObject(REFUSED);
    await expect(own.guarded(COUNT, [])).rejects.toMatchObject(REFUSED);
    await own.close();
    await expect(database.changes().read(0)).rejects.toMatchObject(REFUSED);
    expect(await database.ping()).toBe(false);
    expect(database).toMatchObject({ kind, instanceId: 'expected', created: false });
    expect(database.storage.state).toBe('DOWN');
    expect(database.storage.report).toMatchObject({ meaning: 'It is not mounted yet.' });
    expect(database.storage.transitions.get('DOWN')).toBe(1);
  });

  it('serves those who had it before as if it had always been there', async () => {
    const database = late();
    const own = database.openBulk();
    const agents = createAgentStore(scoped(database.client));
    const source = database.changes();
    const hints: (number | undefined)[] = [];
    const states: string[] = [];
    database.storage.onChange((state) => states.push(state));
    database.storage.watch();
    source.listen((revision) => hints.push(revision));
    const real = await openDatabase({ url: await freshDatabaseUrl() });
    database.attach(real);
    expect(Number((await own.read('search', COUNT))[0]?.[0])).toBe(0);
    expect(await own.guarded(COUNT, [])).toHaveLength(1);
    await own.close();
    expect(hints).toEqual([undefined]);
    expect(states).toEqual(['OK']);
    expect(database.storage).toMatchObject({ state: 'OK', report: null });
    expect(database.storage.transitions.get('OK')).toBe(1);
    expect(database).toMatchObject({ instanceId: real.instanceId, created: true });
    const { revision } = await database.mutate(async (tx) => {
      await createAgentStore(scoped(tx)).insert({ name: 'some-agent-1', data: '{}', createdAtMs: 1 });
      return { value: null, changed: true, change: { agents: [keyOf('some-agent-1')] } };
    });
    expect(await agents.find('some-agent-1')).toMatchObject({ name: 'some-agent-1' });
    expect(Number(Object.values((await database.client.$queryRaw<object[]>(COUNT))[0] ?? {})[0])).toBe(1);
    expect(await database.revision()).toBe(revision);
    expect(Number((await database.bulk.read('search', COUNT))[0]?.[0])).toBe(1);
    expect(await database.readAtOnce(async (read) => Number((await read(COUNT))[0]?.[0]))).toBe(1);
    expect(await database.ping()).toBe(true);
    const { changes } = await until(
      () => source.read(revision - 1),
      (news) => news.revision === revision,
    );
    expect(changes).toEqual([
      { revision, agents: ['some-agent-1'], controls: [], policies: [], targets: [], access: false },
    ]);
    await source.close();
    await expect(source.read(0)).rejects.toThrow();
  });

  it('is closed with the database that was attached, and takes none after that', async () => {
    const database = late();
    const real = await openDatabase({ url: await freshDatabaseUrl() });
    database.attach(real);
    await database.close();
    await expect(real.revision()).rejects.toMatchObject({ code: 'SERVICE_UNAVAILABLE' });
    const never = late();
    await never.close();
    expect(() => never.attach(real)).toThrow();
  });
});
