import { execFile } from 'node:child_process';
import path from 'node:path';
import { pathToFileURL } from 'node:url';
import { promisify } from 'node:util';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { freePort } from '../../../scripts/postgres-server.mjs';
import { type RedisServer, startRedisServer } from '../../../scripts/redis-server.mjs';
import { compiledTree } from '../../support/service-process.js';

const fixture = (name: string) =>
  path.resolve(import.meta.dirname, `../../fixtures/tls/test-only-server-${name}.pem`);
const [certificate, key] = [fixture('cert'), fixture('key')];

/** Opens the store of a URL, and writes the length of the key of the hashes, or the message of the error. */
const OPENS = `
  const { createRedisMemoryStore } = await import(process.env.STORE);
  const options = { url: process.env.URL_OF_STORE, volatile: 'refuse', timeoutMs: 300_000, onVolatile() {} };
  const store = createRedisMemoryStore(options);
  const text = await store.open().then(({ hashKey }) => 'key of ' + hashKey.length, ({ message }) => message);
  await store.close();
  process.stdout.write(text);`;

describe('A server of Redis with TLS, whose certificate it has signed itself', () => {
  let server: RedisServer;
  let place: string;

  /** Another process may take the port between our look and the start of the server. */
  async function startOnFreePort(attemptsLeft: number): Promise<void> {
    const port = await freePort();
    const flags = [
      ...['--tls-port', String(port), '--tls-auth-clients', 'no'],
      ...['--tls-cert-file', certificate, '--tls-key-file', key],
    ];
    try {
      server = await startRedisServer({ flags });
      place = `127.0.0.1:${port}`;
    } catch (error) {
      if (attemptsLeft <= 1) throw error;
      await startOnFreePort(attemptsLeft - 1);
    }
  }

  beforeAll(() => startOnFreePort(5));
  afterAll(async () => {
    await server?.stop();
  });

  /** In a process of its own: Node reads the authorities when it starts. */
  async function opened(url: string, environment: NodeJS.ProcessEnv = {}): Promise<string> {
    const module = path.join(path.dirname(compiledTree.main), '../packages/memory-redis/src/index.js');
    const env = { ...process.env, STORE: pathToFileURL(module).href, URL_OF_STORE: url, ...environment };
    const words = ['--input-type=module', '--eval', OPENS];
    return (await promisify(execFile)(process.execPath, words, { env })).stdout;
  }

  it('is used with rediss:// if its authority comes with NODE_EXTRA_CA_CERTS', async () => {
    expect(await opened(`rediss://${place}`, { NODE_EXTRA_CA_CERTS: certificate })).toBe('key of 32');
  });

  it('is not trusted otherwise', async () => {
    expect(await opened(`rediss://${place}`)).toMatch(/^Redis at 127\.0\.0\.1:\d+: self.signed certificate/);
  });

  it('does not answer redis://', async () => {
    expect(await opened(`redis://${place}`, { NODE_EXTRA_CA_CERTS: certificate })).toMatch(/^Redis at /);
  });
});
