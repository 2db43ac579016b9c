import { createHmac } from 'node:crypto';
import fc from 'fast-check';
import { SignJWT, UnsecuredJWT } from 'jose';
import { describe, expect, it } from 'vitest';
import { ServiceError } from '../../../src/contract/errors/service-error.js';
import type { TokenClaims } from '../../../src/serve/runtime-tokens/token-claims.js';
import {
  createTokenCodec,
  isRuntimeToken,
  MAX_TOKEN_LENGTH,
} from '../../../src/serve/runtime-tokens/token-codec.js';

const SECRET = 'first-secret-of-at-least-32-bytes';
const OLD_SECRET = 'other-secret-of-at-least-32-bytes';
const NOW = 1_800_000_000;
const CLAIMS: TokenClaims = {
  namespace: 'payments',
  actor: 'billing',
  origin: 'key',
  fingerprint: '0123456789ab',
  agents: null,
  targetType: 'log_stream',
  targetId: 'prod "é" 🙂',
  issuedAt: NOW,
  expiresAt: NOW + 300,
  id: '1c0f6b0e-8d0e-4c2a-9a53-1ad0c1b9a001',
};
const PAYLOAD = {
  iss: 'control-enforcement',
  domain: 'runtime',
  namespace_key: 'payments',
  actor_id: 'billing',
  target_type: 'log_stream',
  target_id: 'prod',
  scopes: ['runtime.use'],
  iat: NOW,
  exp: NOW + 300,
  jti: 'an-id',
  origin: 'key',
  fingerprint: '0123456789ab',
};
const codec = createTokenCodec([SECRET, OLD_SECRET]);

/** A token with any payload and a right signature. */
function signed(payload: unknown, header: object = { alg: 'HS256', typ: 'JWT' }, secret = SECRET): string {
  const text = typeof payload === 'string' ? payload : JSON.stringify(payload);
  const parts = [JSON.stringify(header), text]
    .map((part) => Buffer.from(part).toString('base64url'))
    .join('.');
  return `${parts}.${createHmac('sha256', secret).update(parts).digest('base64url')}`;
}

/** The reason why a token is refused; undefined if it is taken. Everything but an error of the call fails the test. */
function reasonOf(token: string, now = NOW): string | undefined {
  try {
    codec.verify(token, now);
    return undefined;
  } catch (error) {
    if (!(error instanceof ServiceError)) throw error;
    expect(error.code).toBe('AUTH_INVALID_KEY');
    expect(error.options.challenge).toBe('Bearer error="invalid_token"');
    return /^Invalid runtime token: it (.+)\.$/.exec(error.message)?.[1] ?? error.message;
  }
}

describe('a runtime token', () => {
  it('has the claims that deployed clients and proxies read', async () => {
    const token = codec.sign(CLAIMS);
    const [header = '', payload = ''] = token
      .split('.')
      .map((part) => Buffer.from(part, 'base64url').toString());
    expect(JSON.parse(header)).toEqual({ alg: 'HS256', typ: 'JWT' });
    expect(JSON.parse(payload)).toEqual({ ...PAYLOAD, target_id: CLAIMS.targetId, jti: CLAIMS.id });
  });
  it('comes back as it was signed, with agents and with the longest texts', () => {
    const long = {
      ...CLAIMS,
      targetType: '界'.repeat(255),
      targetId: '🙂'.repeat(127),
      agents: ['support-*', 'b'],
    };
    for (const claims of [CLAIMS, long, { ...CLAIMS, origin: 'grant' as const, agents: ['a-*'] }])
      expect(codec.verify(codec.sign(claims), NOW)).toEqual(claims);
  });
  it('is verified with either secret, and signed with the first one', () => {
    const [first, second] = [createTokenCodec([SECRET]), createTokenCodec([OLD_SECRET])];
    expect(codec.verify(second.sign(CLAIMS), NOW)).toEqual(CLAIMS);
    expect(first.verify(codec.sign(CLAIMS), NOW)).toEqual(CLAIMS);
    expect(() => second.verify(codec.sign(CLAIMS), NOW)).toThrow('has a wrong signature');
  });
  it('is taken from another implementation of JWT', async () => {
    const made = await new SignJWT(PAYLOAD)
      .setProtectedHeader({ alg: 'HS256', typ: 'JWT' })
      .sign(new TextEncoder().encode(SECRET));
    expect(codec.verify(made, NOW)).toMatchObject({ namespace: 'payments', targetId: 'prod' });
    expect(isRuntimeToken(made)).toBe(true);
  });
});

