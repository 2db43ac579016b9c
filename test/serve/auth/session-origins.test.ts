import { Code, ConnectError, createClient } from '@connectrpc/connect';
import { beforeAll, describe, expect, it } from 'vitest';
import { AgentService } from '../../../gen/proto/enforcement/v1/agent_service_pb.js';
import { cookieSetBy, logIn, sendJson } from '../../support/browser.js';
import { exchange } from '../../support/http.js';
import { rpcTransport } from '../../support/rpc-transports.js';
import { suiteService } from '../../support/service-suite.js';

const ADMIN = 'admin-key';
const LISTED = 'https://console.example';
const CLOSED = { SERVICE_API_KEY_ENABLED: 'true', SERVICE_ADMIN_API_KEYS: ADMIN };
const FOREIGN = 'Pages of this origin may not act in the name of a browser session.';
const RPC = '/enforcement.v1.AgentService/ListAgents';

interface Case {
  readonly name: string;
  readonly headers: Record<string, string>;
  /** Whether a session may be used to act; where it differs, for listed origins only. */
  readonly allowed: boolean | 'when listed';
}

/** The service is reached as `service.example:8000` unless a case says otherwise. */
const CASES: readonly Case[] = [
  { name: 'no word of an origin', headers: {}, allowed: true },
  { name: 'its own origin', headers: { origin: 'http://service.example:8000' }, allowed: true },
  { name: 'its own origin over https', headers: { origin: 'https://service.example:8000' }, allowed: true },
  {
    name: 'its own origin without the default port',
    headers: { host: 'service.example:443', origin: 'https://service.example' },
    allowed: true,
  },
  {
    name: 'its own origin in another case of the host',
    headers: { host: 'Service.Example', origin: 'http://service.example' },
    allowed: true,
  },
  {
    name: 'an http page of the same host when the service is reached over https',
    headers: { origin: 'http://service.example:8000', 'x-forwarded-proto': 'https' },
    allowed: false,
  },
  { name: 'another port', headers: { origin: 'http://service.example:3000' }, allowed: false },
  { name: 'another host', headers: { origin: 'https://elsewhere.example' }, allowed: false },
  { name: 'a listed host', headers: { origin: LISTED }, allowed: 'when listed' },
  {
    name: 'a host that begins like a listed one',
    headers: { origin: `${LISTED}.evil.example` },
    allowed: false,
  },
  { name: 'a listed host over http', headers: { origin: 'http://console.example' }, allowed: false },
  { name: 'a page without an origin', headers: { origin: 'null' }, allowed: false },
  { name: 'an origin that is none', headers: { origin: 'service.example:8000' }, allowed: false },
  { name: 'an origin with a path', headers: { origin: 'http://service.example:8000/' }, allowed: false },
  { name: 'an empty origin', headers: { origin: '' }, allowed: false },
  {
    name: 'a listed host, which is another site',
    headers: { origin: LISTED, 'sec-fetch-site': 'cross-site' },
    allowed: 'when listed',
  },
  { name: 'another site', headers: { 'sec-fetch-site': 'cross-site' }, allowed: false },
  { name: 'another host of its site', headers: { 'sec-fetch-site': 'same-site' }, allowed: false },
  {
    name: 'the same origin, by fetch metadata',
    headers: { 'sec-fetch-site': 'same-origin' },
    allowed: true,
  },
  { name: 'the user, by fetch metadata', headers: { 'sec-fetch-site': 'none' }, allowed: true },
];

