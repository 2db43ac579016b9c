import { afterEach, expect, it } from 'vitest';
import { type Database, openDatabase } from '../../src/database/database.js';
import type { ControlEvent } from '../../src/observability/event.js';
import { createEventStore } from '../../src/observability/event-store.js';
import { utcTimeOfMs } from '../../src/observability/event-time.js';
import { describeOnEachDatabase } from '../support/databases.js';

const event = (id: string): ControlEvent => ({
  control_execution_id: id,
  trace_id: 't',
  span_id: 's',
  agent_name: 'written-bot-1',
  control_id: 1,
  control_name: 'one',
  check_stage: 'pre',
  applies_to: 'llm_call',
  action: 'deny',
  matched: true,
  confidence: 1,
  timestamp: utcTimeOfMs(0),
  execution_duration_ms: null,
  evaluator_name: null,
  selector_path: null,
  error_message: null,
  metadata: {},
});

describeOnEachDatabase('a write that no verdict depends on', (freshDatabaseUrl, kind) => {
  const databases: Database[] = [];
  afterEach(async () => {
    for (const database of databases.splice(0)) await database.close();
  });
  async function open(): Promise<Database> {
    const database = await openDatabase({ url: await freshDatabaseUrl() });
    databases.push(database);
    return database;
  }
  const write = (database: Database, ...ids: string[]) =>
    database.write((tx) => createEventStore(tx).insert(ids.map(event)));
  const count = (database: Database) => database.client.event.count();

  it('is kept and leaves the revision alone', async () => {
    const database = await open();
    const before = await database.revision();
    await write(database, 'a', 'b');
    expect(await count(database)).toBe(2);
    expect(await database.revision()).toBe(before);
  });

  it('is undone as a whole when it throws', async () => {
    const database = await open();
    const failing = database.write(async (tx) => {
      await createEventStore(tx).insert([event('a')]);
      throw new Error('changed my mind');
    });
    await expect(failing).rejects.toMatchObject({ name: 'ServiceError' });
    expect(await count(database)).toBe(0);
    await write(database, 'b');
    expect(await count(database)).toBe(1);
  });

  it('takes its turn among others and among mutations', async () => {
    const database = await open();
    const writes = Array.from({ length: 20 }, (_, index) => write(database, `id-${index}`, 'shared'));
    const mutations = writes.map(() => database.mutate(async () => ({ value: null, changed: true })));
    await Promise.all([...writes, ...mutations]);
    expect(await count(database)).toBe(21);
    expect(await database.revision()).toBe(20);
  });

  it('is refused once the database is closed', async () => {
    const database = await open();
    await database.close();
    await expect(write(database, 'a')).rejects.toMatchObject({ code: 'SERVICE_UNAVAILABLE' });
  });

  // SQLite has one writer at a time, whatever it writes.
  if (kind === 'sqlite') return;
  it('does not wait for a mutation that is open', async () => {
    const database = await open();
    await database.mutate(async () => {
      await write(database, 'a');
      expect(await count(database)).toBe(1);
      return { value: null, changed: false };
    });
  });
});
