import { copyFileSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import http2 from 'node:http2';
import https from 'node:https';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { connect as connectTls, type TLSSocket } from 'node:tls';
import { createClient } from '@connectrpc/connect';
import { createGrpcTransport } from '@connectrpc/connect-node';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { AgentService } from '../../../gen/proto/enforcement/v1/agent_service_pb.js';
import { createKeysFile, type KeyEntry, type TestKeysFile } from '../../support/keys-file.js';
import { metric, parseMetrics } from '../../support/prometheus.js';
import { startService, type TestService } from '../../support/service.js';
import { until } from '../../support/until.js';

const fixture = (name: string) =>
  path.resolve(import.meta.dirname, '../../fixtures/tls', `test-only-${name}.pem`);
const SERVER = readFileSync(fixture('server-cert'));
const OTHER = readFileSync(fixture('other-cert'));
/** Certificates are compared byte by byte: both fixtures have the same name, so that a chain is built by chance. */
const ANY = { rejectUnauthorized: false };

let folder: string;
let service: TestService;
let keys: TestKeysFile | undefined;
const inFolder = (name: string) => path.join(folder, name);

beforeEach(() => {
  folder = mkdtempSync(path.join(tmpdir(), 'certificates-'));
});
afterEach(async () => {
  await service.stop();
  rmSync(folder, { recursive: true, force: true });
  keys?.remove();
  keys = undefined;
});

function use(name: 'server' | 'other'): void {
  copyFileSync(fixture(`${name}-cert`), inFolder('cert.pem'));
  copyFileSync(fixture(`${name}-key`), inFolder('key.pem'));
}

async function start(environment: Record<string, string> = {}): Promise<void> {
  use('server');
  service = await startService({
    SERVICE_TLS_CERT_FILE: inFolder('cert.pem'),
    SERVICE_TLS_KEY_FILE: inFolder('key.pem'),
    ...environment,
  });
}

/** The certificate of a new handshake. */
function presented(protocol: 'h2' | 'http/1.1'): Promise<Buffer> {
  return new Promise((resolve, reject) => {
    const socket: TLSSocket = connectTls(
      { port: service.port, host: '127.0.0.1', ...ANY, ALPNProtocols: [protocol] },
      () => {
        resolve(socket.getPeerX509Certificate()?.raw ?? Buffer.alloc(0));
        socket.destroy();
      },
    );
    socket.on('error', reject);
  });
}
const derOf = (pem: Buffer) => Buffer.from(String(pem).replace(/-----[^-]+-----|\s/g, ''), 'base64');

async function reloads(result: string): Promise<number> {
  const text = await new Promise<string>((resolve, reject) => {
    https
      .get(`${service.url}/metrics`, { ...ANY, agent: false }, async (response) => {
        let body = '';
        for await (const chunk of response) body += chunk;
        resolve(body);
      })
      .on('error', reject);
  });
  return metric(parseMetrics(text), 'control_enforcement_server_file_reloads_total', { file: 'tls', result });
}

describe('a changed certificate', () => {
  it('is that of new connections of both versions of HTTP; connections before it go on', async () => {
    await start();
    const session = http2.connect(service.url, ANY);
    const ask = () =>
      new Promise<number>((resolve, reject) => {
        const stream = session.request({ ':path': '/health' });
        stream.on('error', reject);
        stream.on('response', (headers) => resolve(headers[':status'] ?? 0));
        stream.resume();
      });
    expect(await ask()).toBe(200);
    use('other');
    await until(
      () => presented('h2'),
      (found) => found.equals(derOf(OTHER)),
    );
    expect(await presented('http/1.1')).toEqual(derOf(OTHER));
    expect(await ask()).toBe(200);
    session.close();
    expect(await reloads('used')).toBe(1);
  });

  it('is not used without its key, which is said', async () => {
    await start();
    copyFileSync(fixture('other-cert'), inFolder('cert.pem'));
    await until(
      () => reloads('refused'),
      (count) => count === 1,
    );
    expect(await presented('h2')).toEqual(derOf(SERVER));
    writeFileSync(inFolder('cert.pem'), 'no certificate');
    await until(
      () => reloads('refused'),
      (count) => count === 2,
    );
    expect(await presented('h2')).toEqual(derOf(SERVER));
    const told = service.logLines.filter((line) => line.includes('TLS files cannot be used')).join();
    expect(told).toContain('does not belong to the certificate');
    expect(told).not.toContain('PRIVATE KEY');
    use('other');
    await until(
      () => presented('h2'),
      (found) => found.equals(derOf(OTHER)),
    );
    expect([await reloads('used'), await reloads('refused')]).toEqual([1, 2]);
  });
});

describe('a client certificate', () => {
  const HOST: KeyEntry = { name: 'host', certificate: 'URI:spiffe://test/agent-host', role: 'admin' };
  const DNS: KeyEntry = { name: 'by-dns', certificate: 'DNS:agent-host.test', role: 'regular' };
  const COMMON: KeyEntry = { name: 'by-cn', certificate: 'CN:test-only.common', role: 'regular' };
  const KEY: KeyEntry = { name: 'key', key: 'a-key', role: 'admin' };
  type Client = 'uri' | 'dns' | 'cn' | 'odd' | 'foreign' | null;

  async function startMutual(mode: 'optional' | 'required', entries: readonly KeyEntry[]): Promise<void> {
    keys = createKeysFile(entries);
    await start({
      ...keys.environment,
      SERVICE_TLS_CLIENT_CA_FILE: fixture('client-ca'),
      SERVICE_TLS_CLIENT_CERTIFICATES: mode,
    });
  }
  const credentialsOf = (client: Client) =>
    client === null
      ? {}
      : {
          cert: readFileSync(fixture(`client-${client}-cert`)),
          key: readFileSync(fixture(`client-${client}-key`)),
        };

  /** The status of a read and of a change that needs an admin; null without a connection. */
  async function rights(client: Client, headers: Record<string, string> = {}): Promise<(number | null)[]> {
    const ask = (method: string, at: string): Promise<number | null> =>
      new Promise((resolve) => {
        const options = { method, ca: SERVER, agent: false as const, headers, ...credentialsOf(client) };
        const request = https.request(`${service.url}/api/v1${at}`, options, (response) => {
          response.resume();
          resolve(response.statusCode ?? 0);
        });
        request.on('error', () => resolve(null));
        request.end();
      });
    return [await ask('GET', '/agents'), await ask('DELETE', '/agents/unknown-agent-1')];
  }

  it('counts as the key with its name', async () => {
    await startMutual('optional', [HOST, DNS, KEY]);
    expect(await rights('uri')).toEqual([200, 404]);
    expect(await rights('dns')).toEqual([200, 403]);
    // No name of theirs is in the file, or they are not of these authorities.
    expect(await rights('cn')).toEqual([401, 401]);
    expect(await rights('odd')).toEqual([401, 401]);
    expect(await rights('foreign')).toEqual([401, 401]);
    expect(await rights(null)).toEqual([401, 401]);
    // A key counts more, a wrong one too.
    expect(await rights('dns', { 'x-api-key': 'a-key' })).toEqual([200, 404]);
    expect(await rights('uri', { 'x-api-key': 'wrong' })).toEqual([401, 401]);
    expect(await rights(null, { 'x-api-key': 'a-key' })).toEqual([200, 404]);
    // A page of another origin must not use the certificate of its user.
    expect(await rights('uri', { origin: 'https://attacker.example' })).toEqual([200, 401]);
    const transport = createGrpcTransport({
      baseUrl: service.url,
      nodeOptions: { ca: SERVER, ...credentialsOf('uri') },
    });
    expect((await createClient(AgentService, transport).listAgents({})).agents).toEqual([]);
  });

  it('has a common name, unless it has several; other names come first', async () => {
    await startMutual('optional', [COMMON, { ...HOST, role: 'admin' }]);
    expect(await rights('cn')).toEqual([200, 403]);
    expect(await rights('dns')).toEqual([200, 403]);
    expect(await rights('uri')).toEqual([200, 404]);
    expect(await rights('odd')).toEqual([401, 401]);
  });

  it('is withdrawn with its entry, also on open connections', async () => {
    await startMutual('optional', [HOST, KEY]);
    const session = http2.connect(service.url, { ca: SERVER, ...credentialsOf('uri') });
    const ask = () =>
      new Promise<number>((resolve, reject) => {
        const stream = session.request({ ':path': '/api/v1/agents' });
        stream.on('error', reject);
        stream.on('response', (headers) => resolve(headers[':status'] ?? 0));
        stream.resume();
      });
    expect(await ask()).toBe(200);
    keys?.set([KEY]);
    await until(ask, (status) => status === 401);
    session.close();
  });

  it('may be required: without one there is no connection', async () => {
    await startMutual('required', [HOST, KEY]);
    expect(await rights('uri')).toEqual([200, 404]);
    expect(await rights('cn', { 'x-api-key': 'a-key' })).toEqual([200, 404]);
    expect(await rights('foreign', { 'x-api-key': 'a-key' })).toEqual([null, null]);
    expect(await rights(null, { 'x-api-key': 'a-key' })).toEqual([null, null]);
  });
});
