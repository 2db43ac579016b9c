import { spawn } from 'node:child_process';
import { existsSync } from 'node:fs';
import { chmod, mkdtemp, rm, writeFile } from 'node:fs/promises';
import http from 'node:http';
import net from 'node:net';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { expect, it, onTestFinished } from 'vitest';
import { openWatchedPage } from '../../support/dashboard-browser.js';
import { exchange } from '../../support/http.js';
import { startIssuer } from '../../support/issuer.js';
import { startService, type TestService } from '../../support/service.js';
import { sharedBrowser } from '../../support/shared-browser.js';
import { until } from '../../support/until.js';

const NGINX = '/usr/sbin/nginx';
const KEY = 'key-below-a-path';
const BASE = '/guard';
const KEYS = { SERVICE_API_KEY_ENABLED: 'true', SERVICE_ADMIN_API_KEYS: KEY };

async function served(environment: Record<string, string>): Promise<TestService> {
  const service = await startService({ ...KEYS, ...environment });
  onTestFinished(() => service.stop());
  return service;
}

/** A proxy that serves the service below a path, which it takes away or passes on. */
async function proxied(service: string, { keeps = false, headers = {} } = {}): Promise<string> {
  const { hostname, port } = new URL(service);
  const proxy = http.createServer((request, response) => {
    const { url = '', method = 'GET' } = request;
    if (!url.startsWith(`${BASE}/`)) return void response.writeHead(404).end('not of the service');
    const to = { hostname, port, method, path: keeps ? url : url.slice(BASE.length) };
    const passed = http.request({ ...to, headers: { ...request.headers, ...headers } }, (reply) => {
      response.writeHead(reply.statusCode ?? 502, reply.rawHeaders);
      reply.pipe(response);
    });
    passed.on('error', () => response.destroy());
    response.on('close', () => passed.destroy());
    request.pipe(passed);
  });
  await new Promise((resolve) => proxy.listen(0, '127.0.0.1', () => resolve(undefined)));
  onTestFinished(() => {
    proxy.close();
    proxy.closeAllConnections();
  });
  return `http://localhost:${(proxy.address() as net.AddressInfo).port}`;
}

async function throughNginx(service: string, target: string, further: string): Promise<string> {
  const folder = await mkdtemp(path.join(tmpdir(), 'nginx-'));
  await chmod(folder, 0o755);
  const probe = net.createServer().listen(0, '127.0.0.1');
  await new Promise((resolve) => probe.once('listening', resolve));
  const { port } = probe.address() as net.AddressInfo;
  await new Promise((resolve) => probe.close(resolve));
  const temporary = ['client_body', 'proxy', 'fastcgi', 'uwsgi', 'scgi'].map(
    (kind) => `${kind}_temp_path ${folder}/${kind};`,
  );
  const file = path.join(folder, 'nginx.conf');
  await writeFile(
    file,
    `daemon off; master_process off; pid ${folder}/pid; error_log ${folder}/error.log;\n` +
      `events {}\nhttp { access_log off; ${temporary.join(' ')}\n` +
      `server { listen 127.0.0.1:${port}; location ${BASE}/ { proxy_pass ${service}${target};\n` +
      `proxy_http_version 1.1; proxy_set_header Host $http_host; ${further} } } }\n`,
  );
  const child = spawn(NGINX, ['-e', `${folder}/error.log`, '-c', file], { stdio: 'ignore' });
  onTestFinished(async () => {
    child.kill('SIGKILL');
    await rm(folder, { recursive: true, force: true });
  });
  const url = `http://localhost:${port}`;
  const isUp = () =>
    fetch(`${url}/`).then(
      () => true,
      () => false,
    );
  await until(isUp, (up) => up);
  return url;
}

/** Everything that leads somewhere leads below the path. */
async function checkAddresses(url: string): Promise<void> {
  const at = (below: string, headers = {}) => exchange(url, { path: `${BASE}${below}`, headers });
  const target = async (below: string) => {
    const { headers } = await at(below);
    return new URL(String(headers.location), `${url}${BASE}${below}`).pathname;
  };
  expect([await target('/'), await target('/ui'), await target('/redoc')]).toEqual([
    '/guard/ui/',
    '/guard/ui/',
    '/guard/docs',
  ]);
  const { text } = await at('/ui/controls/1');
  const files = [...text.matchAll(/(?:src|href)="([^"]+)"/g)].map(([, file = '']) => file);
  expect(files.filter((file) => !file.startsWith('/guard/'))).toEqual([]);
  for (const file of files) expect([file, (await exchange(url, { path: file })).status]).toEqual([file, 200]);
  const document = (await at('/openapi.json')).json;
  expect(new URL(document.servers[0].url, `${url}${BASE}/openapi.json`).pathname).toBe('/guard/');
  const body = JSON.stringify({ api_key: KEY });
  const headers = { 'content-type': 'application/json', origin: url };
  const login = await exchange(url, { method: 'POST', path: '/guard/api/login', headers, body });
  expect(login.headers['set-cookie']?.join()).toContain('; Path=/guard/;');
  expect((await at('/api/v1/controls', { 'x-api-key': KEY })).status).toBe(200);
}

