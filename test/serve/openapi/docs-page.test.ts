import { readFileSync } from 'node:fs';
import { resolve } from 'node:path';
import { describe, expect, it } from 'vitest';
import { exchange, type HttpAnswer } from '../../support/http.js';
import { suiteService } from '../../support/service-suite.js';

const tls = (name: string) => resolve(import.meta.dirname, '../../fixtures/tls', name);
const CERT = readFileSync(tls('test-only-server-cert.pem'));

const PAGES = [
  ['/openapi.json', 'application/json'],
  ['/docs', 'text/html'],
  ['/docs/start.js', 'text/javascript'],
  ['/docs/swagger-ui.css', 'text/css'],
  ['/docs/swagger-ui-bundle.js', 'application/javascript'],
  ['/docs/favicon-32x32.png', 'image/png'],
] as const;

describe.each(['plaintext', 'TLS'])('the API page over %s', (transport) => {
  const ask = (path: string, method = 'GET', headers = {}): Promise<HttpAnswer> =>
    exchange(service.url, { method, path, headers }, transport === 'TLS' ? CERT : undefined);
  const service = suiteService({
    SERVICE_API_KEY_ENABLED: 'true',
    SERVICE_API_KEYS: 'some-key',
    ...(transport === 'TLS'
      ? {
          SERVICE_TLS_CERT_FILE: tls('test-only-server-cert.pem'),
          SERVICE_TLS_KEY_FILE: tls('test-only-server-key.pem'),
        }
      : {}),
  });

  it.each(PAGES)('%s is public, cacheable and of type %s', async (path, type) => {
    const read = await ask(path);
    expect(read.status).toBe(200);
    expect(read.headers['content-type']).toContain(type);
    expect(read.headers['cache-control']).toMatch(/^public, max-age=\d+$/);
    expect(read.headers['x-content-type-options']).toBe('nosniff');
    expect(read.text.length).toBeGreaterThan(100);

    const head = await ask(path, 'HEAD');
    expect(head).toMatchObject({ status: 200, text: '' });
    expect(head.headers['content-length']).toBe(read.headers['content-length']);

    const known = await ask(path, 'GET', { 'if-none-match': read.headers.etag });
    expect(known).toMatchObject({ status: 304, text: '' });
    expect((await ask(path, 'GET', { 'if-none-match': '"another"' })).status).toBe(200);
  });

  it('loads nothing but its own files, by relative addresses', async () => {
    const { text, headers } = await ask('/docs');
    const addresses = [...text.matchAll(/(?:src|href)="([^"]*)"/g)].map(([, address]) => address ?? '');
    expect(addresses.length).toBeGreaterThanOrEqual(4);
    // As a browser does it behind a proxy that serves this service below a path.
    const base = 'https://proxy.test/some/prefix/';
    for (const address of addresses) {
      const found = new URL(address, `${base}docs`).href;
      expect(found.startsWith(base)).toBe(true);
      expect((await ask(`/${found.slice(base.length)}`)).status).toBe(200);
    }
    expect(text).not.toMatch(/<script>|<style>| on\w+=/);
    const policy = headers['content-security-policy'] ?? '';
    expect(policy).toContain("default-src 'none'");
    expect(policy).toContain("script-src 'self'");
    expect(policy).toContain("connect-src 'self'");
    expect(policy).not.toMatch(/https?:/);
  });

  it('shows the document of this service and sends requests to no other host', async () => {
    const { text } = await ask('/docs/start.js');
    const shown: { url?: string; validatorUrl?: unknown }[] = [];
    new Function('SwaggerUIBundle', text)((options: object) => shown.push(options));
    expect(shown).toMatchObject([{ url: 'openapi.json', validatorUrl: null }]);
    const document = (await ask('/openapi.json')).json;
    // Relative to where the document is.
    expect(document.servers).toEqual([{ url: '.' }]);
  });

  it('is where the other usual address leads', async () => {
    for (const method of ['GET', 'HEAD']) {
      const { status, headers } = await ask('/redoc', method);
      expect([status, headers.location]).toEqual([302, 'docs']);
    }
  });

  it('serves no other file of the viewer, and none from elsewhere', async () => {
    for (const path of [
      '/docs/index.html',
      '/docs/package.json',
      '/docs/..%2fpackage.json',
      '/docs/%2e%2e/package.json',
      '/docs/swagger-ui.css%00',
    ]) {
      expect((await ask(path)).status).toBe(404);
    }
  });

  it.each(PAGES)('%s takes no other method', async (path) => {
    const refused = await ask(path, 'POST');
    expect(refused).toMatchObject({ status: 405, json: { error_code: 'METHOD_NOT_ALLOWED' } });
    expect(refused.headers.allow).toBe('GET, HEAD');
  });

  it.each(['/docs', '/openapi.json', '/redoc'])('%s is found with a slash too many', async (path) => {
    const { status, headers } = await ask(`${path}/`);
    expect([status, headers.location]).toEqual([307, `${service.url}${path}`]);
  });
});
