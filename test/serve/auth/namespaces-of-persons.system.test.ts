import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { logIn, sendJson } from '../../support/browser.js';
import { AUDIENCE, startIssuer, type TestIssuer } from '../../support/issuer.js';
import { startService, type TestService } from '../../support/service.js';

const OPERATOR = 'operator-key-of-the-variables';
const ADMIN = 'admin-key-of-the-variables';

let issuer: TestIssuer;
let second: TestIssuer;
let unlisted: TestIssuer;
let service: TestService;
beforeAll(async () => {
  [issuer, second, unlisted] = await Promise.all([startIssuer(), startIssuer(), startIssuer()]);
  service = await startService({
    ...issuer.environment,
    SERVICE_OPERATOR_API_KEYS: OPERATOR,
    SERVICE_ADMIN_API_KEYS: ADMIN,
    SERVICE_OIDC_NAMESPACE_CLAIM: 'teams',
    SERVICE_OIDC_ROLE_MAP: 'writers=editor,readers=viewer,bots=agent',
    SERVICE_OIDC_ISSUERS: JSON.stringify([
      { issuer: second.url, audience: 'second', roles_claim: 'groups', role_map: { crew: 'viewer' } },
    ]),
  });
  for (const name of ['payments', 'support']) {
    const reply = await call('POST', '/api/v1/namespaces', { name }, { 'x-api-key': OPERATOR });
    expect(reply.status).toBe(200);
  }
});
afterAll(async () => {
  await service.stop();
  await Promise.all([issuer, second, unlisted].map((one) => one.stop()));
});

const call = (method: string, path: string, body: unknown, headers: Record<string, string>) =>
  sendJson(service.url, method, path, body, headers);
const infoOf = (headers: Record<string, string>) =>
  sendJson(
    service.url,
    'POST',
    '/enforcement.v1.ServerService/GetServerInfo',
    {},
    { ...headers, 'content-type': 'application/json', 'connect-protocol-version': '1' },
  );
const now = () => Math.floor(Date.now() / 1000);
const tokenOf = (claims: object, from = issuer) =>
  from.sign({
    iss: from.url,
    aud: from === second ? 'second' : AUDIENCE,
    sub: 'a person',
    iat: now(),
    exp: now() + 600,
    ...claims,
  });
const bearer = async (claims: object, from = issuer) => ({
  authorization: `Bearer ${await tokenOf(claims, from)}`,
});

describe('the claims of a token', () => {
  it('are its namespace, the first of several, and its role', async () => {
    const one = await infoOf(await bearer({ roles: ['writers'], teams: 'payments' }));
    expect(one.json).toMatchObject({ namespace: 'payments', role: 'editor', namespaces: ['payments'] });
    expect(one.json.scopes).toContain('controls.write');
    const several = await infoOf(await bearer({ roles: ['readers'], teams: ['support', 'payments'] }));
    expect(several.json).toMatchObject({ namespace: 'support', role: 'viewer', namespaces: ['support'] });
  });

  it('with several roles give the scopes of all of them', async () => {
    const { json } = await infoOf(await bearer({ roles: ['writers', 'bots'], teams: 'payments' }));
    expect(json.role).toBeUndefined();
    for (const scope of ['evaluate', 'controls.write']) expect(json.scopes).toContain(scope);
    const both = await infoOf(await bearer({ roles: ['control-admin', 'readers'], teams: 'payments' }));
    expect(both.json.role).toBe('admin');
  });

  it.each([
    ['no role that is known', { roles: ['other'], teams: 'payments' }, 'roles'],
    ['no namespace', { roles: ['readers'] }, 'teams'],
    ['an empty list of namespaces', { roles: ['readers'], teams: [] }, 'teams'],
    ['what is no name of a namespace', { roles: ['readers'], teams: ['payments', 'Not A Name'] }, 'teams'],
    ['a number for a namespace', { roles: ['readers'], teams: 7 }, 'teams'],
    ['a namespace that does not exist', { roles: ['readers'], teams: 'nowhere' }, 'nowhere'],
  ])('with %s are refused', async (_what, claims, named) => {
    const reply = await call('GET', '/api/v1/server-info', undefined, await bearer(claims));
    expect(reply).toMatchObject({ status: 403, json: { error_code: 'AUTH_INSUFFICIENT_PRIVILEGES' } });
    expect(reply.json.detail).toContain(named);
  });

  it('name the scope that a role lacks', async () => {
    const headers = await bearer({ roles: ['readers'], teams: 'payments' });
    const reply = await call('PUT', '/api/v1/policies', { name: 'x' }, headers);
    expect(reply.status).toBe(403);
    expect(reply.json.detail).toContain('policies.write');
  });
});

