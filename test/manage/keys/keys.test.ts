import { Code, ConnectError, createClient } from '@connectrpc/connect';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { AgentService } from '../../../gen/proto/enforcement/v1/agent_service_pb.js';
import { logIn, sendJson } from '../../support/browser.js';
import { describeAboveStores } from '../../support/databases.js';
import { createKeysFile } from '../../support/keys-file.js';
import { rpcTransport } from '../../support/rpc-transports.js';
import { startService, type TestService } from '../../support/service.js';
import { until } from '../../support/until.js';

const ADMIN = 'admin-key-of-the-variables';
const OPERATOR = 'operator-key-of-the-variables';
const AGENT = 'support-bot-01';
const ENVIRONMENT = {
  SERVICE_API_KEY_ENABLED: 'true',
  SERVICE_ADMIN_API_KEYS: ADMIN,
  SERVICE_OPERATOR_API_KEYS: OPERATOR,
};

interface Reply {
  readonly status: number;
  // biome-ignore lint/suspicious/noExplicitAny: replies of many shapes
  readonly json: any;
}

/** Calls a JSON route with a key. */
const callerOf =
  (service: TestService) =>
  (method: string, route: string, key: string, body?: unknown, headers: object = {}): Promise<Reply> =>
    sendJson(service.url, method, `/api/v1${route}`, body, { 'x-api-key': key, ...headers });

async function statusOf(service: TestService, key: string): Promise<number> {
  return (await callerOf(service)('GET', '/server-info', key)).status;
}

