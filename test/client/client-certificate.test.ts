import { createPrivateKey } from 'node:crypto';
import { readFileSync } from 'node:fs';
import path from 'node:path';
import { Code, ConnectError } from '@connectrpc/connect';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { type Client, createClient } from '../../packages/client/src/node.js';
import { createKeysFile } from '../support/keys-file.js';
import { suiteService } from '../support/service-suite.js';
import { AGENT } from './client-harness.js';

const file = (name: string) => path.resolve(import.meta.dirname, '../fixtures/tls', `test-only-${name}.pem`);
const ca = readFileSync(file('server-cert'));
const of = (client: string) => ({
  cert: readFileSync(file(`client-${client}-cert`)),
  key: readFileSync(file(`client-${client}-key`)),
});

describe('a client with a certificate', () => {
  const keys = createKeysFile([{ name: 'host', certificate: 'URI:spiffe://test/agent-host', role: 'admin' }]);

  const clients: Client[] = [];
  const open = (more: object): Client => {
    const client = createClient({ baseUrl: service.url, agent: AGENT, ca, timeoutMs: 300_000, ...more });
    clients.push(client);
    return client;
  };
  const evaluate = (client: Client) =>
    client.evaluate({ stage: 'pre', step: { name: 'send_mail', input: { text: 'hello' } } });
  const service = suiteService({
    ...keys.environment,
    SERVICE_TLS_CERT_FILE: file('server-cert'),
    SERVICE_TLS_KEY_FILE: file('server-key'),
    SERVICE_TLS_CLIENT_CA_FILE: file('client-ca'),
  });
  beforeAll(async () => {
    await open(of('uri')).agents.initAgent({ agent: { agentName: AGENT }, steps: [] });
  });
  afterAll(async () => {
    for (const client of clients) client.close();
    keys.remove();
  });

  it('needs no key if the keys file has a name of its certificate', async () => {
    const client = open(of('uri'));
    expect(await evaluate(client)).toMatchObject({ evaluated: true, isSafe: true });
    const send = client.guard(({ text }: { text: string }) => `sent ${text}`, {
      step: 'send_mail',
      onUnchecked: () => {},
    });
    expect(await send({ text: 'hello' })).toBe('sent hello');
  });

  it('may have an encrypted private key, as text or bytes', async () => {
    const { cert, key } = of('uri');
    const passphrase = 'only for this test';
    const encrypted = createPrivateKey(key).export({
      type: 'pkcs8',
      format: 'pem',
      cipher: 'aes-256-cbc',
      passphrase,
    });
    const client = open({ cert: cert.toString(), key: encrypted, passphrase });
    expect(await evaluate(client)).toMatchObject({ evaluated: true });
  });

  it.each(['foreign', 'cn'])('is refused with a certificate that is not known: %s', async (name) => {
    const error = ConnectError.from(await evaluate(open(of(name))).catch((reason) => reason));
    expect(error.code).toBe(Code.Unauthenticated);
  });

  it('is refused without its private key, before it connects', () => {
    expect(() => open({ cert: of('uri').cert })).toThrow('cert and key need each other');
  });
});
