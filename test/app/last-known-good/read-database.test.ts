import { mkdtemp, rm, stat } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, beforeEach, expect, it } from 'vitest';
import { nodeFileSystem } from '../../../src/app/last-known-good/file-system.js';
import { writeDatabaseState } from '../../../src/app/last-known-good/read-database.js';
import { StateFile } from '../../../src/app/last-known-good/state-file.js';
import { createDatabaseReader } from '../../../src/app/last-known-good/state-reader.js';
import { createAgentControlStore } from '../../../src/decide/agent-state/agent-control-store.js';
import { createControlLinksStore } from '../../../src/decide/agent-state/control-links-store.js';
import { type Database, openDatabase } from '../../../src/storage/database/database.js';
import { Random } from '../../serve/wire/random.js';
import { describeOnEachDatabase } from '../../support/databases.js';
import { scoped } from '../../support/scoped.js';
import { executeSql } from '../../support/sql.js';
import { key, stateOf, target } from './support.js';

const CONTROL_COLUMNS = `"id", "name", "live_name", "data", "enabled", "template_backed", "restricts_step_types",
  "restricts_stages", "created_at_ms", "updated_at_ms", "deleted_at_ms"`;

describeOnEachDatabase('the state of a database', (freshDatabaseUrl, kind) => {
  let url: string;
  let database: Database;
  let folder: string;
  beforeAll(async () => {
    folder = await mkdtemp(join(tmpdir(), 'state-'));
  });
  afterAll(() => rm(folder, { recursive: true }));
  beforeEach(async () => {
    url = await freshDatabaseUrl();
    database = await openDatabase({ url });
    return () => database.close();
  });

  /** How many enabled bindings the target of this number has. */
  const expectedBound = (at: number) =>
    Array.from({ length: 1_299 }, (_, index) => index + 1).filter((i) => i % 130 === at && i % 7 !== 0)
      .length;
  /** Numbers from 1. */
  const numbers = (count: number) =>
    `WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < ${count})`;
  const no = kind === 'sqlite' ? '0' : 'FALSE';
  const insertControls = (count: number, data: string, deleted = 'NULL') => `
    INSERT INTO "controls" (${CONTROL_COLUMNS}) ${numbers(count)}
      SELECT i, 'control-' || i, 'control-' || i, ${data}, ${no}, ${no}, ${no}, ${no}, 1, 1, ${deleted} FROM n;`;
  const insertAgents = (count: number) => `
    INSERT INTO "agents" ("id", "name", "data", "created_at_ms") ${numbers(count)}
      SELECT i, 'agent-number-' || i, '{}', 1 FROM n;`;
  const insertPolicies = (count: number) => `
    INSERT INTO "policies" ("id", "name", "created_at_ms") ${numbers(count)} SELECT i, 'p' || i, 1 FROM n;`;

  async function saved(path = join(folder, `state-${Math.random()}`)) {
    const file = new StateFile(path, nodeFileSystem);
    await database.readAtOnce((read) => file.save((writer) => writeDatabaseState(read, 1_234, writer)));
    const found = await file.read();
    if (found.kind !== 'usable') throw new Error(JSON.stringify(found));
    return { state: found.value, bytes: (await stat(path)).size };
  }

  it('has the enabled bindings, read page by page, and no others', async () => {
    const yes = kind === 'sqlite' ? '1' : 'TRUE';
    // Controls 1 to 100 are bound to 13 targets each; every seventh binding is disabled.
    const bind = `
      INSERT INTO "control_bindings" ("namespace", "target_type", "target_id", "control_id", "enabled",
        "created_at_ms", "updated_at_ms") ${numbers(1_300)}
        SELECT 'default', 'project', 'ü-' || (i % 130), 1 + (i / 13), CASE WHEN i % 7 = 0 THEN ${no} ELSE ${yes} END, 1, 1
        FROM n WHERE i < 1300;`;
    await executeSql(url, insertControls(100, `'{}'`) + insertAgents(2) + bind);
    const { state } = await saved();
    expect(state.header.bindings).toBe(1_299 - Math.floor(1_299 / 7));
    const reader = createDatabaseReader(createControlLinksStore(database.client));
    for (let at = 0; at <= 130; at += 10) {
      const of = target(`ü-${at}`);
      const wanted = { agent: key('agent-number-1'), target: of, needed: 0 };
      const [read] = reader.linksOf([wanted, { ...wanted, target: null }]);
      const { links, isBound } = (await read) ?? {};
      expect(state.linksOf(wanted.agent, of)).toMatchObject({ links, isBound });
      expect(isBound).toBe(at < 130);
      expect(links?.controlIds.length ?? 0).toBe(at < 130 ? expectedBound(at) : 0);
    }
    expect(state.linksOf(key('agent-number-1'), null)?.links.controlIds).toEqual([]);
  });

  it('is that of every agent, read page by page', async () => {
    const random = new Random(1);
    // More than one page of each.
    const pairs = (owners: number, members: number, most: number) =>
      Array.from({ length: owners }, (_, owner) =>
        [...new Set(Array.from({ length: random.below(most + 1) }, () => 1 + random.below(members)))].map(
          (member) => `(${owner + 1}, ${member})`,
        ),
      ).flat();
    const insert = (table: string, columns: string, rows: string[]) =>
      `INSERT INTO "${table}" (${columns}) VALUES ${rows.join(', ')};`;
    await executeSql(
      url,
      insertControls(130, `'{"of":' || i || ',"text":"ö"}'`) +
        insertAgents(2_300) +
        insertPolicies(2_100) +
        insert('policy_controls', '"policy_id", "control_id"', pairs(2_100, 130, 3)) +
        insert('agent_controls', '"agent_id", "control_id"', pairs(2_300, 130, 4)) +
        insert('agent_policies', '"agent_id", "policy_id"', pairs(2_300, 2_100, 3)) +
        'UPDATE "service_state" SET "revision" = 4711;',
    );
    const { state } = await saved();
    expect(state.header).toEqual({
      instanceId: database.instanceId,
      revision: 4711,
      timeMs: 1_234,
      controls: 130,
      policies: 2_100,
      agents: 2_300,
      keys: 0,
      halts: 0,
      bindings: 0,
    });
    const store = createAgentControlStore(scoped(database.client));
    for (let agent = 1; agent <= 2_300; agent += agent > 2_280 || agent < 20 ? 1 : 97) {
      const name = `agent-number-${agent}`;
      expect(stateOf(state, name)).toEqual(await store.stateOf(name));
    }
    expect(stateOf(state, 'agent-number-0').controls).toBeNull();
  });

  it('has the halts in force of all namespaces, read page by page, and none that ended', async () => {
    const insert = (count: number, scope: string, namespace: string, expires: string, lifted: string) => `
      INSERT INTO "halts" ("namespace", "scope", "step_name", "reason", "created_at_ms", "created_by", "expires_at_ms",
        "lifted_at_ms") ${numbers(count)}
        SELECT '${namespace}', '${scope}', 'step-' || i, 'ö "' || i, 1, 'me', ${expires}, ${lifted} FROM n;`;
    await executeSql(
      url,
      insert(700, 'step_name', 'team-a', '1235', 'NULL') +
        insert(10, 'step_name', 'team-a', '1234', 'NULL') +
        insert(10, 'step_name', 'team-a', 'NULL', '1') +
        insert(1, 'installation', '', 'NULL', 'NULL'),
    );
    const { state } = await saved();
    const { halts } = state.access;
    expect([state.header.halts, halts.length]).toEqual([701, 701]);
    expect(halts[699]).toEqual({
      id: 700,
      namespace: 'team-a',
      scope: 'step_name',
      agentName: null,
      sessionId: null,
      stepName: 'step-700',
      reason: 'ö "700',
      expiresAtMs: 1_235,
    });
    expect(halts[700]).toMatchObject({ namespace: '', scope: 'installation', expiresAtMs: null });
  });

  it('has nothing in it when the database has not', async () => {
    const { state } = await saved();
    expect(state.header).toMatchObject({ revision: 0, controls: 0, policies: 0, agents: 0 });
  });

  it('has what the steps of agents are compared with, and each text once', async () => {
    const step = (name: string) => ({
      type: 'tool',
      name,
      input_schema: { required: ['text'] },
      output_schema: null,
    });
    const registration = (agent: string, ...names: string[]) =>
      JSON.stringify({ agent: { agent_name: agent }, steps: names.map(step), evaluators: [] });
    const long = 'x'.repeat(20_000);
    const insert = (id: number, data: string, mode: string) =>
      `INSERT INTO "agents" ("id", "name", "data", "created_at_ms", "step_schemas")
         VALUES (${id}, 'agent-number-${id}', '${data}', 1, ${mode});`;
    await executeSql(
      url,
      insert(1, registration('a', long), 'NULL') +
        insert(2, registration('b', long), `'enforce'`) +
        insert(3, '{}', `'off'`) +
        insert(4, '{"steps": 1, "input_schema": {', 'NULL'),
    );
    const { state, bytes } = await saved();
    expect(bytes).toBeLessThan(30_000);
    const schemas = JSON.stringify([['tool', long, { required: ['text'] }, null]]);
    expect([1, 2, 3, 4].map((id) => state.linksOf(key(`agent-number-${id}`), null)?.steps)).toEqual([
      { mode: null, schemas },
      { mode: 'enforce', schemas },
      { mode: 'off', schemas: null },
      { mode: null, schemas: '' },
    ]);
  });

  it('reads a registration once for each version of it', async () => {
    await executeSql(url, insertAgents(3));
    const known = new Map();
    const registrationsRead = async () => {
      let read = 0;
      const file = new StateFile(join(folder, `known-${Math.random()}`), nodeFileSystem);
      await database.readAtOnce((reader) =>
        file.save((writer) =>
          writeDatabaseState(
            async (query) => {
              const rows = await reader(query);
              if (query.sql.includes('SELECT "id", "data" FROM "agents"')) read += rows.length;
              return rows;
            },
            1,
            writer,
            known,
          ),
        ),
      );
      return read;
    };
    expect([await registrationsRead(), await registrationsRead()]).toEqual([3, 0]);
    await executeSql(
      url,
      `UPDATE "agents" SET "version" = 2 WHERE "id" = 2; DELETE FROM "agents" WHERE "id" = 3;`,
    );
    expect([await registrationsRead(), known.size]).toEqual([1, 2]);
  });

  it('leaves out deleted controls', async () => {
    await executeSql(url, insertControls(3, `'{}'`, '7'));
    expect((await saved()).state.header.controls).toBe(0);
  });

  it('is of one moment, whatever is changed while it is read', async () => {
    await executeSql(
      url,
      insertControls(60, `'{}'`) +
        insertAgents(10) +
        'INSERT INTO "agent_controls" ("agent_id", "control_id") SELECT "id", 60 FROM "agents";',
    );
    const file = new StateFile(join(folder, 'moment'), nodeFileSystem);
    await database.readAtOnce((read) => {
      let asked = 0;
      return file.save((writer) =>
        writeDatabaseState(
          async (query) => {
            asked += 1;
            if (asked === 2) {
              await database.mutate(async (tx) => {
                await tx.agentControl.deleteMany();
                await tx.control.deleteMany();
                return { value: null, changed: true };
              });
            }
            return read(query);
          },
          0,
          writer,
        ),
      );
    });
    const found = await file.read();
    if (found.kind !== 'usable') throw new Error(JSON.stringify(found));
    expect(found.value.header).toMatchObject({ revision: 0, controls: 60, agents: 10 });
    expect(stateOf(found.value, 'agent-number-3').controls).toMatchObject([{ id: 60 }]);
  });

  it('takes a few megabytes for 100,000 agents on 20 policies of 50 controls', async () => {
    await executeSql(
      url,
      insertControls(1_000, `'{"condition":"' || i || '${'x'.repeat(300)}"}'`) +
        insertAgents(100_000) +
        insertPolicies(20) +
        `INSERT INTO "policy_controls" ("policy_id", "control_id")
          SELECT 1 + ("id" % 20), "id" FROM "controls";
        INSERT INTO "agent_policies" ("agent_id", "policy_id") SELECT "id", 1 + ("id" % 20) FROM "agents";`,
    );
    const { state, bytes } = await saved();
    expect(state.header).toMatchObject({ agents: 100_000, policies: 20, controls: 1_000 });
    expect(stateOf(state, 'agent-number-99999').controls).toHaveLength(50);
    expect(bytes).toBeLessThan(8_000_000);
  });
});
