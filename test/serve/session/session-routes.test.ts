import { once } from 'node:events';
import { readFileSync } from 'node:fs';
import http2 from 'node:http2';
import { resolve } from 'node:path';
import { decodeJwt, decodeProtectedHeader } from 'jose';
import { afterEach, describe, expect, it } from 'vitest';
import { cookieSetBy, logIn, sendJson, tokenOf } from '../../support/browser.js';
import { exchange } from '../../support/http.js';
import { startService, type TestService } from '../../support/service.js';
import { suiteService } from '../../support/service-suite.js';

const REGULAR = 'regular-key';
const ADMIN = 'admin-key';
const BOTH = 'key-in-both-lists';
const KEYS = { SERVICE_API_KEYS: `${REGULAR},${BOTH}`, SERVICE_ADMIN_API_KEYS: `${ADMIN},${BOTH}` };
const CLOSED = { ...KEYS, SERVICE_API_KEY_ENABLED: 'true' };
const REFUSED = { authenticated: false, is_admin: false };

describe('the session routes', () => {
  const service = suiteService(CLOSED);
  const login = (body: unknown, headers = {}) => sendJson(service.url, 'POST', '/api/login', body, headers);
  const config = async (headers: Record<string, string> = {}) => {
    const reply = await sendJson(service.url, 'GET', '/api/config', undefined, headers);
    expect(reply.status).toBe(200);
    return reply.json;
  };

  it.each([
    ['a regular key', REGULAR, false],
    ['an admin key', ADMIN, true],
    ['a key in both lists', BOTH, true],
    ['a key with blanks around it', `  ${REGULAR}\t\n`, false],
  ])('log in with %s', async (_name, key, isAdmin) => {
    const reply = await login({ api_key: key });
    expect(reply).toMatchObject({ status: 200, json: { authenticated: true, is_admin: isAdmin } });
    expect(reply.headers['cache-control']).toBe('no-store');
    expect(cookieSetBy(reply)).toEqual({
      name: 'service_session',
      value: expect.stringMatching(/^[\w-]+\.[\w-]+\.[\w-]+$/),
      attributes: { httponly: true, samesite: 'lax', path: '/', 'max-age': '2592000' },
    });
  });
  it('protect what browsers read: no other type, and nothing of a session stored', async () => {
    const cookie = `service_session=${tokenOf(await logIn(service.url, REGULAR))}`;
    for (const [method, path, body] of [
      ['GET', '/api/config', undefined],
      ['GET', '/api/v1/controls', undefined],
      ['GET', '/api/v1/unknown', undefined],
      ['POST', '/enforcement.v1.ControlService/ListControls', {}],
    ] as const) {
      const reply = await sendJson(service.url, method, path, body, { cookie, origin: service.url });
      expect([path, reply.headers['x-content-type-options']]).toEqual([path, 'nosniff']);
      expect([path, reply.headers['cache-control']]).toEqual([path, expect.stringContaining('no-store')]);
    }
    const lane = await sendJson(service.url, 'POST', '/api/v1/evaluation', {}, { 'x-api-key': REGULAR });
    expect(lane.headers['x-content-type-options']).toBe('nosniff');
  });
  it('make tokens that contain the level and when they end, and nothing of the key', async () => {
    const before = Math.floor(Date.now() / 1000);
    const token = tokenOf(await logIn(service.url, ADMIN));
    const claims = decodeJwt(token);
    expect(decodeProtectedHeader(token).alg).toBe('HS256');
    expect(Object.keys(claims).sort()).toEqual(['exp', 'iat', 'is_admin', 'jti', 'key_id', 'sub']);
    expect(claims.is_admin).toBe(true);
    expect(claims.iat).toBeGreaterThanOrEqual(before);
    expect(claims.exp).toBe(Number(claims.iat) + 30 * 24 * 60 * 60);
    expect(JSON.stringify(claims)).not.toContain(ADMIN);
    expect(service.logLines.join('')).not.toContain(token);
  });
  it.each([
    ['an unknown key', 'unknown'],
    ['a blank key', '   '],
    ['an empty key', ''],
    ['a known key in another case', REGULAR.toUpperCase()],
    ['two known keys', `${REGULAR},${ADMIN}`],
  ])('refuse %s in the form consoles read', async (_name, key) => {
    const reply = await login({ api_key: key });
    expect(reply).toMatchObject({ status: 401, json: REFUSED });
    expect(reply.json).toEqual(REFUSED);
    expect(reply.headers['www-authenticate']).toBeUndefined();
    expect(cookieSetBy(reply)).toBeUndefined();
  });
  it.each([
    ['no body', undefined, 'missing', undefined],
    ['a body without a key', {}, 'missing', 'api_key'],
    ['a key that is null', { api_key: null }, 'string_type', 'api_key'],
    ['a key that is a number', { api_key: 5 }, 'string_type', 'api_key'],
    ['a list', [], 'model_attributes_type', undefined],
    ['broken JSON', '{', 'json_invalid', '[1]'],
  ])('answer a login with %s as an invalid request', async (_name, body, code, field) => {
    const reply = await login(body);
    expect(reply).toMatchObject({
      status: 422,
      json: { error_code: 'VALIDATION_ERROR', errors: [{ code, ...(field === undefined ? {} : { field }) }] },
    });
    expect(cookieSetBy(reply)).toBeUndefined();
  });
  it('take logins as JSON only, which forms of other pages cannot send', async () => {
    const body = JSON.stringify({ api_key: ADMIN });
    for (const type of [
      'text/plain',
      'application/x-www-form-urlencoded',
      'multipart/form-data; boundary=x',
    ]) {
      expect((await login(body, { 'content-type': type })).status).toBe(422);
    }
  });
  it('refuse bodies that are too large for a login', async () => {
    expect(await login({ api_key: 'x'.repeat(20_000) })).toMatchObject({
      status: 413,
      json: { error_code: 'PAYLOAD_TOO_LARGE' },
    });
  });
  it.each([
    ['nothing', {}, false],
    ['a regular key', { 'x-api-key': REGULAR }, true],
    ['an admin key', { 'x-api-key': ADMIN }, true],
    ['an unknown key', { 'x-api-key': 'unknown' }, false],
    ['an empty key', { 'x-api-key': '' }, false],
    ['a cookie that is no session', { cookie: 'service_session=nonsense' }, false],
    ['an empty cookie header', { cookie: '' }, false],
    ['cookies of others', { cookie: 'a=b; service_session_old=c' }, false],
  ])('report to callers with %s whether they have a session', async (_name, headers, active) => {
    const expected = { requires_api_key: true, auth_mode: 'api-key', has_active_session: active };
    expect(await config(headers)).toEqual(expected);
  });
  it('report to callers with a cookie whether they have a session, unless they send a key', async () => {
    const cookie = await logIn(service.url, REGULAR);
    expect(await config({ cookie })).toMatchObject({ has_active_session: true });
    expect(await config({ cookie: `a=b; ${cookie};c=d` })).toMatchObject({ has_active_session: true });
    expect(await config({ cookie, 'x-api-key': '' })).toMatchObject({ has_active_session: true });
    expect(await config({ cookie, 'x-api-key': 'unknown' })).toMatchObject({ has_active_session: false });
  });
  it('log out with 204, with and without a session, whatever the body', async () => {
    const cookie = await logIn(service.url, ADMIN);
    for (const [headers, body] of [
      [{}, undefined],
      [{ cookie }, undefined],
      [{ cookie: 'service_session=nonsense', 'x-api-key': 'unknown' }, '{broken'],
    ] as const) {
      const reply = await sendJson(service.url, 'POST', '/api/logout', body, headers);
      expect(reply).toMatchObject({ status: 204, text: '' });
      expect(reply.headers['content-length']).toBeUndefined();
      expect(cookieSetBy(reply)).toEqual({
        name: 'service_session',
        value: '',
        attributes: { httponly: true, samesite: 'lax', path: '/', 'max-age': '0' },
      });
    }
    expect(await config({ cookie })).toMatchObject({ has_active_session: false });
  });
  it('follow the rules for paths and methods', async () => {
    for (const [path, allowed, wrong] of [
      ['/api/config', 'GET', 'POST'],
      ['/api/config', 'GET', 'HEAD'],
      ['/api/login', 'POST', 'GET'],
      ['/api/logout', 'POST', 'DELETE'],
      ['/api/login', 'POST', 'OPTIONS'],
    ] as const) {
      const reply = await exchange(service.url, { method: wrong, path });
      expect(reply).toMatchObject({ status: 405, headers: { allow: allowed } });
    }
    const redirect = await exchange(service.url, { method: 'POST', path: '/api/login/' });
    expect(redirect).toMatchObject({ status: 307, headers: { location: `${service.url}/api/login` } });
    for (const path of ['/api/v1/login', '/login', '/api/Login', '/api/sessions']) {
      expect((await exchange(service.url, { method: 'POST', path })).status).toBe(404);
    }
  });
  it('are counted in the metrics', async () => {
    await config();
    const { text } = await exchange(service.url, { path: '/metrics' });
    expect(text).toMatch(/_requests_total\{method="GET",path="\/api\/config",status_code="200",/);
  });
});

/** How a login is answered by where it comes from; `secure` is undefined when it is refused. */
const ORIGINS = [
  { host: 'localhost', secure: false },
  { host: 'LocalHost:8000', secure: false },
  { host: '127.0.0.1:3000', secure: false },
  { host: 'localhost', forwarded: 'https', secure: false },
  { host: 'service.example', secure: undefined },
  { host: 'service.example:8000', forwarded: 'http', secure: undefined },
  { host: '[::1]:8000', secure: undefined },
  { host: '127.0.0.2', secure: undefined },
  { host: 'localhost.example', secure: undefined },
  { host: 'service.example', forwarded: 'https', secure: true },
  { host: 'service.example', debug: true, secure: false },
  { host: 'service.example', debug: true, forwarded: 'https', secure: false },
] as const;

describe.each([false, true])('a login with debug mode %s', (debug) => {
  const service = suiteService({ ...CLOSED, SERVICE_DEBUG: String(debug) });

  it.each(ORIGINS.filter((row) => 'debug' in row === debug))('from $host', async (row) => {
    const forwarded: Record<string, string> =
      'forwarded' in row ? { 'x-forwarded-proto': row.forwarded } : {};
    const headers = { host: row.host, ...forwarded };
    for (const key of [REGULAR, 'unknown']) {
      const reply = await sendJson(service.url, 'POST', '/api/login', { api_key: key }, headers);
      if (row.secure === undefined) {
        // Also for an unknown key: nothing is told about keys over plain http.
        expect(reply.status).toBe(403);
        expect(reply.json).toEqual({
          ...REFUSED,
          detail: expect.stringMatching(/localhost.*SERVICE_DEBUG.*https/),
        });
        // What has both members is taken for a problem by consoles, and this is none.
        expect(reply.json).not.toHaveProperty('error_code');
        const logged = service.logLines.map((line) => JSON.parse(line));
        expect(logged).toContainEqual(
          expect.objectContaining({
            level: 30,
            host: row.host,
            msg: expect.stringMatching(/login was refused.*https/),
          }),
        );
        expect(cookieSetBy(reply)).toBeUndefined();
      } else if (key === 'unknown') {
        expect(reply).toMatchObject({ status: 401, json: REFUSED });
      } else {
        expect(reply.status).toBe(200);
        expect(cookieSetBy(reply)?.attributes.secure).toBe(row.secure ? true : undefined);
      }
    }
    const logout = await sendJson(service.url, 'POST', '/api/logout', undefined, headers);
    const local = row.secure === undefined || row.secure;
    expect(cookieSetBy(logout)?.attributes.secure).toBe(local ? true : undefined);
  });
});

describe('the session routes', () => {
  let service: TestService;
  afterEach(() => service.stop());

  it('give out secure cookies over TLS', async () => {
    const fixture = (name: string) => resolve(import.meta.dirname, '../../fixtures/tls', name);
    const certFile = fixture('test-only-server-cert.pem');
    const ca = readFileSync(certFile);
    service = await startService({
      ...CLOSED,
      SERVICE_TLS_CERT_FILE: certFile,
      SERVICE_TLS_KEY_FILE: fixture('test-only-server-key.pem'),
    });
    const login = async (more: http2.OutgoingHttpHeaders): Promise<http2.IncomingHttpHeaders> => {
      const session = http2.connect(service.url, { ca });
      const stream = session.request({
        ':method': 'POST',
        ':path': '/api/login',
        ':authority': 'service.example',
        'content-type': 'application/json',
        ...more,
      });
      stream.end(JSON.stringify({ api_key: REGULAR }));
      const [headers] = (await once(stream, 'response')) as [http2.IncomingHttpHeaders];
      stream.resume();
      session.close();
      return headers;
    };
    for (const authority of ['service.example', 'localhost', '127.0.0.1:8000']) {
      const taken = await login({ ':authority': authority });
      expect(taken[':status']).toBe(200);
      expect(taken['set-cookie']).toEqual([expect.stringMatching(/^service_session=.+; Secure$/)]);
    }
    const url = `https://localhost:${service.port}`;
    const logout = await exchange(url, { method: 'POST', path: '/api/logout' }, ca);
    expect(cookieSetBy(logout)?.attributes.secure).toBe(true);
    expect((await login({ 'x-forwarded-proto': 'http' }))[':status']).toBe(403);
  });
  it('work without authentication, for keys that are configured', async () => {
    service = await startService({ ...KEYS, SERVICE_API_KEY_ENABLED: 'false' });
    const login = (key: string) => sendJson(service.url, 'POST', '/api/login', { api_key: key });
    expect(await login(ADMIN)).toMatchObject({ status: 200, json: { authenticated: true, is_admin: true } });
    expect(await login('unknown')).toMatchObject({ status: 401, json: REFUSED });
    const cookie = await logIn(service.url, REGULAR);
    const headers = { cookie, 'x-api-key': REGULAR };
    const config = await sendJson(service.url, 'GET', '/api/config', undefined, headers);
    expect(config.json).toEqual({ requires_api_key: false, auth_mode: 'none', has_active_session: false });
    const put = await sendJson(service.url, 'PUT', '/api/v1/policies', { name: 'open' }, { cookie });
    expect(put.status).toBe(200);
  });
  it('are found under the configured prefix', async () => {
    service = await startService({ ...CLOSED, API_PREFIX: '/control', API_VERSION: 'v9' });
    expect((await sendJson(service.url, 'GET', '/control/config')).status).toBe(200);
    expect((await sendJson(service.url, 'POST', '/control/login', { api_key: ADMIN })).status).toBe(200);
    expect((await sendJson(service.url, 'POST', '/control/logout')).status).toBe(204);
    expect((await sendJson(service.url, 'GET', '/api/config')).status).toBe(404);
  });
  it('stop answering attempts after too many refusals, and state for how long', async () => {
    service = await startService(CLOSED);
    const login = (key: string) => sendJson(service.url, 'POST', '/api/login', { api_key: key });
    const before = await logIn(service.url, REGULAR);
    for (let count = 0; count < 10; count += 1) expect((await login(`guess-${count}`)).status).toBe(401);
    for (const key of ['another guess', ADMIN]) {
      const reply = await login(key);
      expect(reply).toMatchObject({ status: 429, json: { error_code: 'RATE_LIMITED' } });
      expect(Number(reply.headers['retry-after'])).toBeGreaterThan(0);
      expect(Number(reply.headers['retry-after'])).toBeLessThanOrEqual(60);
      expect(reply.json.details.retry_after_seconds).toBe(Number(reply.headers['retry-after']));
      expect(cookieSetBy(reply)).toBeUndefined();
    }
    // Sessions that exist stay valid.
    const agents = await sendJson(service.url, 'GET', '/api/v1/agents', undefined, { cookie: before });
    expect(agents.status).toBe(200);
  });
  it('let who has a key log in as often as they like', async () => {
    service = await startService(CLOSED);
    for (let count = 0; count < 30; count += 1) await logIn(service.url, REGULAR);
  });
});
