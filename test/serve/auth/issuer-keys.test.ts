import { once } from 'node:events';
import http from 'node:http';
import type { AddressInfo } from 'node:net';
import { type CryptoKey, exportJWK, generateKeyPair, type JWK, SignJWT } from 'jose';
import { afterEach, beforeEach, describe, expect, it, onTestFinished } from 'vitest';
import type { OidcSettings } from '../../../src/contract/config/oidc-settings.js';
import type { ServiceError } from '../../../src/contract/errors/service-error.js';
import { createBearerTokens } from '../../../src/serve/auth/bearer-tokens.js';
import { ISSUER_TIMES, IssuerKeys, KeysUnavailableError } from '../../../src/serve/auth/issuer-keys.js';

/** What the issuer answers; a status other than 200 fails. */
let documents: { discovery: object; jwks: object; status: number };
let reads: number;
let server: http.Server;
let issuer: string;
let now: number;
let keys: IssuerKeys;
let problems: unknown[];

beforeEach(async () => {
  reads = 0;
  now = 1_000_000;
  problems = [];
  server = http.createServer((request, response) => {
    const isKeys = request.url === '/keys';
    if (isKeys) reads += 1;
    response.statusCode = documents.status;
    if (documents.status === 302) response.setHeader('location', `${issuer}/elsewhere`);
    response.end(JSON.stringify(isKeys ? documents.jwks : documents.discovery));
  });
  server.listen(0, 'localhost');
  await once(server, 'listening');
  issuer = `http://localhost:${(server.address() as AddressInfo).port}`;
  documents = { discovery: { issuer, jwks_uri: `${issuer}/keys` }, jwks: { keys: [] }, status: 200 };
  keys = new IssuerKeys({
    issuer,
    now: () => now,
    onChange: () => {},
    onProblem: (error) => problems.push(error),
  });
});
afterEach(() => {
  keys.close();
  server.closeAllConnections();
  server.close();
});

async function newKey(kid: string): Promise<{ readonly jwk: JWK; readonly privateKey: CryptoKey }> {
  const { publicKey, privateKey } = await generateKeyPair('ES256');
  return { jwk: { ...(await exportJWK(publicKey)), kid, alg: 'ES256' }, privateKey };
}
const header = (kid: string) => ({ alg: 'ES256', kid });

describe('the keys of an issuer', () => {
  it('are read once for many tokens, and again for unknown keys three times at once, then slowly', async () => {
    const one = await newKey('one');
    documents.jwks = { keys: [one.jwk] };
    await Promise.all(Array.from({ length: 20 }, () => keys.find(header('one'))));
    expect(reads).toBe(1);
    for (let index = 0; index < 20; index += 1) {
      await expect(keys.find(header(`unknown-${index}`))).rejects.toThrow('no applicable key');
    }
    expect(reads).toBe(4);
    documents.jwks = { keys: [one.jwk, (await newKey('two')).jwk] };
    await expect(keys.find(header('two'))).rejects.toThrow('no applicable key');
    now += ISSUER_TIMES.unknownKeyMs;
    await keys.find(header('two'));
    expect(reads).toBe(5);
  });

  it('are used while the issuer is away, until they are too old', async () => {
    documents.jwks = { keys: [(await newKey('one')).jwk] };
    await keys.find(header('one'));
    documents.status = 500;
    await expect(keys.find(header('two'))).rejects.toThrow(KeysUnavailableError);
    now += ISSUER_TIMES.maxAgeMs;
    await keys.find(header('one'));
    now += 1;
    await expect(keys.find(header('one'))).rejects.toThrow(KeysUnavailableError);
    expect(problems).not.toEqual([]);
  });

  const unusable: Record<string, () => void> = {
    'of another issuer': () => Object.assign(documents.discovery, { issuer: `${issuer}/` }),
    'with keys at an address without TLS': () =>
      Object.assign(documents.discovery, { jwks_uri: 'http://keys.example/keys' }),
    'that redirects': () => Object.assign(documents, { status: 302 }),
    'that is a list': () => Object.assign(documents, { discovery: [] }),
    'without keys': () => Object.assign(documents, { jwks: { keys: 'none' } }),
    'that is too large': () => Object.assign(documents, { jwks: { keys: [], more: 'x'.repeat(1_100_000) } }),
  };
  it.each(Object.keys(unusable))('are not taken from a document %s', async (name) => {
    unusable[name]?.();
    await expect(keys.find(header('one'))).rejects.toThrow(KeysUnavailableError);
    expect(problems).toHaveLength(1);
    // Not each token makes the service ask again.
    await expect(keys.find(header('one'))).rejects.toThrow(KeysUnavailableError);
    expect(problems).toHaveLength(1);
    now += ISSUER_TIMES.urgentMs;
    documents = { discovery: { issuer, jwks_uri: `${issuer}/keys` }, jwks: { keys: [] }, status: 200 };
    await expect(keys.find(header('one'))).rejects.toThrow('no applicable key');
  });
});

