import { createClient } from '@connectrpc/connect';
import { afterAll, beforeAll, describe, expect, it, onTestFinished } from 'vitest';
import { ObservabilityService } from '../../gen/proto/enforcement/v1/observability_service_pb.js';
import { startIssuer, type TestIssuer } from '../support/issuer.js';
import { createCookieBrowser, logInAtIssuer } from '../support/issuer-browser.js';
import { rpcTransport } from '../support/rpc-transports.js';
import { startService, type TestService } from '../support/service.js';
import { testService } from '../support/service-suite.js';

const SECRET = 'a-secret-of-more-than-thirty-two-characters';

let issuer: TestIssuer;
beforeAll(async () => {
  issuer = await startIssuer();
});
afterAll(() => issuer.stop());

const LOGIN = {
  SERVICE_OIDC_CLIENT_ID: 'dashboard',
  SERVICE_OIDC_CLIENT_SECRET: 'dashboard-secret',
  SERVICE_OIDC_NAME: 'Example Login',
  SERVICE_SESSION_SECRET: SECRET,
};

async function start(environment: Record<string, string> = {}): Promise<TestService> {
  const service = await startService({ ...issuer.environment, ...LOGIN, ...environment });
  await issuer.configure({ redirectUris: [`${service.url}/api/oidc/callback`] });
  return service;
}

/** The answer of the service to the callback, the browser and the address of the callback. */
async function logIn(service: TestService, person: string, page = '') {
  const browser = createCookieBrowser();
  const begun = await browser.open(`${service.url}/api/oidc/login?page=${encodeURIComponent(page)}`);
  expect(begun.status).toBe(303);
  const flow = browser.cookiesFor(`${service.url}/api/oidc/callback`);
  const callback = await logInAtIssuer(browser, begun.headers.get('location') ?? '', person);
  return { browser, flow, callback, reply: await browser.open(callback) };
}
const placeOf = (reply: Response) => reply.headers.get('location');

