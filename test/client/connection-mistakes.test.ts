import { X509Certificate } from 'node:crypto';
import { readFileSync } from 'node:fs';
import path from 'node:path';
import { checkServerIdentity, type PeerCertificate } from 'node:tls';
import { Code, ConnectError } from '@connectrpc/connect';
import { createGrpcWebTransport } from '@connectrpc/connect-node';
import { describe, expect, it } from 'vitest';
import { explainedError } from '../../packages/client/src/connection-mistakes.js';
import { type AddressOptions, type Client, createClient } from '../../packages/client/src/node.js';
import { createClient as createBrowserClient } from '../../packages/client/src/web.js';
import { openedInTest } from '../support/opened.js';
import type { TestService } from '../support/service.js';
import { suiteService } from '../support/service-suite.js';
import { AGENT, asking, PATIENT_MS } from './client-harness.js';

const fixture = (name: string) => path.resolve(import.meta.dirname, '../fixtures/tls', name);
const CERT_FILE = fixture('test-only-server-cert.pem');
const CERT = readFileSync(CERT_FILE);

describe('createClient', () => {
  it.each([
    ['', 'baseUrl must begin with http:// or https://; for example http://localhost:8000'],
    [undefined, 'baseUrl must begin with http:// or https://; for example http://localhost:8000'],
    [
      'localhost:8000',
      'baseUrl must begin with http:// or https://, not "localhost:8000"; for example http://localhost:8000',
    ],
    [
      'user:planted@localhost',
      'baseUrl must begin with http:// or https://, not "…@localhost"; for example http://localhost:8000',
    ],
    [
      'grpc://localhost',
      'baseUrl must begin with http:// or https://, not "grpc://localhost"; for example http://localhost:8000',
    ],
    ['http://', 'baseUrl is not a URL: "http://"'],
    ['http://localhost:99999', 'baseUrl is not a URL: "http://localhost:99999"'],
    [
      'http://localhost:8000/api/v1',
      'baseUrl must have no path: use http://localhost:8000 instead of "http://localhost:8000/api/v1"',
    ],
    [
      'https://a.example/?x=1',
      'baseUrl must have no path: use https://a.example instead of "https://a.example/?x=1"',
    ],
    [
      'https://user:planted@a.example',
      'baseUrl must have no user name or password: use https://a.example, and apiKey',
    ],
  ])('refuses the address %j', (baseUrl, message) => {
    const make = () => createClient({ baseUrl } as AddressOptions);
    expect(make).toThrow(TypeError);
    expect(make).toThrow(message);
  });

  it.each(['http://localhost:8000', 'http://localhost:8000/', 'HTTPS://LocalHost', 'http://[::1]:1'])(
    'takes the address %s',
    (baseUrl) => createClient({ baseUrl }).close(),
  );

  it('reports in browsers that an address is missing, and in both what belongs to the transport', () => {
    expect(() => createBrowserClient({} as never)).toThrow(/baseUrl must begin with http/);
    const transport = createGrpcWebTransport({ baseUrl: 'http://localhost:8000', httpVersion: '1.1' });
    for (const create of [createBrowserClient, createClient]) {
      expect(() => create({ transport: undefined } as never)).toThrow(/transport is missing/);
      const options = { transport, interceptors: [] } as never;
      expect(() => create(options)).toThrow(
        'interceptors cannot be combined with transport: give it to the transport',
      );
    }
  });
});

describe('an evaluation', () => {
  const clients = openedInTest<Client>((one) => one.close());
  const plain = suiteService();
  const encrypted = suiteService({
    SERVICE_TLS_CERT_FILE: CERT_FILE,
    SERVICE_TLS_KEY_FILE: fixture('test-only-server-key.pem'),
  });

  /** Why it is refused. With its patience, a test of what is retried would not end. */
  async function refusal(client: Client): Promise<ConnectError> {
    clients.push(client);
    return client.evaluate(asking('hello')).then(
      () => expect.fail('it was evaluated'),
      (error: ConnectError) => error,
    );
  }
  const settings = { agent: AGENT, timeoutMs: PATIENT_MS, onUnavailable: 'allow' } as const;
  const address = (scheme: string, { port }: TestService) => `${scheme}://localhost:${port}`;

  it('over http to a service with TLS is refused at once with the cure', async () => {
    const baseUrl = address('http', encrypted);
    const { code, rawMessage } = await refusal(createClient({ ...settings, baseUrl }));
    expect([code, rawMessage]).toEqual([
      Code.FailedPrecondition,
      'the server speaks TLS: use https:// in baseUrl',
    ]);
  });

  it('over https to a service without TLS is refused at once with the cure', async () => {
    const baseUrl = address('https', plain);
    const cure = 'the server does not speak TLS: use http:// in baseUrl';
    const overGrpc = await refusal(createClient({ ...settings, baseUrl }));
    expect([overGrpc.code, overGrpc.rawMessage]).toEqual([Code.FailedPrecondition, cure]);
    const transport = createGrpcWebTransport({ baseUrl, httpVersion: '1.1' });
    const overWeb = await refusal(createClient({ ...settings, transport }));
    expect([overWeb.code, overWeb.rawMessage]).toEqual([Code.FailedPrecondition, cure]);
  });

  it('to a service with an unknown certificate is refused at once with the cure', async () => {
    const baseUrl = address('https', encrypted);
    const { code, rawMessage } = await refusal(createClient({ ...settings, baseUrl }));
    expect(code).toBe(Code.FailedPrecondition);
    // Later versions of Node.js add advice to the reason.
    expect(rawMessage).toMatch(
      /^certificate not trusted \(self-signed certificate[^)]*\): give `ca` the certificate of the server or of its authority$/,
    );
  });

  it('is answered when the certificate is given', async () => {
    const client = createClient({ ...settings, baseUrl: address('https', encrypted), ca: CERT });
    expect((await refusal(client)).code).toBe(Code.NotFound);
  });
});

describe('a certificate that is not valid', () => {
  const subjectaltname = new X509Certificate(CERT).subjectAltName;
  const otherName = checkServerIdentity('other.example', { subjectaltname } as PeerCertificate);
  const expired = Object.assign(new Error('certificate has expired'), { code: 'CERT_HAS_EXPIRED' });

  it.each([
    [otherName, /^certificate of the server not valid: .*other\.example/],
    [expired, /^certificate of the server not valid: certificate has expired$/],
  ])('is reported with its reason: %s', (reason, message) => {
    const wrapped = new ConnectError('broken', Code.Internal, undefined, undefined, reason);
    const { code, rawMessage } = explainedError(wrapped);
    expect(code).toBe(Code.FailedPrecondition);
    expect(rawMessage).toMatch(message);
  });
});

describe('any other error', () => {
  it('is left as it is', () => {
    const refused = Object.assign(new Error('connect ECONNREFUSED'), { code: 'ECONNREFUSED' });
    const circle: Error & { cause?: unknown } = new Error('a circle');
    circle.cause = circle;
    for (const reason of [refused, circle, undefined]) {
      const error = new ConnectError('broken', Code.Unavailable, undefined, undefined, reason);
      expect(explainedError(error)).toBe(error);
    }
  });
});
