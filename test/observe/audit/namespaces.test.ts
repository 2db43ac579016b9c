import { beforeAll, expect, it } from 'vitest';
import { Prisma } from '../../../gen/prisma/sqlite/client.js';
import { ANONYMOUS, type HandlerCall } from '../../../src/contract/call/handler.js';
import { namespaceNamed } from '../../../src/contract/call/namespace.js';
import { parseInput } from '../../../src/contract/input/parse-input.js';
import { auditHandlers } from '../../../src/observe/audit/audit-handlers.js';
import { createAuditService } from '../../../src/observe/audit/audit-service.js';
import { type AuditContent, canonicalText, entryHash } from '../../../src/storage/database/audit-chain.js';
import { type Database, openDatabase } from '../../../src/storage/database/database.js';
import { createMutator } from '../../../src/storage/database/mutator.js';
import { describeOnEachDatabase } from '../../support/databases.js';
import { openedInSuite } from '../../support/opened.js';
import { allEntries, storeOf } from './audit.support.js';

const CONTENT: AuditContent = {
  position: 1,
  revision: 1,
  timeMs: Date.parse('2026-12-18T08:00:00Z'),
  actor: { kind: 'key', name: null, keyFingerprint: '69a5265506c9' },
  address: '127.0.0.1',
  requestId: 'req-1',
  action: 'policy.create',
  resource: 'policy',
  resourceId: '1',
  resourceName: 'first',
  before: null,
  after: '{"version":1,"name":"first"}',
  namespace: 'default',
};
const ZEROS = '0'.repeat(64);

it('the hash of an entry has its namespace at the end, unless it is default', () => {
  const text = `${ZEROS}\n[1,1,"2026-12-18T08:00:00.000Z","key",null,"69a5265506c9","127.0.0.1","req-1","policy.create","policy","1","first",null,"{\\"version\\":1,\\"name\\":\\"first\\"}"]`;
  expect(canonicalText(ZEROS, CONTENT)).toBe(text);
  expect(canonicalText(ZEROS, { ...CONTENT, namespace: 'team-a' })).toBe(`${text.slice(0, -1)},"team-a"]`);
  expect(entryHash(ZEROS, { ...CONTENT, namespace: 'team-a' })).not.toBe(entryHash(ZEROS, CONTENT));
});

type Rpc = 'listAuditEntries' | 'verifyAudit';

describeOnEachDatabase('audit entries of namespaces', (freshDatabaseUrl) => {
  let database: Database;
  const opened = openedInSuite<Database>((one) => one.close());
  const callerOf = (name: string) => ({ ...ANONYMOUS, namespace: namespaceNamed(name) });
  beforeAll(async () => {
    database = await openDatabase({ url: await freshDatabaseUrl() });
    opened.push(database);
    await database.bulk.transaction((tx) =>
      tx.run(Prisma.sql`INSERT INTO "namespaces" ("name", "display_name", "created_at_ms")
        VALUES ('team-a', 'A', 1), ('team-b', 'B', 1)`),
    );
    const mutate = createMutator({ database, now: () => 1_000, onCommit: () => {} });
    for (const [index, name] of ['default', 'team-a', 'team-b', 'team-a', 'team-b', 'team-b'].entries()) {
      const caller = {
        principal: callerOf(name),
        address: null,
        requestId: `request ${index}`,
        reportRevision: () => {},
      };
      await mutate(caller, async ({ namespace }) => ({
        value: null,
        change: {},
        audit: {
          action: 'agent.update',
          resource: 'agent',
          id: namespace.agentKey('audited-agent-1'),
          before: null,
          after: { of: name },
        },
      }));
    }
  });
  const handlers = () => auditHandlers(createAuditService(storeOf(database)));
  const contextOf = (name: string) =>
    ({ principal: callerOf(name), ignoredParts: () => [] }) as unknown as HandlerCall;
  const call = async (name: string, rpc: Rpc, input: object = {}) => {
    const { input: schema, handle } = handlers()[rpc];
    return (await handle(parseInput(schema, input as never), contextOf(name))) as Record<string, unknown>;
  };
  const exported = async (name: string) => {
    const { input, stream } = handlers().exportAuditEntries;
    const found: unknown[] = [];
    for await (const one of stream(parseInput(input, {}), contextOf(name))) found.push(one);
    return found;
  };

  it('are listed and exported to their own namespace alone, with plain names', async () => {
    for (const [name, positions] of [
      ['default', [1]],
      ['team-a', [2, 4]],
      ['team-b', [3, 5, 6]],
      ['team', []],
    ] as const) {
      const entries = positions.map((position) => ({
        position,
        resource_id: 'audited-agent-1',
        after: JSON.stringify({ of: name }),
      }));
      expect(await call(name, 'listAuditEntries')).toMatchObject({
        entries: entries.toReversed(),
        pagination: { total: positions.length, has_more: false },
      });
      expect(await exported(name)).toMatchObject(entries.map((entry) => ({ entry })));
    }
    // Filters and cursors of another one find nothing.
    expect(await call('team-a', 'listAuditEntries', { request_id: 'request 2' })).toMatchObject({
      entries: [],
    });
    expect(await call('team-a', 'listAuditEntries', { min_revision: 6 })).toMatchObject({ entries: [] });
    expect(await call('team-a', 'listAuditEntries', { cursor: '4' })).toMatchObject({
      entries: [{ position: 2 }],
    });
  });

  it('are verified as a whole, and counted by namespace', async () => {
    for (const [name, verified] of [
      ['default', 6],
      ['team-a', 2],
      ['team-b', 3],
      ['team', 0],
    ] as const)
      expect(await call(name, 'verifyAudit')).toMatchObject({
        intact: true,
        verified,
        head: { position: 6 },
        unrecorded_revisions: 0,
      });
  });

  it('break the chain when they are moved to another namespace', async () => {
    const [first, ...others] = await allEntries(storeOf(database));
    if (first === undefined) throw new Error('there is no entry');
    for (const entry of [first, ...others]) {
      const moved = entry.namespace === 'default' ? 'team-a' : 'default';
      expect(entryHash(entry.previousHash, entry)).toBe(entry.hash);
      expect(entryHash(entry.previousHash, { ...entry, namespace: moved })).not.toBe(entry.hash);
    }
  });
});