describe('a forged token', () => {
  it('without a signature is refused', () => {
    expect(reasonOf(new UnsecuredJWT(PAYLOAD).encode())).toMatch(/^is not one of this service/);
    const [header, payload] = codec.sign(CLAIMS).split('.');
    expect(reasonOf(`${header}.${payload}.`)).toBe('is malformed');
    expect(reasonOf(`${header}.${payload}`)).toBe('is malformed');
    expect(reasonOf(`${header}`)).toMatch(/^is not one of this service/);
  });
  it.each(['none', 'None', 'RS256', 'HS512', 'ES256', 'hs256'])('of the algorithm %s is refused', (alg) => {
    expect(reasonOf(signed(PAYLOAD, { alg, typ: 'JWT' }))).toMatch(/^is not one of this service/);
  });
  it('with further members in its header is refused: none of them is read', () => {
    for (const more of [{ crit: ['b64'], b64: false }, { jwk: {} }, { kid: 'x' }])
      expect(reasonOf(signed(PAYLOAD, { alg: 'HS256', typ: 'JWT', ...more }))).toMatch(/^is not one of this/);
  });
  it('with another secret, another payload or another text of its signature is refused', () => {
    expect(reasonOf(signed(PAYLOAD, undefined, `${SECRET}.`))).toBe('has a wrong signature');
    const [header, , signature = ''] = signed(PAYLOAD).split('.');
    const other = Buffer.from(JSON.stringify({ ...PAYLOAD, target_id: 'other' })).toString('base64url');
    expect(reasonOf(`${header}.${other}.${signature}`)).toBe('has a wrong signature');
    const token = signed(PAYLOAD);
    // The last character has bits that count for nothing.
    const last = token.at(-1) ?? '';
    const twin = String.fromCharCode(last.charCodeAt(0) + 1);
    expect(reasonOf(token.slice(0, -1) + twin)).toBe('has a wrong signature');
    expect(reasonOf(`${token}=`)).toBe('is malformed');
  });
  it('is refused whatever character of it was changed', () => {
    const token = codec.sign(CLAIMS);
    fc.assert(
      fc.property(fc.nat(token.length - 1), fc.string({ minLength: 1, maxLength: 1 }), (at, character) => {
        fc.pre(token[at] !== character);
        expect(reasonOf(token.slice(0, at) + character + token.slice(at + 1))).toBeDefined();
      }),
    );
  });
  it('that is too long is refused before its signature is computed', () => {
    const token = signed({ ...PAYLOAD, more: 'x'.repeat(MAX_TOKEN_LENGTH) });
    expect(reasonOf(token)).toBe(`has more than ${MAX_TOKEN_LENGTH} characters`);
  });
  it('never causes another error than that of the call', () => {
    fc.assert(fc.property(fc.string(), (text) => reasonOf(text) !== undefined));
    fc.assert(fc.property(fc.json(), (text) => reasonOf(signed(text)) !== undefined));
  });
});

describe('the claims of a signed token', () => {
  const without = (name: string) =>
    Object.fromEntries(Object.entries(PAYLOAD).filter(([key]) => key !== name));

  it.each(Object.keys(PAYLOAD))('must have %s', (name) => {
    expect(reasonOf(signed(PAYLOAD))).toBeUndefined();
    expect(reasonOf(signed(without(name)))).toContain(name);
    for (const value of [null, '', 0, true, [], {}, -1, 1.5, '\u0000'.repeat(300)])
      expect(reasonOf(signed({ ...PAYLOAD, [name]: value }))).toContain(name);
  });
  it.each(['aud', 'nbf', 'cnf', 'crit'])('must not have %s, which would restrict the token', (name) => {
    expect(reasonOf(signed({ ...PAYLOAD, [name]: NOW }))).toBe(
      `has the claim ${name}, which is not read here`,
    );
  });
  it('must be for this issuer, this domain and this scope', () => {
    expect(reasonOf(signed({ ...PAYLOAD, iss: 'another' }))).toBe('is of another issuer (iss)');
    expect(reasonOf(signed({ ...PAYLOAD, domain: 'management' }))).toContain('another domain');
    expect(reasonOf(signed({ ...PAYLOAD, scopes: ['controls.read'] }))).toContain('scope runtime.use');
    expect(reasonOf(signed({ ...PAYLOAD, scopes: 'runtime.use' }))).toContain('scope runtime.use');
  });
  it('must not name a member twice: which one counts would depend on the reader', () => {
    const text = JSON.stringify(PAYLOAD);
    expect(reasonOf(signed(text.replace('{', '{"target_id":"a",')))).toBe('is malformed');
  });
  it('must name agents that can be', () => {
    const taken = { ...PAYLOAD, origin: 'grant', agents: ['support-*'] };
    expect(reasonOf(signed(taken))).toBeUndefined();
    for (const agents of [[], [''], ['a*b*'], [1], 'support-*', ['A B']])
      expect(reasonOf(signed({ ...taken, agents }))).toBe('has no valid claim agents');
  });
  it('must not last longer than a day', () => {
    expect(reasonOf(signed({ ...PAYLOAD, exp: NOW + 86_400 }))).toBeUndefined();
    expect(reasonOf(signed({ ...PAYLOAD, exp: NOW + 86_401 }))).toContain('lasts longer than 86400 seconds');
    expect(reasonOf(signed({ ...PAYLOAD, exp: NOW }))).toContain('not at all');
  });
  it('may be a minute ahead, as clocks differ, and not more, which the reason tells', () => {
    expect(reasonOf(signed(PAYLOAD), NOW - 60)).toBeUndefined();
    expect(reasonOf(signed(PAYLOAD), NOW - 61)).toContain('61 seconds in the future (iat): the clocks');
    expect(reasonOf(signed(PAYLOAD), NOW - 600)).toContain('600 seconds in the future (iat): the clocks');
  });
});