/** A person signs in, opens a page by its address, follows a link, and signs out. */
async function checkBrowser(url: string): Promise<void> {
  const watched = await openWatchedPage(await sharedBrowser());
  const { page, problems } = watched;
  try {
    await page.goto(`${url}${BASE}/ui/controls`);
    await page.getByLabel('API key').fill(KEY);
    await page.getByRole('button', { name: 'Sign in' }).click();
    await page.getByRole('heading', { level: 1, name: 'Controls' }).waitFor();
    await page.getByRole('link', { name: 'Agents', exact: true }).click();
    await page.getByText('No agents yet').waitFor();
    expect(new URL(page.url()).pathname).toBe('/guard/ui/agents');
    await page.reload();
    await page.getByText('No agents yet').waitFor();
    const cookies = await page.context().cookies(`${url}/guard/ui/`);
    expect(cookies.map((cookie) => [cookie.name, cookie.path])).toEqual([['service_session', '/guard/']]);
    expect(await page.context().cookies(`${url}/another/`)).toEqual([]);
    expect(problems).toEqual([]);
  } finally {
    await page.context().close();
  }
}

it.each([
  ['takes away', false],
  ['passes on', true],
])('below SERVICE_BASE_PATH everything leads there, if the proxy %s the path', async (_how, keeps) => {
  const { url } = await served({ SERVICE_BASE_PATH: BASE });
  const proxy = await proxied(url, { keeps });
  await checkAddresses(proxy);
  await checkBrowser(proxy);
});

it('X-Forwarded-Prefix counts from a trusted proxy alone', async () => {
  const headers = { 'x-forwarded-prefix': `${BASE}/` };
  const trusting = await served({ SERVICE_TRUST_PROXY: 'loopback' });
  await checkAddresses(await proxied(trusting.url, { headers }));
  const prefixOf = async (url: string, prefix: string) => {
    const { text } = await exchange(url, { path: '/ui/', headers: { 'x-forwarded-prefix': prefix } });
    return /<meta name="base-path" content="([^"]*)"/.exec(text)?.[1];
  };
  // Two proxies, the outermost first.
  expect(await prefixOf(trusting.url, '/a, /b/')).toBe('/a/b');
  for (const wrong of ['a', '//evil.example', '/a/../b', '/a"><script>', '/a b', `/${'a'.repeat(300)}`]) {
    expect([wrong, await prefixOf(trusting.url, wrong)]).toEqual([wrong, '']);
  }
  const distrusting = await served({});
  expect(await prefixOf(distrusting.url, BASE)).toBe('');
  const configured = await served({ SERVICE_TRUST_PROXY: 'loopback', SERVICE_BASE_PATH: '/mine' });
  expect(await prefixOf(configured.url, BASE)).toBe('/mine');
});

it('a path that only begins like the base path is another one', async () => {
  const { url } = await served({ SERVICE_BASE_PATH: BASE });
  for (const path of ['/guards/ui/', '/guard', '/guard?a=1', '/health']) {
    expect([path, (await exchange(url, { path })).status]).toEqual([
      path,
      path === '/guards/ui/' ? 404 : path === '/health' ? 200 : 302,
    ]);
  }
});

it('the login at an issuer goes out from below the path and comes back there', async () => {
  const issuer = await startIssuer();
  onTestFinished(() => issuer.stop());
  const { url } = await served({
    ...issuer.environment,
    SERVICE_OIDC_CLIENT_ID: 'dashboard',
    SERVICE_OIDC_CLIENT_SECRET: 'dashboard-secret',
    SERVICE_BASE_PATH: BASE,
  });
  const proxy = await proxied(url);
  const { json } = await exchange(proxy, { path: '/guard/api/config' });
  expect(json.sign_in.path).toBe('/guard/api/oidc/login');
  const begun = await exchange(proxy, { path: `${json.sign_in.path}?page=agents` });
  const redirectUrl = new URL(String(begun.headers.location)).searchParams.get('redirect_uri');
  expect(redirectUrl).toBe(`${proxy}/guard/api/oidc/callback`);
  expect(begun.headers['set-cookie']?.join()).toContain('; Path=/guard/api/oidc;');
  const back = await exchange(proxy, { path: '/guard/api/oidc/callback?error=access_denied' });
  expect(new URL(String(back.headers.location), String(redirectUrl)).pathname).toBe('/guard/ui/');
});

const name = existsSync(NGINX) ? 'through nginx' : `through nginx: NOT RUN, ${NGINX} is not installed`;
it.runIf(existsSync(NGINX))(name, async () => {
  const { url } = await served({ SERVICE_BASE_PATH: BASE });
  for (const target of ['/', '']) {
    const proxy = await throughNginx(url, target, '');
    await checkAddresses(proxy);
    await checkBrowser(proxy);
  }
  const trusting = await served({ SERVICE_TRUST_PROXY: 'loopback' });
  await checkAddresses(await throughNginx(trusting.url, '/', `proxy_set_header X-Forwarded-Prefix ${BASE};`));
});
