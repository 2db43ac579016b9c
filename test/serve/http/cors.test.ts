import { afterEach, describe, expect, it } from 'vitest';
import { exchange } from '../../support/http.js';
import { startService, type TestService } from '../../support/service.js';

const LISTED = 'https://console.example';
const FOREIGN = 'https://elsewhere.example';
const KEYS = { SERVICE_API_KEY_ENABLED: 'true', SERVICE_ADMIN_API_KEYS: 'key' };
const KEY = { 'x-api-key': 'key' };
const PREFLIGHT = {
  'access-control-request-method': 'POST',
  'access-control-request-headers': 'x-api-key,x-other',
};
const RPC = '/enforcement.v1.EvaluationService/Evaluate';

/** Requests whose answers are of different origin: a route, an error, nothing served, operations, each RPC protocol. */
const REQUESTS = {
  'a JSON route': { path: '/api/v1/agents', status: 200 },
  'a JSON error': { path: '/api/v1/agents/short', status: 422 },
  'an unserved path': { path: '/nothing', status: 404 },
  'a method that is not allowed': { path: '/health', method: 'PUT', status: 405 },
  'a redirect': { path: '/health/', status: 307 },
  health: { path: '/health', status: 200 },
  'a gRPC-Web error': {
    path: RPC,
    method: 'POST',
    headers: { 'content-type': 'application/grpc-web+proto' },
    body: Buffer.alloc(5),
    status: 200,
  },
  'a Connect error': {
    path: RPC,
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: '{}',
    status: 400,
  },
  'an RPC that is not there': {
    path: '/enforcement.v1.EvaluationService/Nothing',
    method: 'POST',
    headers: { 'content-type': 'application/grpc-web+proto' },
    status: 200,
  },
};

let service: TestService;
afterEach(() => service.stop());

function variesBy(vary: string | undefined): string[] {
  return (vary ?? '').split(',').map((name) => name.trim().toLowerCase());
}

describe('cross-origin requests by default', () => {
  it.each(Object.entries(REQUESTS))(
    'may come from anywhere when keys are demanded, without credentials: %s',
    async (_name, request) => {
      service = await startService(KEYS);
      const { headers } = request as { headers?: Record<string, string> };
      const reply = await exchange(service.url, {
        ...request,
        headers: { ...headers, ...KEY, origin: FOREIGN },
      });
      expect(reply.status).toBe(request.status);
      expect(reply.headers['access-control-allow-origin']).toBe('*');
      expect(reply.headers['access-control-allow-credentials']).toBeUndefined();
      expect(variesBy(reply.headers.vary)).toContain('origin');
    },
  );
  it('expose the headers that clients in browsers read', async () => {
    service = await startService();
    const reply = await exchange(service.url, { path: '/health', headers: { origin: FOREIGN } });
    const exposed = variesBy(reply.headers['access-control-expose-headers']);
    for (const name of [
      'grpc-status',
      'grpc-message',
      'grpc-status-details-bin',
      'x-service-revision',
      'x-service-server-version',
      'x-request-id',
    ]) {
      expect(exposed).toContain(name);
    }
  });
  it('may be preceded by a preflight, on any path and without a key', async () => {
    service = await startService(KEYS);
    for (const path of ['/api/v1/evaluation', RPC, '/health', '/nothing']) {
      const reply = await exchange(service.url, {
        method: 'OPTIONS',
        path,
        headers: { origin: FOREIGN, ...PREFLIGHT },
      });
      expect(reply.status).toBe(200);
      expect(reply.headers).toMatchObject({
        'access-control-allow-origin': '*',
        'access-control-allow-headers': 'x-api-key,x-other',
        'access-control-max-age': '600',
      });
      const methods = (reply.headers['access-control-allow-methods'] ?? '').split(', ');
      expect(methods).toEqual(expect.arrayContaining(['GET', 'POST', 'PUT', 'PATCH', 'DELETE']));
      expect(variesBy(reply.headers.vary)).toEqual(
        expect.arrayContaining(['origin', 'access-control-request-headers']),
      );
    }
  });
  it('are not taken for preflights without the headers of one', async () => {
    service = await startService();
    for (const headers of [{}, { origin: FOREIGN }, { 'access-control-request-method': 'POST' }]) {
      const reply = await exchange(service.url, { method: 'OPTIONS', path: '/api/v1/evaluation', headers });
      expect(reply).toMatchObject({ status: 405, headers: { allow: 'POST' } });
      expect((await exchange(service.url, { method: 'OPTIONS', path: '/nothing', headers })).status).toBe(
        404,
      );
    }
  });
});

describe('cross-origin requests with listed origins', () => {
  const environment = { ...KEYS, SERVICE_CORS_ORIGINS: `${LISTED}, https://other.example` };

  it.each(Object.entries(REQUESTS))('may carry credentials from these: %s', async (_name, request) => {
    service = await startService(environment);
    const { headers } = request as { headers?: Record<string, string> };
    const reply = await exchange(service.url, {
      ...request,
      headers: { ...headers, ...KEY, origin: LISTED },
    });
    expect(reply.status).toBe(request.status);
    expect(reply.headers['access-control-allow-origin']).toBe(LISTED);
    expect(reply.headers['access-control-allow-credentials']).toBe('true');
    expect(variesBy(reply.headers.vary)).toContain('origin');
  });
  it.each(Object.entries(REQUESTS))('get no permission from elsewhere: %s', async (_name, request) => {
    service = await startService(environment);
    const { headers } = request as { headers?: Record<string, string> };
    for (const origin of [
      FOREIGN,
      'null',
      `${LISTED}.evil.example`,
      LISTED.toUpperCase(),
      'http://console.example',
    ]) {
      const reply = await exchange(service.url, { ...request, headers: { ...headers, ...KEY, origin } });
      expect(reply.status).toBe(request.status);
      expect(reply.headers['access-control-allow-origin']).toBeUndefined();
      expect(variesBy(reply.headers.vary)).toContain('origin');
    }
  });
  it('are refused at the preflight from elsewhere, with 400', async () => {
    service = await startService(environment);
    const ask = (origin: string) =>
      exchange(service.url, { method: 'OPTIONS', path: RPC, headers: { origin, ...PREFLIGHT } });
    const refused = await ask(FOREIGN);
    expect(refused.status).toBe(400);
    expect(refused.headers['content-type']).toMatch(/^text\/plain/);
    expect(refused.headers['access-control-allow-origin']).toBeUndefined();
    expect(variesBy(refused.headers.vary)).toContain('origin');
    const taken = await ask(LISTED);
    expect(taken).toMatchObject({
      status: 200,
      headers: { 'access-control-allow-origin': LISTED, 'access-control-allow-credentials': 'true' },
    });
  });
  it('may be limited to methods and headers', async () => {
    service = await startService({ ...environment, ALLOW_METHODS: 'GET,POST', ALLOW_HEADERS: 'x-api-key' });
    const reply = await exchange(service.url, {
      method: 'OPTIONS',
      path: '/api/v1/evaluation',
      headers: { origin: LISTED, ...PREFLIGHT },
    });
    expect(reply.headers).toMatchObject({
      'access-control-allow-methods': 'GET, POST',
      'access-control-allow-headers': 'x-api-key',
    });
  });
});
