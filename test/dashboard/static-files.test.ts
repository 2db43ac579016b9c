import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { exchange, type HttpAnswer } from '../support/http.js';
import { startService, type TestService } from '../support/service.js';

describe('the files of the dashboard', () => {
  let service: TestService;
  const ask = (path: string, method = 'GET', headers = {}): Promise<HttpAnswer> =>
    exchange(service.url, { method, path, headers });
  beforeAll(async () => {
    service = await startService({
      SERVICE_API_KEY_ENABLED: 'true',
      SERVICE_API_KEYS: 'some-key',
      SERVICE_API_VERSION: 'v2',
    });
  });
  afterAll(() => service.stop());

  it('start at /ui/, where / leads', async () => {
    for (const method of ['GET', 'HEAD']) {
      const { status, headers } = await ask('/', method);
      expect([status, headers.location]).toEqual([302, 'ui/']);
    }
    const { status, headers } = await ask('/ui');
    expect([status, headers.location]).toEqual([307, `${service.url}/ui/`]);
  });

  it.each(['/ui/', '/ui/agents/some-agent', '/ui/controls/1?tab=versions', '/ui/agents/name.js'])(
    '%s is the page, which no cache keeps',
    async (path) => {
      const page = await ask(path);
      expect(page.status).toBe(200);
      expect(page.headers['content-type']).toBe('text/html; charset=utf-8');
      expect(page.headers['cache-control']).toBe('no-store');
      expect(page.headers['x-content-type-options']).toBe('nosniff');
      expect(page.text).toContain('<div id="root">');
      expect(page.text).toContain('<meta name="api-prefix" content="/api"');
      expect(page.text).toContain('<meta name="api-base" content="/api/v2"');
      expect(page.text).not.toContain('__');
    },
  );

  it('have a policy with a fresh nonce, no foreign origin and no inline script', async () => {
    const pages = [await ask('/ui/'), await ask('/ui/')];
    const nonces = pages.map(({ headers, text }) => {
      const policy = String(headers['content-security-policy']);
      const nonce = /'nonce-([^']+)'/.exec(policy)?.[1];
      expect(policy.replace(`${nonce}`, 'N')).toBe(
        "default-src 'none'; script-src 'self'; style-src 'self' 'nonce-N'; connect-src 'self'; " +
          "img-src 'self' data:; font-src 'self'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'",
      );
      expect(text).toContain(`nonce="${nonce}"`);
      expect(text).not.toMatch(/<script>|<style|\son\w+=|https?:/);
      return nonce;
    });
    expect(new Set(nonces).size).toBe(2);
  });

  it('have names with a hash and are kept forever', async () => {
    const { text } = await ask('/ui/');
    const files = [...text.matchAll(/(?:src|href)="(\/ui\/assets\/[^"]+)"/g)].map(([, path = '']) => path);
    expect(files.length).toBeGreaterThanOrEqual(3);
    for (const file of files) {
      expect(file).toMatch(/-[\w-]{8}\.(?:js|css|svg)$/);
      const { status, headers } = await ask(file);
      expect(status).toBe(200);
      expect(headers['cache-control']).toBe('public, max-age=31536000, immutable');
      expect(headers['x-content-type-options']).toBe('nosniff');
      const compressed = await ask(file, 'GET', { 'accept-encoding': 'gzip' });
      expect(compressed.headers['content-encoding']).toBe('gzip');
      expect(compressed.headers.vary).toContain('Accept-Encoding');
    }
  });

  it.each([
    '/ui/assets/',
    '/ui/assets/unknown.js',
    '/ui/assets/..%2findex.html',
    '/ui/assets/.hidden',
    '/ui/assets/%00',
    '/ui/assets/a%00.js',
    '/ui/assets/%2e%2e/index.html',
    '/ui/assets/%2e%2e%2f%2e%2e%2fpackage.json',
    '/ui/assets/..%5cindex.html',
    '/ui/assets/%ff',
    '/docs/%00',
    '/docs/..%5cpackage.json',
  ])('%s is not found, without a line in the log', async (path) => {
    const lines = service.logLines.length;
    for (const method of ['GET', 'HEAD']) expect((await ask(path, method)).status).toBe(404);
    expect(await ask(path)).toMatchObject({ status: 404, json: { error_code: 'RESOURCE_NOT_FOUND' } });
    const failures = service.logLines.slice(lines).filter((line) => JSON.parse(line).level >= 40);
    expect(failures).toEqual([]);
  });

  it('take no other method', async () => {
    const refused = await ask('/ui/', 'POST');
    expect(refused).toMatchObject({ status: 405, json: { error_code: 'METHOD_NOT_ALLOWED' } });
    expect(refused.headers.allow).toBe('GET, HEAD');
    expect((await ask('/', 'POST')).status).toBe(404);
  });
});

describe('a service with SERVICE_UI_ENABLED=false', () => {
  it('serves no page of the dashboard', async () => {
    const service = await startService({ SERVICE_UI_ENABLED: 'false' });
    try {
      for (const path of ['/', '/ui', '/ui/', '/ui/agents']) {
        expect((await exchange(service.url, { method: 'GET', path })).status).toBe(404);
      }
    } finally {
      await service.stop();
    }
  });
});

describe('a service with another SERVICE_API_PREFIX', () => {
  it('names it in the page, which signs in below it', async () => {
    const service = await startService({ SERVICE_API_PREFIX: '/console' });
    try {
      const { text } = await exchange(service.url, { method: 'GET', path: '/ui/' });
      expect(text).toContain('<meta name="api-prefix" content="/console"');
    } finally {
      await service.stop();
    }
  });
});
