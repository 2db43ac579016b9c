import { Code, ConnectError, createClient } from '@connectrpc/connect';
import { beforeAll, expect, it } from 'vitest';
import { ConfigurationService } from '../../gen/proto/enforcement/v1/configuration_service_pb.js';
import { applier, type Document, documentsOf } from '../manage/configuration/documents.support.js';
import { describeAboveStores } from '../support/databases.js';
import { type RestClient, restClient } from '../support/http.js';
import { RPC_PROTOCOLS, type RpcProtocol, rpcTransport } from '../support/rpc-transports.js';
import { denyWord } from '../support/seed.js';
import { suiteService } from '../support/service-suite.js';

const KEY = { 'x-api-key': 'an-admin-key-1' };
const OWNED: readonly Document[] = [
  { kind: 'Control', name: 'no-bad-words', data: denyWord('bad') },
  { kind: 'Policy', name: 'words', controls: ['no-bad-words', 'no-worse-words'] },
  { kind: 'AgentLinks', name: 'billing-bot-1', controls: ['no-bad-words'], policies: ['words'] },
];

describeAboveStores('ExportConfiguration', (freshDatabaseUrl) => {
  const service = suiteService(async () => ({
    DATABASE_URL: await freshDatabaseUrl(),
    SERVICE_API_KEY_ENABLED: 'true',
    SERVICE_API_KEYS: 'a-regular-key-1',
    SERVICE_ADMIN_API_KEYS: KEY['x-api-key'],
  }));
  const rest: RestClient = (...call) => restClient(service.url, KEY)(...call);
  beforeAll(async () => {
    await rest('PUT', '/api/v1/controls', { name: 'no-worse-words', data: denyWord('worse') });
    expect(await applier(rest)(OWNED)).toMatchObject({ status: 200 });
  });

  const exported = async (
    protocol: RpcProtocol,
    filter: object = {},
    headers: Record<string, string> = KEY,
  ) => {
    const client = createClient(ConfigurationService, rpcTransport(protocol, service.url));
    const found: string[] = [];
    for await (const { document, owner } of client.exportConfiguration(filter, { headers })) {
      found.push(`${document?.kind}/${document?.name} of ${owner ?? 'none'}`);
    }
    return found;
  };

  it.each(RPC_PROTOCOLS)('sends every object with its owner, by kind and name, over %s', async (protocol) => {
    expect(await exported(protocol)).toEqual([
      'Control/no-bad-words of team/main',
      'Control/no-worse-words of none',
      'Policy/words of team/main',
      'AgentLinks/billing-bot-1 of team/main',
    ]);
  });

  it.each(RPC_PROTOCOLS)('sends those of an owner or of some kinds over %s', async (protocol) => {
    expect(await exported(protocol, { owner: 'team/main', kinds: ['Control', 'Policy'] })).toEqual([
      'Control/no-bad-words of team/main',
      'Policy/words of team/main',
    ]);
    expect(await exported(protocol, { owner: 'team/other' })).toEqual([]);
  });

  it.each(RPC_PROTOCOLS)(
    'refuses kinds that do not exist, and calls without a key, over %s',
    async (protocol) => {
      const code = (call: Promise<unknown>) =>
        call.then(
          () => 'ok',
          (error: unknown) => Code[ConnectError.from(error).code],
        );
      expect(await code(exported(protocol, { kinds: ['Contol'] }))).toBe('InvalidArgument');
      expect(await code(exported(protocol, { owner: '' }))).toBe('InvalidArgument');
      expect(await code(exported(protocol, {}, {}))).toBe('Unauthenticated');
    },
  );

  it('sends one line for each object over REST, which can be applied again', async () => {
    const { status, body } = await rest('POST', '/api/v1/configuration/export', { owner: 'team/main' });
    expect(status).toBe(200);
    const documents = documentsOf(body as unknown as string);
    expect(documents.map(({ kind, name }) => `${kind}/${name}`)).toEqual([
      'Control/no-bad-words',
      'Policy/words',
      'AgentLinks/billing-bot-1',
    ]);
    const again = await applier(rest)(documents);
    expect(again.body).toMatchObject({ applied: false });
    expect(again.body.changes.map(({ change }: { change: string }) => change)).toEqual(
      documents.map(() => 'unchanged'),
    );
  });

  it('refuses a wrong kind over REST with its field', async () => {
    const { status, body } = await rest('POST', '/api/v1/configuration/export', {
      kinds: ['Control', 'Contol'],
    });
    expect(status).toBe(422);
    expect(JSON.stringify(body)).toContain('kinds[1]');
  });

  it('ends when its caller does not read on, and leaves room for the next one', async () => {
    const client = createClient(ConfigurationService, rpcTransport('gRPC', service.url));
    const abort = new AbortController();
    const documents = client.exportConfiguration({}, { headers: KEY, signal: abort.signal });
    await documents[Symbol.asyncIterator]().next();
    abort.abort();
    await expect.poll(() => exported('gRPC').catch(() => [])).toHaveLength(4);
  });
});