describeAboveStores('keys', (freshDatabaseUrl) => {
  let databaseUrl: string;
  let first: TestService;
  let second: TestService;
  let call: ReturnType<typeof callerOf>;
  beforeAll(async () => {
    databaseUrl = await freshDatabaseUrl();
    first = await startService({ ...ENVIRONMENT, DATABASE_URL: databaseUrl });
    second = await startService({ ...ENVIRONMENT, DATABASE_URL: databaseUrl });
    call = callerOf(first);
    expect((await call('POST', '/agents/initAgent', ADMIN, { agent: { agent_name: AGENT } })).status).toBe(
      200,
    );
  });
  afterAll(async () => {
    await first.stop();
    await second.stop();
  });

  async function created(
    body: object,
    key = ADMIN,
  ): Promise<{ id: number; secret: string; key: Reply['json'] }> {
    const { status, json } = await call('POST', '/keys', key, { name: 'a key', ...body });
    expect({ status, json }).toMatchObject({ status: 200, json: { created: true } });
    return { id: json.key.id, secret: json.secret, key: json.key };
  }

  it('are created with a role, shown without their secrets, and found in lists', async () => {
    const { id, secret, key } = await created({
      name: ' billing ',
      role: 'agent',
      agents: ['Support-*'],
      owner: 'team-billing',
      expires_at: '2100-01-01T00:00:00+01:00',
    });
    expect(key).toMatchObject({
      name: 'billing',
      role: 'agent',
      namespace: 'default',
      agents: ['support-*'],
      owner: 'team-billing',
      prefix: secret.slice(0, 8),
      expires_at: '2099-12-31T23:00:00.000Z',
      last_used_at: null,
      revoked_at: null,
    });
    expect(key.scopes).toContain('evaluate');
    expect((await call('GET', `/keys/${id}`, ADMIN)).json.key).toEqual(key);
    const list = await call('GET', '/keys?name=BILL', ADMIN);
    expect(list.json.keys).toEqual([key]);
    expect((await call('GET', '/keys?name=Team-B', ADMIN)).json.keys).toEqual([key]);
    expect((await call('GET', '/keys?name=other', ADMIN)).json.keys).toEqual([]);
    expect(JSON.stringify(list.json)).not.toContain(secret);
    expect(await statusOf(first, secret)).toBe(200);
    const info = await call('GET', '/agents', secret);
    expect(info).toMatchObject({ status: 403, json: { error_code: 'AUTH_INSUFFICIENT_PRIVILEGES' } });
  });

  it('have pages', async () => {
    const made = [
      await created({ role: 'viewer' }),
      await created({ role: 'viewer' }),
      await created({ role: 'viewer' }),
    ];
    const [oldest, middle, newest] = made.map(({ id }) => id);
    const page = await call('GET', '/keys?limit=2', ADMIN);
    expect(page.json.keys.map(({ id }: { id: number }) => id)).toEqual([newest, middle]);
    expect(page.json.pagination).toMatchObject({ limit: 2, has_more: true, next_cursor: String(middle) });
    const next = await call('GET', `/keys?limit=1&cursor=${middle}`, ADMIN);
    expect(next.json.keys.map(({ id }: { id: number }) => id)).toEqual([oldest]);
  });

  it.each([
    [{ name: '' }, 'name'],
    [{ name: 'a\nb', role: 'agent' }, 'name'],
    [{ name: 'x'.repeat(256), role: 'agent' }, 'name'],
    [{ role: 'agent', scopes: ['evaluate'] }, 'scopes'],
    [{}, 'role'],
    [{ role: 'boss' }, 'role'],
    [{ scopes: ['everything'] }, 'scopes[0]'],
    [{ role: 'agent', agents: ['*a*'] }, 'agents[0]'],
    [{ role: 'agent', agents: Array.from({ length: 1_001 }, () => 'a') }, 'agents'],
    [{ role: 'agent', owner: 7 }, 'owner'],
    [{ role: 'agent', expires_at: '2001-01-01T00:00:00Z' }, 'expires_at'],
    [{ role: 'agent', expires_at: '2100-01-01' }, 'expires_at'],
    [{ role: 'agent', namespace: 'Not A Name' }, 'namespace'],
    [{ role: 'agent', idempotency_key: '' }, 'idempotency_key'],
  ])('with bad input %j are refused, naming the field', async (body, field) => {
    const reply = await call('POST', '/keys', ADMIN, { name: 'a key', ...body });
    expect(reply).toMatchObject({ status: 422, json: { error_code: 'VALIDATION_ERROR' } });
    expect(reply.json.errors.map((item: { field: string }) => item.field)).toContain(field);
  });

  it('never have more than their creator', async () => {
    const keeper = await created({ scopes: ['keys.write', 'keys.read', 'evaluate'] });
    const more = await call('POST', '/keys', keeper.secret, {
      name: 'more',
      scopes: ['evaluate', 'controls.write'],
    });
    expect(more).toMatchObject({ status: 403, json: { error_code: 'AUTH_INSUFFICIENT_PRIVILEGES' } });
    expect(more.json.detail).toContain('controls.write');
    expect(more.json.detail).not.toContain('evaluate');
    const operator = await call('POST', '/keys', ADMIN, { name: 'op', role: 'operator' });
    expect(operator.json.detail).toContain('namespaces.write');
    // The new secret would be that of an admin.
    const admin = await created({ role: 'admin' });
    const taken = await call('POST', `/keys/${admin.id}/rotate`, keeper.secret, {});
    expect(taken).toMatchObject({ status: 403, json: { error_code: 'AUTH_INSUFFICIENT_PRIVILEGES' } });
    expect((await call('POST', '/keys', keeper.secret, { name: 'same', scopes: ['evaluate'] })).status).toBe(
      200,
    );
  });

  it('of another namespace need the scope for namespaces, and one that exists', async () => {
    const refused = await call('POST', '/keys', ADMIN, { name: 'x', role: 'agent', namespace: 'not-there' });
    expect(refused).toMatchObject({ status: 403, json: { error_code: 'AUTH_INSUFFICIENT_PRIVILEGES' } });
    const missing = await call('POST', '/keys', OPERATOR, {
      name: 'x',
      role: 'agent',
      namespace: 'not-there',
    });
    expect(missing).toMatchObject({ status: 404, json: { error_code: 'NAMESPACE_NOT_FOUND' } });
  });

  it('are created once with an idempotency key', async () => {
    const body = { name: 'once', role: 'agent' };
    const headers = { 'idempotency-key': 'first try' };
    const made = await call('POST', '/keys', ADMIN, body, headers);
    expect(made.json).toMatchObject({ created: true });
    const again = await call('POST', '/keys', ADMIN, body, headers);
    expect(again.json).toEqual({ key: made.json.key, secret: null, created: false });
    const other = await call('POST', '/keys', ADMIN, { ...body, role: 'viewer' }, headers);
    expect(other).toMatchObject({ status: 409, json: { error_code: 'IDEMPOTENCY_CONFLICT' } });
    expect((await call('GET', '/keys?name=once', ADMIN)).json.keys).toHaveLength(1);
    const stored = JSON.stringify(await call('GET', '/audit?action=key.create', ADMIN));
    expect(stored).not.toContain(made.json.secret);
  });

  it('take effect in every process', async () => {
    const { id, secret } = await created({ role: 'viewer' });
    await until(
      () => statusOf(second, secret),
      (status) => status === 200,
    );
    expect((await call('DELETE', `/keys/${id}`, ADMIN)).json.key.revoked_at).not.toBeNull();
    expect(await statusOf(first, secret)).toBe(401);
    await until(
      () => statusOf(second, secret),
      (status) => status === 401,
    );
  });

  it('overlap when they are rotated, and a third secret ends the first one', async () => {
    const { id, secret } = await created({ role: 'viewer' });
    const rotated = await call('POST', `/keys/${id}/rotate`, ADMIN, { overlap_seconds: 3_600 });
    expect(rotated.json.key).toMatchObject({ id, prefix: rotated.json.secret.slice(0, 8) });
    expect(rotated.json.key.previous_secret_until).not.toBeNull();
    expect(await statusOf(first, secret)).toBe(200);
    expect(await statusOf(first, rotated.json.secret)).toBe(200);
    await until(
      () => statusOf(second, rotated.json.secret),
      (status) => status === 200,
    );
    const third = await call('POST', `/keys/${id}/rotate`, ADMIN, {});
    expect(await statusOf(first, secret)).toBe(401);
    expect(await statusOf(first, rotated.json.secret)).toBe(200);
    const fourth = await call('POST', `/keys/${id}/rotate`, ADMIN, { overlap_seconds: 0 });
    expect(fourth.json.key.previous_secret_until).toBeNull();
    expect(await statusOf(first, third.json.secret)).toBe(401);
    expect(await statusOf(first, fourth.json.secret)).toBe(200);
    await until(
      () => statusOf(second, third.json.secret),
      (status) => status === 401,
    );
    const bad = await call('POST', `/keys/${id}/rotate`, ADMIN, { overlap_seconds: 2_592_001 });
    expect(bad).toMatchObject({ status: 422, json: { errors: [{ field: 'overlap_seconds' }] } });
  });

  it('end the overlap, and themselves, at their times', async () => {
    const soon = new Date(Date.now() + 1_500).toISOString();
    const expiring = await created({ role: 'viewer', expires_at: soon });
    const { id, secret } = await created({ role: 'viewer' });
    await call('POST', `/keys/${id}/rotate`, ADMIN, { overlap_seconds: 1 });
    await until(
      () => statusOf(first, secret),
      (status) => status === 401,
    );
    await until(
      () => statusOf(first, expiring.secret),
      (status) => status === 401,
    );
    const late = await call('POST', `/keys/${expiring.id}/rotate`, ADMIN, {});
    expect(late).toMatchObject({ status: 422, json: { errors: [{ field: 'key_id', code: 'key_ended' }] } });
    const listed = await call('GET', '/keys?limit=100', ADMIN);
    expect(listed.json.keys.map((one: { id: number }) => one.id)).not.toContain(expiring.id);
    const all = await call('GET', '/keys?limit=100&include_ended=true', ADMIN);
    expect(all.json.keys.map((one: { id: number }) => one.id)).toContain(expiring.id);
  });

  it('are revoked for ever, once', async () => {
    const { id, secret } = await created({ role: 'viewer' });
    const { secret: newer } = (await call('POST', `/keys/${id}/rotate`, ADMIN, {})).json;
    const revoked = await call('DELETE', `/keys/${id}`, ADMIN);
    expect(await statusOf(first, secret)).toBe(401);
    expect(await statusOf(first, newer)).toBe(401);
    expect((await call('DELETE', `/keys/${id}`, ADMIN)).json).toEqual(revoked.json);
    expect((await call('POST', `/keys/${id}/rotate`, ADMIN, {})).status).toBe(422);
    const entries = await call('GET', `/audit?resource=key&resource_id=${id}`, ADMIN);
    expect(entries.json.entries.map((entry: { action: string }) => entry.action)).toEqual([
      'key.revoke',
      'key.rotate',
      'key.create',
    ]);
    for (const text of [secret, newer]) expect(JSON.stringify(entries.json)).not.toContain(text);
  });

  it.each([0, -1, 99_999, 2 ** 40])('of the id %d are not found', async (id) => {
    const missing = { status: 404, json: { error_code: 'KEY_NOT_FOUND' } };
    expect(await call('GET', `/keys/${id}`, ADMIN)).toMatchObject(missing);
    expect(await call('DELETE', `/keys/${id}`, ADMIN)).toMatchObject(missing);
    expect(await call('POST', `/keys/${id}/rotate`, ADMIN, {})).toMatchObject(missing);
  });

  it('end their streams and sessions in every process when they are revoked', async () => {
    const { id, secret } = await created({ role: 'viewer' });
    await until(
      () => statusOf(second, secret),
      (status) => status === 200,
    );
    const cookie = await logIn(second.url, secret);
    expect((await sendJson(second.url, 'GET', '/api/v1/agents', undefined, { cookie })).status).toBe(200);
    const ends = [first, second].map((service) => watched(service, secret));
    await Promise.all(ends.map(({ began }) => began));
    await call('DELETE', `/keys/${id}`, ADMIN);
    expect(await Promise.all(ends.map(({ ended }) => ended))).toEqual([
      Code.Unauthenticated,
      Code.Unauthenticated,
    ]);
    expect((await sendJson(second.url, 'GET', '/api/v1/agents', undefined, { cookie })).status).toBe(401);
  });

  it('are written as used by the time a service has stopped, and by none of its calls', async () => {
    const { id, secret } = await created({ role: 'viewer' });
    const unused = await created({ role: 'viewer' });
    const third = await startService({ ...ENVIRONMENT, DATABASE_URL: databaseUrl });
    expect(await statusOf(third, secret)).toBe(200);
    expect(third.queries.filter((sql) => sql.includes('UPDATE "api_keys"'))).toEqual([]);
    await third.stop();
    const { key } = (await call('GET', `/keys/${id}`, ADMIN)).json;
    expect(Math.abs(Date.parse(key.last_used_at) - Date.now())).toBeLessThan(60_000 * 10);
    expect((await call('GET', `/keys/${unused.id}`, ADMIN)).json.key.last_used_at).toBeNull();
  });

  it('work beside a keys file, also when that is read again', async () => {
    const file = createKeysFile([{ name: 'root', key: 'of-the-file', role: 'admin' }]);
    const service = await startService({ ...file.environment, DATABASE_URL: databaseUrl });
    const { secret } = (
      await callerOf(service)('POST', '/keys', 'of-the-file', { name: 'k', role: 'viewer' })
    ).json;
    expect(await statusOf(service, secret)).toBe(200);
    file.set([{ name: 'root', key: 'another-of-the-file', role: 'admin' }]);
    await until(
      () => statusOf(service, 'another-of-the-file'),
      (status) => status === 200,
    );
    expect(await statusOf(service, secret)).toBe(200);
    expect(await statusOf(service, 'of-the-file')).toBe(401);
    await service.stop();
    file.remove();
  });

  it('have roles that everyone may read', async () => {
    const { secret } = await created({ role: 'agent' });
    const { json } = await call('GET', '/roles', secret);
    expect(json.roles.map(({ name }: { name: string }) => name)).toEqual([
      'agent',
      'viewer',
      'approver',
      'regular',
      'editor',
      'admin',
      'operator',
    ]);
    expect(json.scopes).toEqual([...json.scopes].sort());
    expect(json.scopes).toContain('namespaces.write');
  });
});

