import path from 'node:path';
import { Code, ConnectError, createClient } from '@connectrpc/connect';
import { beforeAll, expect, it } from 'vitest';
import { NamespaceService } from '../../gen/proto/enforcement/v1/namespace_service_pb.js';
import { describeAboveStores } from '../support/databases.js';
import { restClient } from '../support/http.js';
import { createKeysFile, type KeyEntry } from '../support/keys-file.js';
import { RPC_PROTOCOLS, type RpcProtocol, rpcTransport } from '../support/rpc-transports.js';
import { denyWord, seeder } from '../support/seed.js';
import { suiteService } from '../support/service-suite.js';

const OPERATOR: KeyEntry = { name: 'operator', key: 'the-operator-key-1', role: 'operator' };
const TEAM: KeyEntry = { name: 'team', key: 'the-team-key-0001', role: 'admin', namespace: 'team-a' };
const ADMIN: KeyEntry = { name: 'admin', key: 'the-admin-key-001', role: 'admin' };
const AGENTS = ['billing-bot-1', 'support-bot-1'];
const headersOf = ({ key = '' }: KeyEntry) => ({ 'x-api-key': key });

type Exported = { readonly kind: string; readonly record: Record<string, unknown> };

describeAboveStores('ExportNamespace', (freshDatabaseUrl) => {
  const keys = createKeysFile([OPERATOR, TEAM, ADMIN]);
  const service = suiteService(async () => ({
    ...keys.environment,
    DATABASE_URL: await freshDatabaseUrl(),
    SERVICE_PACKS: path.join(import.meta.dirname, '..', 'fixtures', 'packs'),
  }));
  const rest = (key: KeyEntry) => restClient(service.url, headersOf(key));
  const ids = { control: 0, policy: 0, binding: 0 };
  beforeAll(async () => {
    await rest(OPERATOR)('POST', '/api/v1/namespaces', { name: 'team-a', display_name: 'The A team' });
    // What another namespace has under the same names must not be among the records.
    for (const key of [ADMIN, TEAM]) {
      const seed = seeder(rest(key));
      for (const agent of AGENTS) await seed.agent(agent);
      ids.control = await seed.control('no-bad-words', denyWord('bad', { tags: [key.name] }));
      await seed.link('support-bot-1', ids.control);
      const policy = await rest(key)('PUT', '/api/v1/policies', { name: 'shared-name' });
      ids.policy = policy.body.policy_id as number;
      await rest(key)('POST', `/api/v1/policies/${ids.policy}/controls/${ids.control}`);
      await rest(key)('POST', `/api/v1/agents/billing-bot-1/policies/${ids.policy}`);
      const target = { target_type: 'app', target_id: 'one', control_id: ids.control };
      const bound = await rest(key)('PUT', '/api/v1/control-bindings', target);
      ids.binding = bound.body.binding_id as number;
    }
  });

  const exported = async (protocol: RpcProtocol, namespace: string, key = OPERATOR): Promise<Exported[]> => {
    const client = createClient(NamespaceService, rpcTransport(protocol, service.url));
    const records: Exported[] = [];
    for await (const { kind, recordJson } of client.exportNamespace(
      { namespace },
      { headers: headersOf(key) },
    )) {
      records.push({ kind, record: JSON.parse(recordJson) });
    }
    return records;
  };

  it.each(RPC_PROTOCOLS)('sends what a namespace contains, and nothing else, over %s', async (protocol) => {
    const records = await exported(protocol, 'team-a');
    expect(records.map(({ kind }) => kind)).toEqual([
      'namespace',
      'agent',
      'agent',
      'control',
      'policy',
      'control_binding',
    ]);
    const [namespace, first, second, control, policy, binding] = records.map(({ record }) => record);
    expect(namespace).toMatchObject({ name: 'team-a', display_name: 'The A team' });
    expect(first).toMatchObject({
      agent: { agent_name: 'billing-bot-1' },
      linked_control_ids: [],
      policy_ids: [ids.policy],
    });
    expect(second).toMatchObject({
      agent: { agent_name: 'support-bot-1' },
      linked_control_ids: [ids.control],
      policy_ids: [],
    });
    expect(control).toMatchObject({ id: ids.control, name: 'no-bad-words', data: { tags: ['team'] } });
    expect(policy).toMatchObject({
      id: ids.policy,
      name: 'shared-name',
      control_ids: [ids.control],
      agent_count: 1,
    });
    expect(binding).toMatchObject({ id: ids.binding, namespace_key: 'team-a', control_id: ids.control });
  });

  it('has the members of the JSON routes', async () => {
    const records = await exported('gRPC', 'team-a');
    const recordOf = (kind: string) => records.find((one) => one.kind === kind)?.record ?? {};
    const body = async (path: string) => (await rest(TEAM)('GET', `/api/v1${path}`)).body;
    const { data, name } = await body(`/controls/${ids.control}`);
    expect(recordOf('control')).toMatchObject({ data, name });
    const { agent, steps, evaluators } = await body('/agents/billing-bot-1');
    expect(recordOf('agent')).toMatchObject({ agent, steps, evaluators });
    const { policies } = await body('/policies');
    expect(recordOf('policy')).toMatchObject(policies[0]);
    expect(recordOf('control_binding')).toEqual(await body(`/control-bindings/${ids.binding}`));
  });

  it('exports the default namespace without those of others', async () => {
    const records = await exported('gRPC', 'default');
    expect(records[0]?.record).toMatchObject({ name: 'default', created_at: null });
    expect(records.filter(({ kind }) => kind === 'control').map(({ record }) => record.data)).toEqual([
      expect.objectContaining({ tags: ['admin'] }),
    ]);
  });

  it.each(RPC_PROTOCOLS)('is for operators, and finds only what exists, over %s', async (protocol) => {
    const code = (call: Promise<unknown>) =>
      call.then(
        () => 'ok',
        (error: unknown) => Code[ConnectError.from(error).code],
      );
    expect(await code(exported(protocol, 'missing'))).toBe('NotFound');
    expect(await code(exported(protocol, 'Not a name'))).toBe('NotFound');
    for (const key of [ADMIN, TEAM]) {
      expect(await code(exported(protocol, 'team-a', key))).toBe('PermissionDenied');
    }
    // An export that failed leaves room for the next one.
    expect(await code(exported(protocol, 'team-a'))).toBe('ok');
  });

  it('sends one line for each record over REST', async () => {
    const reply = await fetch(`${service.url}/api/v1/namespaces/team-a/export`, {
      method: 'POST',
      headers: { 'content-type': 'application/json', ...headersOf(OPERATOR) },
      body: '{}',
    });
    expect(reply.status).toBe(200);
    const lines = (await reply.text()).trim().split('\n');
    const records = lines.map((line) => JSON.parse(line) as { kind: string; record_json: string });
    expect(records.map(({ kind, record_json: json }) => ({ kind, record: JSON.parse(json) }))).toEqual(
      await exported('gRPC', 'team-a'),
    );
  });

  it('ends when its caller does not read on, and leaves room for the next one', async () => {
    const client = createClient(NamespaceService, rpcTransport('gRPC', service.url));
    const abort = new AbortController();
    const records = client.exportNamespace(
      { namespace: 'team-a' },
      { headers: headersOf(OPERATOR), signal: abort.signal },
    );
    await records[Symbol.asyncIterator]().next();
    abort.abort();
    await expect.poll(() => exported('gRPC', 'team-a').catch(() => [])).toHaveLength(6);
  });

  it('has the installations of packs, with the control of each key', async () => {
    const install = { policy_name: 'exported-pack', keys: ['shell-removal'] };
    const { body } = await rest(ADMIN)('POST', '/api/v1/packs/samples/install', install);
    const { installation_id, policy_id, controls } = body.installation as {
      readonly installation_id: number;
      readonly policy_id: number;
      readonly controls: readonly { readonly control_id: number | null }[];
    };
    const records = await exported(RPC_PROTOCOLS[0], 'default');
    expect(records.filter(({ kind }) => kind === 'pack_installation')).toMatchObject([
      {
        record: {
          installation_id,
          pack_name: 'samples',
          version: '1.0.0',
          policy_id,
          controls: [
            { key: 'secret-words', control_id: null },
            { key: 'shell-removal', control_id: controls[1]?.control_id },
          ],
        },
      },
    ]);
  });
});