describe('several issuers', () => {
  it('each decide about their own tokens', async () => {
    const of = await infoOf(await bearer({ groups: ['crew'] }, second));
    expect(of.json).toMatchObject({ namespace: 'default', role: 'viewer' });
    const first = await infoOf(await bearer({ roles: ['readers'], teams: 'payments' }));
    expect(first.json).toMatchObject({ namespace: 'payments', role: 'viewer' });
  });

  it('do not lend each other their audiences and roles', async () => {
    const roles = await call(
      'GET',
      '/api/v1/server-info',
      undefined,
      await bearer({ roles: ['control-admin'] }, second),
    );
    expect(roles.status).toBe(403);
    const audience = await bearer({ groups: ['crew'], aud: AUDIENCE }, second);
    expect((await call('GET', '/api/v1/server-info', undefined, audience)).status).toBe(401);
    // Signed by one, in the name of the other.
    const forged = await bearer({ groups: ['crew'], iss: second.url, aud: 'second' }, issuer);
    expect((await call('GET', '/api/v1/server-info', undefined, forged)).status).toBe(401);
  });

  it('are the listed ones', async () => {
    const reply = await call(
      'GET',
      '/api/v1/server-info',
      undefined,
      await bearer({ roles: ['readers'], teams: 'payments' }, unlisted),
    );
    expect(reply).toMatchObject({ status: 401, json: { error_code: 'AUTH_INVALID_KEY' } });
    expect(reply.json.detail).toContain('another issuer');
  });
});

describe('a session', () => {
  const switched = async (cookie: string, namespace: unknown, headers: Record<string, string> = {}) => {
    const reply = await call('POST', '/api/namespace', { namespace }, { cookie, ...headers });
    const [set = ''] = [reply.headers['set-cookie'] ?? ''].flat();
    return { ...reply, cookie: set.split(';')[0] ?? '' };
  };

  it('of an operator can work in every namespace, and the cookie before ends', async () => {
    const cookie = await logIn(service.url, OPERATOR);
    const before = (await infoOf({ cookie })).json;
    expect(before).toMatchObject({ namespace: 'default', namespaces: ['default', 'payments', 'support'] });
    const first = await switched(cookie, 'payments');
    expect(first).toMatchObject({ status: 200, json: { namespace: 'payments' } });
    expect((await infoOf({ cookie: first.cookie })).json).toMatchObject({ namespace: 'payments' });
    expect((await infoOf({ cookie })).status).toBe(401);
    const back = await switched(first.cookie, 'default');
    expect((await infoOf({ cookie: back.cookie })).json).toMatchObject({ namespace: 'default' });
    expect((await infoOf({ cookie: first.cookie })).status).toBe(401);
  });

  it('sees what its namespace has, and nothing else', async () => {
    const cookie = await logIn(service.url, OPERATOR);
    const there = await switched(cookie, 'support');
    const made = await call('PUT', '/api/v1/policies', { name: 'of-support' }, { cookie: there.cookie });
    expect(made.status).toBe(200);
    const ofAdmin = await call('GET', '/api/v1/policies', undefined, { 'x-api-key': ADMIN });
    expect(JSON.stringify(ofAdmin.json)).not.toContain('of-support');
    const listed = await call('GET', '/api/v1/policies', undefined, { cookie: there.cookie });
    expect(JSON.stringify(listed.json)).toContain('of-support');
  });

  it('of a key with one namespace stays there', async () => {
    const cookie = await logIn(service.url, ADMIN);
    expect((await infoOf({ cookie })).json).toMatchObject({ namespaces: ['default'] });
    const refused = await switched(cookie, 'payments');
    expect(refused).toMatchObject({ status: 403, json: { error_code: 'AUTH_INSUFFICIENT_PRIVILEGES' } });
    // The same for one that does not exist.
    const unknown = await switched(cookie, 'nowhere');
    expect(unknown.json.detail).toBe(refused.json.detail);
    expect((await infoOf({ cookie })).status).toBe(200);
  });

  it('is not switched by pages of other origins, without a session, or by bad input', async () => {
    const cookie = await logIn(service.url, OPERATOR);
    const foreign = await switched(cookie, 'payments', { origin: 'https://evil.example' });
    expect(foreign).toMatchObject({ status: 403 });
    expect((await call('POST', '/api/namespace', { namespace: 'payments' }, {})).status).toBe(401);
    expect((await switched(cookie, 'nowhere')).json.error_code).toBe('NAMESPACE_NOT_FOUND');
    for (const bad of [undefined, '', 7, 'x'.repeat(64)])
      expect(await switched(cookie, bad)).toMatchObject({
        status: 422,
        json: { error_code: 'VALIDATION_ERROR' },
      });
    expect((await switched('service_session=broken', 'payments')).status).toBe(401);
    expect((await infoOf({ cookie })).json).toMatchObject({ namespace: 'default' });
  });
});