describe('verified tokens', () => {
  const settings = (): OidcSettings => ({
    issuer,
    audience: 'controls',
    rights: {
      rolesClaim: 'realm_access.roles',
      adminRoles: ['chief'],
      regularRoles: '*',
      agentsClaim: null,
      roleMap: [],
      namespaceClaim: null,
      nameClaim: 'https://example.com/name',
    },
    clockToleranceMs: 5_000,
    login: null,
  });
  const startMs = Date.parse('2026-01-01T00:00:00Z');
  const token = async (privateKey: CryptoKey, claims: object = {}) =>
    new SignJWT({
      iss: issuer,
      aud: ['others', 'controls'],
      sub: 'someone',
      exp: startMs / 1000 + 60,
      ...claims,
    })
      .setProtectedHeader({ alg: 'ES256', kid: 'one', typ: 'at+jwt' })
      .sign(privateKey);

  it('are known until they expire, and were no guesses then', async () => {
    const { jwk, privateKey } = await newKey('one');
    documents.jwks = { keys: [jwk] };
    let time = startMs;
    const tokens = createBearerTokens({ settings: settings(), keys, now: () => time });
    onTestFinished(() => tokens.close());
    const one = await token(privateKey, {
      realm_access: { roles: ['x', 'chief'] },
      'https://example.com/name': 'A Name',
    });
    expect([tokens.isUnverified(one), tokens.find(one)]).toEqual([true, undefined]);
    await tokens.verify(one);
    expect(tokens.isUnverified(one)).toBe(false);
    expect(tokens.find(one)).toMatchObject({
      level: 'admin',
      name: 'A Name',
      agents: null,
      expiresAtMs: startMs + 65_000,
    });
    time += 64_999;
    expect(tokens.find(one)).toBeDefined();
    time += 1;
    expect([tokens.find(one), tokens.wasValid(one), tokens.isUnverified(one)]).toEqual([
      undefined,
      true,
      true,
    ]);
    await expect(tokens.verify(one)).rejects.toThrow('expired');
  });

  it('are verified again when the keys have changed', async () => {
    const { jwk, privateKey } = await newKey('one');
    documents.jwks = { keys: [jwk] };
    const tokens = createBearerTokens({ settings: settings(), keys, now: () => startMs });
    onTestFinished(() => tokens.close());
    const one = await token(privateKey);
    const verifying = tokens.verify(one);
    tokens.forget();
    await verifying;
    expect(tokens.find(one)).toMatchObject({ level: 'key', name: 'someone' });
    tokens.forget();
    expect([tokens.find(one), tokens.isUnverified(one)]).toEqual([undefined, true]);
  });

  it('are told from keys: a text is a token only with three parts and an algorithm', () => {
    const tokens = createBearerTokens({ settings: settings(), keys, now: () => startMs });
    const base64url = (value: unknown) => Buffer.from(JSON.stringify(value)).toString('base64url');
    const made = (first: unknown) => `${base64url(first)}.${base64url({})}.c2ln`;
    expect(tokens.isUnverified(made({ alg: 'RS256' }))).toBe(true);
    for (const key of [
      'a-key',
      'eyJ',
      'eyJhbGciOiJSUzI1NiJ9.e30',
      `${made({ alg: 'RS256' })}.more`,
      made({ kid: 'one' }),
      made({ alg: 1 }),
      made('alg'),
      `${made({ alg: 'RS256' })}=`,
    ]) {
      expect(tokens.isUnverified(key)).toBe(false);
    }
    tokens.close();
  });

  it.each([
    ['a subject with a line break', { sub: 'a\nb' }, 'AUTH_INSUFFICIENT_PRIVILEGES'],
    ['an empty subject', { sub: '' }, 'AUTH_INVALID_KEY'],
    ['an expiry that is a text', { exp: 'never' }, 'AUTH_INVALID_KEY'],
  ])('have no %s', async (_what, claims, code) => {
    const { jwk, privateKey } = await newKey('one');
    documents.jwks = { keys: [jwk] };
    const tokens = createBearerTokens({ settings: settings(), keys, now: () => startMs });
    const refusal = await tokens
      .verify(await token(privateKey, claims))
      .catch((error: ServiceError) => error.code);
    expect(refusal).toBe(code);
    tokens.close();
  });
});