/** A stream of controls: when it began, and the code that it ended with. */
function watched(service: TestService, key: string) {
  const client = createClient(AgentService, rpcTransport('gRPC', service.url));
  let begin: () => void = () => {};
  const began = new Promise<void>((resolve) => {
    begin = resolve;
  });
  const ended = (async () => {
    try {
      const stream = client.watchControls({ agentName: AGENT }, { headers: { 'x-api-key': key } });
      for await (const _ of stream) begin();
      return 'ok' as const;
    } catch (error) {
      begin();
      return ConnectError.from(error).code;
    }
  })();
  return { began, ended };
}

describe('keys of the database', () => {
  it('are nothing that an agent may manage', async () => {
    const service = await startService({ ...ENVIRONMENT, SERVICE_API_KEYS: 'regular-key' });
    const call = callerOf(service);
    const routes = [
      ['GET', '/keys'],
      ['POST', '/keys'],
      ['GET', '/keys/1'],
      ['DELETE', '/keys/1'],
      ['POST', '/keys/1/rotate'],
    ] as const;
    for (const [method, route] of routes)
      expect(await call(method, route, 'regular-key', method === 'POST' ? {} : undefined)).toMatchObject({
        status: 403,
        json: { error_code: 'AUTH_INSUFFICIENT_PRIVILEGES', detail: expect.stringContaining('keys.') },
      });
    await service.stop();
  });
});