describe.each([
  ['by default', '*'],
  ['with listed origins', LISTED],
])('acting with a session from other pages, %s', (_name, corsOrigins) => {
  let cookie: string;
  let names = 0;
  const service = suiteService({ ...CLOSED, SERVICE_CORS_ORIGINS: corsOrigins });
  beforeAll(async () => {
    cookie = await logIn(service.url, ADMIN);
  });
  const put = (headers: Record<string, string>) => {
    names += 1;
    const host = { host: 'service.example:8000' };
    return sendJson(service.url, 'PUT', '/api/v1/policies', { name: `p-${names}` }, { ...host, ...headers });
  };
  const rpc = (headers: Record<string, string>) =>
    sendJson(service.url, 'POST', RPC, {}, { host: 'service.example:8000', ...headers });

  it.each(CASES)('from $name', async ({ headers, allowed }) => {
    const may = allowed === 'when listed' ? corsOrigins === LISTED : allowed;
    const changed = await put({ cookie, ...headers });
    const called = await rpc({ cookie, ...headers });
    if (may) {
      expect(changed.status).toBe(200);
      expect(called.status).toBe(200);
    } else {
      expect(changed).toMatchObject({
        status: 403,
        json: { error_code: 'AUTH_INSUFFICIENT_PRIVILEGES', detail: FOREIGN },
      });
      expect(called).toMatchObject({ status: 403, json: { code: 'permission_denied', message: FOREIGN } });
    }
    // Reading changes nothing, and CORS keeps the reply from pages that may not see it.
    const host = { host: 'service.example:8000' };
    const read = await sendJson(service.url, 'GET', '/api/v1/agents', undefined, {
      ...host,
      cookie,
      ...headers,
    });
    expect(read.status).toBe(200);
    // Browsers do not add keys by themselves.
    expect((await put({ 'x-api-key': ADMIN, ...headers })).status).toBe(200);
    expect((await rpc({ 'x-api-key': ADMIN, cookie, ...headers })).status).toBe(200);
    // Without a valid session there is nothing to protect.
    expect((await put({ cookie: 'service_session=x', ...headers })).json.error_code).toBe('AUTH_MISSING_KEY');
  });
  it.each(CASES)('logging in and out from $name', async ({ headers, allowed }) => {
    const may = allowed === 'when listed' ? corsOrigins === LISTED : allowed;
    const all = { host: 'service.example:8000', 'x-forwarded-proto': 'https', ...headers };
    // Reached over https, a page over http is another origin.
    const expected = may && !headers.origin?.startsWith('http:');
    const login = await sendJson(service.url, 'POST', '/api/login', { api_key: ADMIN }, all);
    const logout = await sendJson(service.url, 'POST', '/api/logout', undefined, all);
    expect([login.status, logout.status]).toEqual(expected ? [200, 204] : [403, 403]);
    expect(cookieSetBy(login) !== undefined).toBe(expected);
    expect(cookieSetBy(logout) !== undefined).toBe(expected);
  });
  it('is refused over gRPC-Web, too', async () => {
    const client = createClient(AgentService, rpcTransport('gRPC-Web over HTTP/1.1', service.url));
    const foreign = { cookie, origin: 'https://elsewhere.example' };
    const error = await client.listAgents({}, { headers: foreign }).catch((reason: unknown) => reason);
    expect(error).toBeInstanceOf(ConnectError);
    expect(error).toMatchObject({ code: Code.PermissionDenied, rawMessage: FOREIGN });
    await client.listAgents({}, { headers: { cookie, origin: service.url } });
  });
  it('shows replies with credentials to listed origins only', async () => {
    for (const [method, path, body] of [
      ['GET', '/api/config', undefined],
      ['POST', '/api/login', { api_key: 'unknown' }],
      ['POST', '/api/logout', undefined],
    ] as const) {
      const reply = await sendJson(service.url, method, path, body, { origin: LISTED });
      const { headers } = reply;
      const isListed = corsOrigins === LISTED;
      expect(headers['access-control-allow-origin']).toBe(isListed ? LISTED : '*');
      expect(headers['access-control-allow-credentials']).toBe(isListed ? 'true' : undefined);
      const preflight = await exchange(service.url, {
        method: 'OPTIONS',
        path,
        headers: {
          origin: LISTED,
          'access-control-request-method': method,
          'access-control-request-headers': 'content-type',
        },
      });
      expect(preflight.status).toBe(200);
      expect(preflight.headers['access-control-allow-credentials']).toBe(isListed ? 'true' : undefined);
    }
  });
});
