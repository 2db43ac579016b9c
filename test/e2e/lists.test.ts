import { readFileSync } from 'node:fs';
import type { MessageInitShape } from '@bufbuild/protobuf';
import { createClient } from '@connectrpc/connect';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { AuditService } from '../../gen/proto/enforcement/v1/audit_service_pb.js';
import { Decision } from '../../gen/proto/enforcement/v1/control_pb.js';
import {
  ControlOrder,
  ControlService,
  type ListControlsRequestSchema,
} from '../../gen/proto/enforcement/v1/control_service_pb.js';
import { describeAboveStores } from '../support/databases.js';
import { createKeysFile, type TestKeysFile } from '../support/keys-file.js';
import { rpcTransport } from '../support/rpc-transports.js';
import { denyWord, seeder } from '../support/seed.js';
import { suiteService } from '../support/service-suite.js';
import { executeSql } from '../support/sql.js';

const ALICE = { 'x-api-key': 'alice-key' };
const BOB = { 'x-api-key': 'bob-key' };
const CONTROLS = '/api/v1/controls';

describeAboveStores('lists of controls and of the audit log', (freshDatabaseUrl) => {
  let keys: TestKeysFile;
  const ids: Record<string, number> = {};
  const service = suiteService(async () => {
    keys = createKeysFile([
      { name: 'alice (platform)', key: 'alice-key', role: 'admin' },
      { name: 'Bob 100%_', key: 'bob-key', role: 'admin' },
    ]);
    return { DATABASE_URL: await freshDatabaseUrl(), ...keys.environment };
  });
  afterAll(() => keys.remove());
  const call = (method: string, path: string, body?: object, headers: Record<string, string> = ALICE) =>
    service.call(method, path, body, headers);
  const client = () => createClient(ControlService, rpcTransport('gRPC', service.url));
  const named = async (filters: MessageInitShape<typeof ListControlsRequestSchema>): Promise<string> => {
    const { controls } = await client().listControls({ limit: 100, ...filters } as typeof filters, {
      headers: ALICE,
    });
    return controls.map(({ name }) => name).join(' ');
  };
  const summary = async (name: string) => {
    const { controls } = await client().listControls({ name }, { headers: ALICE });
    return controls[0];
  };

  beforeAll(async () => {
    const seed = seeder((method, path, body) => call(method, path, body as object));
    const control = async (name: string, scope: object, decision = 'deny') => {
      ids[name] = await seed.control(name, denyWord('word', { scope, action: { decision } }));
    };
    await control('c-by-name', { step_names: ['send_mail', 'pay'] });
    await control('a-by-pattern', { step_name_regex: '^send' }, 'observe');
    await control('e-by-both', { step_names: ['pay'], step_name_regex: 'mail$' });
    await control('b-any-step', { step_types: ['tool'] }, 'observe');
    await control('d-other', { step_names: ['other'] });
    for (const agent of ['listing-bot-01', 'listing-bot-02', 'listing-bot-03']) await seed.agent(agent);
    await seed.link('listing-bot-01', ids['b-any-step'] ?? 0);
    await seed.link('listing-bot-01', ids['d-other'] ?? 0);
    const { body } = await call('PUT', '/api/v1/policies', { name: 'for-two' });
    const policy = `/api/v1/policies/${body.policy_id}`;
    for (const name of ['d-other', 'c-by-name']) await call('POST', `${policy}/controls/${ids[name]}`);
    await call('POST', `${policy}/agents`, { agent_names: ['listing-bot-01', 'listing-bot-02'] });
    await call('PATCH', `${CONTROLS}/${ids['c-by-name']}`, { enabled: false }, BOB);
    await executeSql(
      service.databaseUrl,
      `INSERT INTO "control_activity" ("control_id", "last_matched_s", "last_denied_s", "last_failed_s") VALUES
        (${ids['b-any-step']}, 1800000000, 1800000000, NULL), (${ids['d-other']}, NULL, 1800000060, 1700000000),
        (${ids['c-by-name']}, 1800000000, NULL, NULL)`,
    );
  });

  it('are filtered by agents, decisions and steps', async () => {
    expect(await named({ hasAgents: true })).toBe('d-other b-any-step c-by-name');
    expect(await named({ hasAgents: false })).toBe('e-by-both a-by-pattern');
    expect(await named({ agentName: 'Listing-Bot-01' })).toBe('d-other b-any-step c-by-name');
    expect(await named({ agentName: 'listing-bot-02' })).toBe('d-other c-by-name');
    expect(await named({ agentName: 'listing-bot-03' })).toBe('');
    expect(await named({ agentName: 'nobody-at-all' })).toBe('');
    expect(await named({ decisions: [Decision.OBSERVE] })).toBe('b-any-step a-by-pattern');
    expect(await named({ decisions: [Decision.STEER] })).toBe('');
    expect(await named({ decisions: [Decision.DENY, Decision.OBSERVE], hasAgents: false })).toBe(
      'e-by-both a-by-pattern',
    );
    expect(await named({ stepName: 'send_mail' })).toBe('b-any-step e-by-both a-by-pattern c-by-name');
    expect(await named({ stepName: 'pay' })).toBe('b-any-step e-by-both c-by-name');
    expect(await named({ stepName: 'Pay' })).toBe('b-any-step');
    const { body } = await call(
      'GET',
      `${CONTROLS}?decisions=deny&decisions=observe&has_agents=true&order_by=name`,
    );
    expect(body.controls.map(({ name }: { name: string }) => name)).toEqual([
      'b-any-step',
      'c-by-name',
      'd-other',
    ]);
    expect(Object.keys(body.controls[0])).not.toContain('updated_at');
  });

  it('refuse filters that cannot be read', async () => {
    const fields = async (query: string) => {
      const { status, body } = await call('GET', `${CONTROLS}?${query}`);
      return [status, body.errors?.[0]?.field];
    };
    expect(await fields('decisions=deny&decisions=allow')).toEqual([422, 'query.decisions[1]']);
    expect(await fields('order_by=oldest')).toEqual([422, 'query.order_by']);
    expect(await fields('agent_name=short')).toEqual([422, 'agent_name']);
    expect(await fields(`step_name=${'x'.repeat(1_025)}`)).toEqual([422, 'query.step_name']);
    expect(await fields('has_agents=maybe')).toEqual([422, 'query.has_agents']);
  });

  it('sort controls in pages that neither repeat nor leave out one', async () => {
    const walk = async (orderBy: ControlOrder, reverse: boolean) => {
      let found = '';
      let cursor: string | undefined;
      do {
        const page = await client().listControls(
          { orderBy, reverse, limit: 2, ...(cursor === undefined ? {} : { cursor }) },
          { headers: ALICE },
        );
        found += page.controls.map(({ name }) => name[0]).join('');
        cursor = page.pagination?.nextCursor;
      } while (cursor !== undefined);
      return found;
    };
    expect(await walk(ControlOrder.UNSPECIFIED, false)).toBe('dbeac');
    expect(await walk(ControlOrder.UNSPECIFIED, true)).toBe('caebd');
    expect(await walk(ControlOrder.NAME, false)).toBe('abcde');
    expect(await walk(ControlOrder.NAME, true)).toBe('edcba');
    expect(await walk(ControlOrder.UPDATED, false)).toBe('cdbea');
    expect(await walk(ControlOrder.UPDATED, true)).toBe('aebdc');
    expect(await walk(ControlOrder.LAST_DENIED, false)).toBe('dbeac');
    expect(await walk(ControlOrder.LAST_DENIED, true)).toBe('bdeac');
    expect(await walk(ControlOrder.AGENTS, false)).toBe('dcbea');
    expect(await walk(ControlOrder.AGENTS, true)).toBe('eabdc');
  });

  it('tell what a control did and who changed it', async () => {
    expect(await summary('c-by-name')).toMatchObject({
      createdBy: 'alice (platform)',
      updatedBy: 'Bob 100%_',
      stepNames: ['send_mail', 'pay'],
      lastMatchedAt: '2027-01-15T08:00:00Z',
    });
    expect(await summary('d-other')).toMatchObject({
      updatedBy: 'alice (platform)',
      lastDeniedAt: '2027-01-15T08:01:00Z',
      lastFailedAt: '2023-11-14T22:13:20Z',
    });
    const plain = await summary('a-by-pattern');
    expect(plain).toMatchObject({ stepNames: [], stepNameRegex: '^send' });
    expect(plain?.lastMatchedAt).toBeUndefined();
    const { versions } = await client().listControlVersions(
      { controlId: ids['c-by-name'] ?? 0 },
      { headers: ALICE },
    );
    expect(versions.map(({ author }) => author)).toEqual(['Bob 100%_', 'alice (platform)']);
    const version = { controlId: ids['c-by-name'] ?? 0, versionNum: 1 };
    expect((await client().getControlVersion(version, { headers: ALICE })).author).toBe('alice (platform)');
    const { body } = await call('GET', `${CONTROLS}/${ids['c-by-name']}/versions`);
    expect(Object.keys(body.versions[0])).not.toContain('author');
  });

  it('find the authors of versions that are older than their names in the audit log', async () => {
    const kind = service.databaseUrl.startsWith('postgres') ? 'postgresql' : 'sqlite';
    const file = `prisma/${kind}/migrations/20261217000000_agent_labels/migration.sql`;
    const migration = readFileSync(file, 'utf8');
    await executeSql(service.databaseUrl, 'UPDATE "control_versions" SET "author" = NULL');
    expect((await summary('c-by-name'))?.updatedBy).toBeUndefined();
    await executeSql(service.databaseUrl, migration.slice(migration.indexOf('UPDATE "control_versions"')));
    const [createdBy, updatedBy] = ['alice (platform)', 'Bob 100%_'];
    expect(await summary('c-by-name')).toMatchObject({ createdBy, updatedBy });
    expect(await summary('e-by-both')).toMatchObject({ createdBy, updatedBy: createdBy });
  });

  it('find entries of the audit log by parts of their texts', async () => {
    const audit = createClient(AuditService, rpcTransport('gRPC', service.url));
    const count = async (filters: object): Promise<number> => {
      const { pagination } = await audit.listAuditEntries({ limit: 1, ...filters }, { headers: ALICE });
      return Number(pagination?.total);
    };
    const all = await count({});
    const ofBob = await count({ actor: 'Bob 100%_' });
    expect(ofBob).toBe(1);
    for (const actorContains of ['bob', 'OB 1', '%_', '0%'])
      expect(await count({ actorContains })).toBe(ofBob);
    expect(await count({ actorContains: 'ALICE' })).toBe(all - ofBob);
    expect(await count({ actorContains: 'admin' })).toBe(all);
    for (const actorContains of ['a%m', 'b_b', '*', 'x\0']) expect(await count({ actorContains })).toBe(0);
    expect(await count({ actionContains: 'AGENTS' })).toBe(1);
    expect(await count({ actionContains: 'policy.' })).toBe(4);
    expect(await count({ resourceContains: 'BY-NAME', actorContains: 'bob' })).toBe(1);
    expect(await count({ resourceContains: 'bot-02' })).toBe(1);
    expect(await count({ actionContains: '' })).toBe(all);
    const exported: string[] = [];
    for await (const { entry } of audit.exportAuditEntries(
      { resourceContains: 'for-two' },
      { headers: ALICE },
    )) {
      exported.push(`${entry?.action} ${entry?.after}`);
    }
    expect(exported).toHaveLength(4);
    expect(exported.at(-1)).toBe(
      'policy.add_agents {"agents":["listing-bot-01","listing-bot-02"],"agent_count":2}',
    );
    const { status, body } = await call('GET', `/api/v1/audit?actor_contains=${'x'.repeat(1_025)}`);
    expect([status, body.errors[0].field]).toEqual([422, 'query.actor_contains']);
  });
});
