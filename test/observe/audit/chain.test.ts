import fc from 'fast-check';
import { beforeEach, expect, it } from 'vitest';
import { Prisma } from '../../../gen/prisma/sqlite/client.js';
import { ANONYMOUS } from '../../../src/contract/call/handler.js';
import { createPolicyStore } from '../../../src/manage/policies/policy-store.js';
import type { AuditStore } from '../../../src/observe/audit/audit-store.js';
import { createAuditUpkeep } from '../../../src/observe/audit/audit-upkeep.js';
import { verifyPart } from '../../../src/observe/audit/verify-chain.js';
import { type AuditEntry, entryHash } from '../../../src/storage/database/audit-chain.js';
import { MAX_STATE_BYTES } from '../../../src/storage/database/audit-log.js';
import { type Database, openDatabase } from '../../../src/storage/database/database.js';
import { createMutator } from '../../../src/storage/database/mutator.js';
import { describeOnEachDatabase } from '../../support/databases.js';
import { openedInSuite } from '../../support/opened.js';
import { scoped } from '../../support/scoped.js';
import { sqlText } from '../../support/sql.js';
import { allEntries, record, storeOf, withoutTriggers } from './audit.support.js';

const ENTRIES = 20;
const DAY_MS = 86_400_000;
const TEXT_COLUMNS = [
  ...['actor_kind', 'actor_name', 'key_fingerprint', 'address', 'request_id', 'action', 'resource'],
  ...['resource_id', 'resource_name', 'before', 'after', 'previous_hash', 'hash'],
];
const NUMBER_COLUMNS = ['revision', 'time_ms'];