describe('a login at the issuer', () => {
  let service: TestService;
  beforeAll(async () => {
    service = await start();
  });
  afterAll(() => service.stop());
  const config = async (cookie: string) =>
    (await fetch(`${service.url}/api/config`, { headers: { cookie } })).json() as Promise<object>;

  it('is offered, and starts a session with the rights of the person', async () => {
    expect(await config('')).toEqual({
      requires_api_key: true,
      auth_mode: 'api-key',
      has_active_session: false,
      sign_in: { name: 'Example Login', path: '/api/oidc/login' },
    });
    for (const [person, status] of [
      ['alice', 404],
      ['bob', 403],
    ] as const) {
      const { browser, reply } = await logIn(service, person, 'agents/a?tab=1');
      expect([reply.status, placeOf(reply)]).toEqual([303, '../../ui/agents/a?tab=1']);
      const [cookie = ''] = reply.headers.getSetCookie();
      expect(cookie).toMatch(/^service_session=[\w.-]+; HttpOnly; SameSite=lax; Path=\/; Max-Age=\d+$/);
      const seconds = Number(/Max-Age=(\d+)/.exec(cookie)?.[1]);
      expect(seconds).toBeGreaterThan(500);
      expect(seconds).toBeLessThanOrEqual(600);
      const headers = { cookie: browser.cookiesFor(service.url) };
      expect(await config(headers.cookie)).toMatchObject({ has_active_session: true });
      const removal = await fetch(`${service.url}/api/v1/agents/no-such-agent`, {
        method: 'DELETE',
        headers,
      });
      expect(removal.status).toBe(status);
      const logout = await fetch(`${service.url}/api/logout`, { method: 'POST', headers });
      expect(logout.headers.get('set-cookie')).toContain('service_session=;');
    }
  });

  it('leads to no page outside of the dashboard', async () => {
    for (const page of [
      '//evil.example',
      '/etc',
      '..%2f..',
      '../x',
      'a\\b',
      'https://evil.example',
      'a\r\nb',
    ]) {
      expect(placeOf((await logIn(service, 'bob', page)).reply)).toBe('../../ui/');
    }
  });

  it('is refused without a role, and when the person gives up', async () => {
    const { reply } = await logIn(service, 'mallory');
    expect(placeOf(reply)).toBe('../../ui/?sign_in_problem=no-role');
    expect(reply.headers.getSetCookie().some((cookie) => cookie.startsWith('service_session'))).toBe(false);
    const browser = createCookieBrowser();
    const begun = await browser.open(`${service.url}/api/oidc/login`);
    const { searchParams } = new URL(placeOf(begun) ?? '');
    const denied = new URLSearchParams({
      error: 'access_denied',
      state: searchParams.get('state') ?? '',
      iss: issuer.url,
    });
    const gaveUp = await browser.open(`${service.url}/api/oidc/callback?${denied}`);
    expect(placeOf(gaveUp)).toBe('../../ui/?sign_in_problem=denied');
  });

  it('has one callback: the second one is refused, by other instances too', async () => {
    const { browser, flow, callback } = await logIn(service, 'bob');
    // The browser has forgotten the login.
    expect(placeOf(await browser.open(callback))).toBe('../../ui/?sign_in_problem=expired');
    browser.setCookies(service.url, flow);
    expect(placeOf(await browser.open(callback))).toBe('../../ui/?sign_in_problem=expired');
    // Another instance knows only what the issuer says about the code.
    const other = await testService({ ...issuer.environment, ...LOGIN });
    const there = createCookieBrowser();
    there.setCookies(other.url, flow);
    const reply = await there.open(callback.replace(service.url, other.url));
    expect(placeOf(reply)).toBe('../../ui/?sign_in_problem=failed');
    expect(reply.headers.getSetCookie().some((cookie) => cookie.startsWith('service_session'))).toBe(false);
  });

  it('is refused with the state of another login, and with a cookie that was changed', async () => {
    const victim = createCookieBrowser();
    await victim.open(`${service.url}/api/oidc/login`);
    const attacker = createCookieBrowser();
    const begun = await attacker.open(`${service.url}/api/oidc/login`);
    const callback = await logInAtIssuer(attacker, placeOf(begun) ?? '', 'alice');
    expect(placeOf(await victim.open(callback))).toBe('../../ui/?sign_in_problem=failed');
    const changed = createCookieBrowser();
    changed.setCookies(service.url, `${attacker.cookiesFor(callback).slice(0, -4)}AAAA`);
    expect(placeOf(await changed.open(callback))).toBe('../../ui/?sign_in_problem=expired');
    expect(placeOf(await attacker.open(callback))).toBe('../../ui/');
  });

  it('cannot be begun by pages of other origins', async () => {
    const headers = { 'sec-fetch-site': 'cross-site' };
    const reply = await fetch(`${service.url}/api/oidc/login`, { headers, redirect: 'manual' });
    expect(reply.status).toBe(403);
  });

  it('does not reveal code, token or secret in the log', async () => {
    const { callback } = await logIn(service, 'bob');
    const code = new URL(callback).searchParams.get('code') ?? '';
    const log = service.logLines.join('');
    expect(code).not.toBe('');
    for (const secret of [code, 'dashboard-secret', 'eyJ']) expect(log).not.toContain(secret);
  });
});

it('a session of the issuer ends with its token, and its streams too', async () => {
  await issuer.configure({ lifetimeSeconds: 4 });
  const service = await start();
  onTestFinished(() => issuer.configure({ lifetimeSeconds: 600 }));
  onTestFinished(() => service.stop());
  const { browser } = await logIn(service, 'bob');
  const headers = { cookie: browser.cookiesFor(service.url) };
  const client = createClient(ObservabilityService, rpcTransport('gRPC-Web over HTTP/1.1', service.url));
  const watch = async () => {
    for await (const _news of client.watchEvents({}, { headers }));
  };
  await expect(watch()).rejects.toThrow('unauthenticated');
  const agents = await fetch(`${service.url}/api/v1/agents`, { headers });
  expect(agents.status).toBe(401);
});

it('roles that are only in the access token count, and sessions end with the settings they came from', async () => {
  const service = await start({ SERVICE_OIDC_ROLES_CLAIM: 'granted.roles' });
  let cookie: string;
  const isAccepted = async ({ url }: TestService) =>
    (await fetch(`${url}/api/v1/agents`, { headers: { cookie } })).status;
  try {
    const { browser, reply } = await logIn(service, 'bob');
    expect(placeOf(reply)).toBe('../../ui/');
    cookie = browser.cookiesFor(service.url);
    expect(await isAccepted(service)).toBe(200);
  } finally {
    await service.stop();
  }
  for (const [environment, status] of [
    [{ SERVICE_OIDC_ROLES_CLAIM: 'granted.roles' }, 200],
    [{ SERVICE_OIDC_REGULAR_ROLES: 'others' }, 401],
  ] as const) {
    const next = await start(environment);
    expect(await isAccepted(next)).toBe(status);
    await next.stop();
  }
});
