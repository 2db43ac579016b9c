import { Code, ConnectError, createClient } from '@connectrpc/connect';
import { beforeAll, expect, it } from 'vitest';
import { AuditService } from '../../gen/proto/enforcement/v1/audit_service_pb.js';
import { describeAboveStores } from '../support/databases.js';
import { RPC_PROTOCOLS, type RpcProtocol, rpcTransport } from '../support/rpc-transports.js';
import { suiteService } from '../support/service-suite.js';

const ADMIN = { 'x-api-key': 'admin-key' };
const READER = { 'x-api-key': 'reader-key' };
const PATH = '/api/v1/audit/export';
const ACTIONS = ['policy.create', 'policy.create', 'policy.rename'];

describeAboveStores('ExportAuditEntries', (freshDatabaseUrl) => {
  const service = suiteService(async () => ({
    DATABASE_URL: await freshDatabaseUrl(),
    SERVICE_API_KEY_ENABLED: 'true',
    SERVICE_API_KEYS: READER['x-api-key'],
    SERVICE_ADMIN_API_KEYS: ADMIN['x-api-key'],
  }));
  const { call } = service;
  beforeAll(async () => {
    for (const name of ['one', 'two']) await call('PUT', '/api/v1/policies', { name }, ADMIN);
    await call('PATCH', '/api/v1/policies/1', { name: 'uno' }, ADMIN);
  });

  const exported = async (protocol: RpcProtocol, filter: object, headers: Record<string, string>) => {
    const client = createClient(AuditService, rpcTransport(protocol, service.url));
    const actions: string[] = [];
    for await (const { entry } of client.exportAuditEntries(filter, { headers })) {
      actions.push(entry?.action ?? '');
    }
    return actions;
  };

  it.each(RPC_PROTOCOLS)('sends all entries that match, oldest first, over %s', async (protocol) => {
    expect(await exported(protocol, {}, ADMIN)).toEqual(ACTIONS);
    expect(await exported(protocol, { action: 'policy.rename' }, ADMIN)).toEqual(['policy.rename']);
    expect(await exported(protocol, { actor: 'command' }, ADMIN)).toEqual([]);
  });

  it.each(RPC_PROTOCOLS)(
    'is for administrators, and refuses filters it cannot read, over %s',
    async (protocol) => {
      const code = (call: Promise<unknown>) =>
        call.then(
          () => 'ok',
          (error: unknown) => Code[ConnectError.from(error).code],
        );
      expect(await code(exported(protocol, {}, READER))).toBe('PermissionDenied');
      expect(await code(exported(protocol, {}, {}))).toBe('Unauthenticated');
      expect(await code(exported(protocol, { startTime: 'yesterday' }, ADMIN))).toBe('InvalidArgument');
    },
  );

  it('sends one line for each entry over REST', async () => {
    const lines = async (filter: object, headers: Record<string, string>) => {
      const reply = await fetch(service.url + PATH, {
        method: 'POST',
        headers: { 'content-type': 'application/json', ...headers },
        body: JSON.stringify(filter),
      });
      return { status: reply.status, lines: (await reply.text()).trimEnd().split('\n') };
    };
    const all = await lines({}, ADMIN);
    expect(all.status).toBe(200);
    expect(all.lines.map((line) => JSON.parse(line) as object)).toMatchObject(
      ACTIONS.map((action) => ({ action })),
    );
    expect(await lines({}, READER)).toMatchObject({ status: 403 });
    expect(await lines({ start_time: 'yesterday' }, ADMIN)).toMatchObject({ status: 422 });
  });
});