describeOnEachDatabase('the audit log', (freshDatabaseUrl) => {
  let url: string;
  let database: Database;
  let store: AuditStore;
  const opened = openedInSuite<Database>((one) => one.close());
  beforeEach(async () => {
    url = await freshDatabaseUrl();
    database = await openDatabase({ url });
    opened.push(database);
    store = storeOf(database);
  });
  /** Statements over the connections of the service, but past all of its code. */
  const sql = (text: string) =>
    database.bulk.transaction((tx) => tx.run(...text.split('; ').map((statement) => Prisma.raw(statement))));
  const verified = async () => {
    const { problem, verified: count } = await verifyPart(store, undefined);
    return problem?.position ?? `${count} intact`;
  };

  it('shows any row that was changed, removed or inserted', async () => {
    for (let index = 0; index < ENTRIES; index += 1) {
      await record(database, { name: `nr ${index}`, before: { index }, after: { index: index + 1 } });
    }
    const entries = await allEntries(store);
    expect(await verified()).toBe(`${ENTRIES} intact`);
    await sql(withoutTriggers(database.kind));

    const position = fc.integer({ min: 1, max: ENTRIES });
    const change = fc.record({
      at: position,
      column: fc.constantFrom(...TEXT_COLUMNS, ...NUMBER_COLUMNS),
      isForged: fc.boolean(),
      value: fc.nat(1_000_000),
    });
    const restore = async (entry: AuditEntry) => {
      await sql(`DELETE FROM "audit_entries" WHERE "position" = ${entry.position}; ${insertion(entry)}`);
    };
    await fc.assert(
      fc.asyncProperty(change, async ({ at, column, isForged, value }) => {
        const entry = entries[at - 1] as AuditEntry;
        const isNumber = NUMBER_COLUMNS.includes(column);
        // A revision is never that large, and a time never that late.
        const literal = isNumber ? String(value + 10_000) : sqlText(`changed ${value}`);
        await sql(`UPDATE "audit_entries" SET "${column}" = ${literal} WHERE "position" = ${at}`);
        const isHash = column.endsWith('hash');
        if (isForged && !isHash) {
          // The one who changes the row knows how hashes are made.
          const changed = (await allEntries(store))[at - 1] as AuditEntry;
          const hash = entryHash(changed.previousHash, changed);
          await sql(`UPDATE "audit_entries" SET "hash" = '${hash}' WHERE "position" = ${at}`);
          // Then the next row gives it away, or the end of the chain.
          expect(await verified()).toBe(Math.min(at + 1, ENTRIES));
        } else {
          expect(await verified()).toBe(at);
        }
        await restore(entry);
      }),
      { numRuns: 20 },
    );
    await fc.assert(
      fc.asyncProperty(position, position, async (one, other) => {
        const [first, last] = [Math.min(one, other), Math.max(one, other)];
        await sql(`DELETE FROM "audit_entries" WHERE "position" BETWEEN ${first} AND ${last}`);
        expect(await verified()).toBe(first);
        await sql(
          entries
            .slice(first - 1, last)
            .map(insertion)
            .join('; '),
        );
      }),
      { numRuns: 5 },
    );
    for (const at of [-3, 0, ENTRIES + 1, ENTRIES + 7]) {
      await sql(insertion({ ...(entries[4] as AuditEntry), position: at }));
      expect(await verified()).toBe(at <= 0 ? at : ENTRIES + 1);
      await sql(`DELETE FROM "audit_entries" WHERE "position" = ${at}`);
    }
    // Two rows that change places.
    const [third, fourth] = entries.slice(2, 4) as [AuditEntry, AuditEntry];
    await sql('DELETE FROM "audit_entries" WHERE "position" IN (3, 4)');
    await sql(`${insertion({ ...third, position: 4 })}; ${insertion({ ...fourth, position: 3 })}`);
    expect(await verified()).toBe(3);
    await sql('DELETE FROM "audit_entries" WHERE "position" IN (3, 4)');
    await sql(`${insertion(third)}; ${insertion(fourth)}`);
    expect(await verified()).toBe(`${ENTRIES} intact`);
  });

  it('refuses to be changed, emptied, or shortened', async () => {
    await record(database);
    await record(database);
    const statements = [
      'UPDATE "audit_entries" SET "actor_name" = NULL',
      'DELETE FROM "audit_entries" WHERE "position" = 1',
      'DELETE FROM "audit_entries"',
      ...(database.kind === 'sqlite' ? [] : ['TRUNCATE "audit_entries"']),
    ];
    for (const statement of statements) await expect(sql(statement)).rejects.toThrow();
    expect(await verified()).toBe('2 intact');
  });

  it('cannot be rewritten with data statements: its ends move forward, and entries are added at its end', async () => {
    for (let index = 0; index < 4; index += 1) await record(database, { after: { index } });
    const entries = await allEntries(store);
    const [second, last] = [entries[1], entries[3]] as [AuditEntry, AuditEntry];
    const state = (set: string) => `UPDATE "service_state" SET ${set} WHERE "id" = 1`;
    const forged = { ...last, position: 5, previousHash: last.hash, actor: second.actor };
    const replace = (statement: string) => statement.replace('INSERT', 'INSERT OR REPLACE');
    const statements = [
      state(`"audit_anchor_position" = 4`),
      state(`"audit_anchor_position" = 4, "audit_anchor_hash" = '${second.hash}'`),
      state(`"audit_anchor_position" = 9, "audit_anchor_hash" = '${last.hash}'`),
      state(`"audit_anchor_hash" = '${last.hash}'`),
      state(`"audit_position" = 2, "audit_hash" = '${second.hash}'`),
      state('"audit_position" = 6'),
      state(`"audit_hash" = '${second.hash}'`),
      state('"id" = 2'),
      'DELETE FROM "service_state"',
      insertion({ ...forged, previousHash: second.hash }),
      insertion({ ...forged, position: 6 }),
      insertion({ ...second, position: 0 }),
      ...(database.kind === 'sqlite'
        ? [
            replace(insertion(second)),
            'INSERT OR REPLACE INTO "service_state" ("id", "revision") VALUES (1, 1)',
            'INSERT INTO "service_state" ("id", "revision") VALUES (2, 1)',
          ]
        : ['TRUNCATE "service_state"']),
    ];
    for (const statement of statements) await expect(sql(statement), statement).rejects.toThrow();
    expect(await verified()).toBe('4 intact');
    // What is left to them is what pruning does, which the verification finds without its entry.
    await sql(state(`"audit_anchor_position" = 2, "audit_anchor_hash" = '${second.hash}'`));
    await sql('DELETE FROM "audit_entries" WHERE "position" <= 2');
    for (const statement of statements.slice(0, 9)) await expect(sql(statement), statement).rejects.toThrow();
    expect(await verifyPart(store, undefined)).toMatchObject({
      verified: 0,
      problem: { position: 2, message: expect.stringContaining('deleted without an entry') },
    });
    await record(database);
    expect((await verifyPart(store, undefined)).problem?.position).toBe(2);
  });

  it('has no entry of a mutation that fails, and no mutation without its entry', async () => {
    const mutate = createMutator({ database, now: () => 1, onCommit: () => {} });
    const caller = {
      principal: ANONYMOUS,
      address: null,
      requestId: 'r',
      reportRevision: () => {},
    } as const;
    const create = (name: string, fails = false) =>
      mutate(caller, async ({ client: tx }) => {
        const { id } = await createPolicyStore(scoped(tx)).insert({ name, createdAtMs: 1 });
        if (fails) throw new Error('after the row was written');
        const audit = {
          action: 'policy.create',
          resource: 'policy',
          id: String(id),
          before: null,
          after: { name },
        };
        return { value: id, change: {}, audit: { ...audit, resource: 'policy' } };
      });
    await create('first');
    await expect(create('second', true)).rejects.toThrow();
    expect(await verified()).toBe('1 intact');
    // The place of the next entry is taken: it cannot be written, so nothing is.
    await sql(withoutTriggers(database.kind));
    const [first] = (await allEntries(store)) as [AuditEntry];
    await sql(insertion({ ...first, position: 2 }));
    await expect(create('third')).rejects.toMatchObject({ code: 'DATABASE_ERROR' });
    expect(await createPolicyStore(scoped(database.client)).findByName('third')).toBeNull();
    expect(await database.revision()).toBe(1);
  });

  it('stores no value of a member with the name of a secret, and no state beyond the limit', async () => {
    const secret = 'hunter2-and-more';
    const state = {
      api_key: secret,
      nested: [{ Authorization: [secret], plain: 'shown' }],
      userPassword: { deep: secret },
      ['__proto__']: { token: secret },
    };
    await record(database, { before: { config: { secret } }, after: state });
    const [entry] = await allEntries(store);
    expect(JSON.stringify(entry)).not.toContain(secret);
    expect(JSON.parse(entry?.after ?? '')).toMatchObject({
      api_key: '***',
      nested: [{ Authorization: '***', plain: 'shown' }],
      userPassword: '***',
    });
    for (const [length, isKept] of [
      [MAX_STATE_BYTES - 2, true],
      [MAX_STATE_BYTES - 1, false],
    ] as const) {
      await record(database, { after: 'x'.repeat(length) });
      const after = (await allEntries(store)).at(-1)?.after ?? '';
      if (isKept) expect(after).toHaveLength(MAX_STATE_BYTES);
      else
        expect(JSON.parse(after)).toEqual({
          too_large: { sha256: expect.stringMatching(/^[0-9a-f]{64}$/), bytes: MAX_STATE_BYTES + 1 },
        });
    }
    expect(await verified()).toBe('3 intact');
  });

  it('can be verified after its old entries are pruned, and has an entry about that', async () => {
    const nowMs = 1_000 * DAY_MS;
    const prune = (retentionDays: number) => {
      const log = { info: () => {} };
      const failures = { failed: () => {} };
      return createAuditUpkeep({ database, store, retentionDays, log, failures, now: () => nowMs }).prune();
    };
    for (let day = 0; day < 12; day += 1) await record(database, {}, nowMs - (20 - day) * DAY_MS);
    // Another process had a wrong clock: nothing after a kept entry goes.
    await record(database, {}, nowMs - 30 * DAY_MS);
    expect(await prune(0)).toBe(0);
    expect(await prune(15)).toBe(5);
    expect(await prune(15)).toBe(0);
    const part = await verifyPart(store, undefined);
    expect(part).toMatchObject({
      problem: null,
      verified: 9,
      anchor: { position: 5 },
      head: { position: 14 },
    });
    const entries = await allEntries(store);
    expect(entries.at(-1)).toMatchObject({
      action: 'database.prune_audit',
      revision: null,
      actor: { kind: 'service' },
    });
    expect(entries[0]).toMatchObject({ position: 6, previousHash: part.anchor.hash });
    expect(await prune(1)).toBe(8);
    expect(await verified()).toBe('2 intact');
    await record(database);
    expect(await verified()).toBe('3 intact');
    // What follows the anchor is found missing as before.
    await sql(withoutTriggers(database.kind));
    await sql('DELETE FROM "audit_entries" WHERE "position" = 14');
    expect(await verified()).toBe(14);
  });

  it('is one chain when two processes write, and counts revisions without an entry', async () => {
    const other = await openDatabase({ url, migrate: false });
    opened.push(other);
    const writers = [database, other].map(async (one) => {
      for (let index = 0; index < 20; index += 1) await record(one, { id: String(index) });
    });
    await Promise.all(writers);
    expect(await verifyPart(store, undefined)).toMatchObject({
      problem: null,
      verified: 40,
      unrecordedRevisions: 0,
    });
    const revisions = (await allEntries(store)).map(({ revision }) => revision);
    expect(revisions).toEqual(Array.from({ length: 40 }, (_, index) => index + 1));
    // As a process of an earlier release does.
    const unaware = async () => database.mutate(async () => ({ value: null, changed: true, change: {} }));
    await unaware();
    await unaware();
    await record(database);
    await unaware();
    expect(await verifyPart(store, undefined)).toMatchObject({ problem: null, unrecordedRevisions: 3 });
    expect(await verifyPart(store, 40)).toMatchObject({ problem: null, verified: 1, unrecordedRevisions: 3 });
  });

  it('is verified in parts', async () => {
    for (let index = 0; index < 20; index += 1) await record(database);
    const parts: number[] = [];
    let after: number | undefined;
    for (;;) {
      const part = await verifyPart(store, after, { max: 7 });
      expect(part).toMatchObject({ problem: null, unrecordedRevisions: 0 });
      parts.push(part.verified);
      if (!part.hasMore) break;
      after = part.last.position;
    }
    expect(parts).toEqual([7, 7, 6]);
    await sql(withoutTriggers(database.kind));
    await sql('UPDATE "audit_entries" SET "action" = \'other\' WHERE "position" = 14');
    expect(await verifyPart(store, 7, { max: 7 })).toMatchObject({ verified: 6, problem: { position: 14 } });
    expect(await verifyPart(store, 14, { max: 7 })).toMatchObject({ verified: 0, problem: { position: 14 } });
    expect(await verifyPart(store, 15, { max: 7 })).toMatchObject({ verified: 5, problem: null });
  });
});

function insertion(entry: AuditEntry): string {
  const text = (value: string | null) => (value === null ? 'NULL' : sqlText(value));
  const { actor } = entry;
  const values = [
    ...[entry.position, entry.revision ?? 'NULL', entry.timeMs, text(actor.kind), text(actor.name)],
    ...[text(actor.keyFingerprint), text(entry.address), text(entry.requestId), text(entry.action)],
    ...[text(entry.resource), text(entry.resourceId), text(entry.resourceName), text(entry.previousHash)],
    ...[text(entry.hash), text(entry.before), text(entry.after)],
  ];
  return `INSERT INTO "audit_entries" ("position", "revision", "time_ms", "actor_kind", "actor_name",
    "key_fingerprint", "address", "request_id", "action", "resource", "resource_id", "resource_name",
    "previous_hash", "hash", "before", "after") VALUES (${values.join(', ')})`;
}
