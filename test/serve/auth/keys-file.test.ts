import { createHash } from 'node:crypto';
import fc from 'fast-check';
import { afterEach, describe, expect, it, vi } from 'vitest';
import { ANONYMOUS } from '../../../src/contract/call/handler.js';
import { DEFAULT_NAMESPACE } from '../../../src/contract/call/namespace.js';
import { scopesOf, scopesOfRole } from '../../../src/contract/call/scopes.js';
import { alternativeNames } from '../../../src/serve/auth/client-certificate.js';
import { KeyRing } from '../../../src/serve/auth/key-ring.js';
import { KeysFileError, readKeysFile } from '../../../src/serve/auth/keys-file.js';
import { certificateId, fingerprintOf, type KnownKey } from '../../../src/serve/auth/known-key.js';

const SECRET = 'planted-s3cret';
const sha256 = (text: string) => createHash('sha256').update(text).digest('hex');
const ENTRY = { name: 'billing', key: 'a-key', role: 'regular' };

function read(value: unknown, others: readonly KnownKey[] = []): KnownKey[] {
  return readKeysFile(Buffer.from(typeof value === 'string' ? value : JSON.stringify(value)), others);
}

/** The problems of a file; undefined if it can be used. */
function problemOf(value: unknown, others: readonly KnownKey[] = []): string | undefined {
  try {
    read(value, others);
    return undefined;
  } catch (error) {
    if (error instanceof KeysFileError) return error.message;
    throw error;
  }
}

function ringOf(value: unknown, now?: () => number): KeyRing {
  const ring = new KeyRing({ keys: ['of-a-variable'], adminKeys: [] }, now);
  ring.replace(read(value, ring.fixed));
  return ring;
}

afterEach(() => vi.useRealTimers());

describe('a keys file', () => {
  it('gives keys names, roles and agents', () => {
    const ring = ringOf({
      keys: [
        ENTRY,
        { name: 'root', sha256: sha256('hashed').toUpperCase(), role: 'admin' },
        {
          name: 'limited',
          key: 'limited',
          role: 'regular',
          agents: ['Support-Bot-1', 'billing-*', '*-shared'],
        },
      ],
    });
    expect(ring.find('a-key')?.principal).toEqual({
      level: 'key',
      keyFingerprint: fingerprintOf('a-key'),
      name: 'billing',
      agents: null,
      namespace: DEFAULT_NAMESPACE,
      scopes: scopesOfRole('regular'),
      role: 'regular',
      target: null,
    });
    expect(ring.find('hashed')?.principal).toMatchObject({ level: 'admin', name: 'root' });
    expect(ring.find('of-a-variable')?.principal).toMatchObject({ level: 'key', name: null, agents: null });
    expect(ring.find(sha256('hashed'))).toBeUndefined();
    const agents = ring.find('limited')?.principal.agents;
    const allowed = ['support-bot-1', ' SUPPORT-bot-1 ', 'billing-', 'billing-x', 'a-shared'];
    for (const name of allowed) expect(agents?.allows(name)).toBe(true);
    for (const name of ['support-bot-12', 'xbilling-', 'shared', '', 1, null, undefined, ['billing-x']])
      expect(agents?.allows(name)).toBe(false);
  });

  it('gives keys any role, or scopes that they list, in a namespace', () => {
    const ring = ringOf({
      keys: [
        { name: 'reader', key: 'reader', role: 'viewer', namespace: 'payments' },
        { name: 'own', key: 'own', scopes: ['evaluate', 'agents.self'] },
        { name: 'boss', key: 'boss', role: 'operator', namespace: null },
      ],
    });
    const reader = ring.find('reader')?.principal;
    expect(reader).toMatchObject({ level: 'key', role: 'viewer', namespace: { name: 'payments' } });
    expect(scopesOf(reader?.scopes ?? 0n)).not.toContain('evaluate');
    const own = ring.find('own')?.principal;
    expect(own).toMatchObject({ level: 'key', role: null, namespace: { name: 'default' } });
    expect(scopesOf(own?.scopes ?? 0n)).toEqual(['agents.self', 'evaluate']);
    expect(ring.find('boss')?.principal).toMatchObject({ level: 'admin', role: 'operator' });
  });

  it('gives a key that changes its role, its scopes or its namespace another principal', () => {
    const ring = ringOf({ keys: [ENTRY] });
    const before = ring.find('a-key')?.principal;
    for (const change of [
      { role: 'viewer' },
      { role: undefined, scopes: ['evaluate'] },
      { namespace: 'payments' },
    ]) {
      ring.replace(read({ keys: [{ ...ENTRY, ...change }] }, ring.fixed));
      expect(ring.isCurrent(before ?? ANONYMOUS)).toBe(false);
      ring.replace(read({ keys: [ENTRY] }, ring.fixed));
    }
  });

  it('may have no keys: all of them are withdrawn', () => {
    expect(problemOf({ keys: [] })).toBeUndefined();
  });

  it.each([
    ['', 'not JSON at line 1, column 1'],
    ['{"keys": [', 'not JSON at line 1'],
    [`["${SECRET}"`, 'not JSON'],
    [[], 'must be an object with the list "keys"'],
    [{ keys: {} }, 'must be an object with the list "keys"'],
    [{ keys: [], [SECRET]: 1 }, 'has a member other than "keys"'],
    [{ keys: [SECRET] }, 'keys[0]: must be an object'],
    [{ keys: [ENTRY, { ...ENTRY, key: 'b', name: '' }] }, 'keys[1].name: must be a text of 1 to 128'],
    [{ keys: [{ ...ENTRY, name: 'a\nb' }] }, 'keys[0].name: '],
    [
      { keys: [{ ...ENTRY, role: 'Admin' }] },
      'keys[0].role: must be one of agent, viewer, approver, regular, editor, admin, operator',
    ],
    [{ keys: [{ ...ENTRY, role: undefined }] }, 'keys[0].role: '],
    [{ keys: [{ ...ENTRY, scopes: ['evaluate'] }] }, 'keys[0]: must have one of role and scopes, not both'],
    [{ keys: [{ ...ENTRY, role: undefined, scopes: [] }] }, 'keys[0].scopes: must be a list of scopes'],
    [
      { keys: [{ ...ENTRY, role: undefined, scopes: ['evaluate', 'all'] }] },
      'keys[0].scopes[1]: must be one of',
    ],
    [{ keys: [{ ...ENTRY, role: undefined, scopes: 'evaluate' }] }, 'keys[0].scopes: '],
    [{ keys: [{ ...ENTRY, namespace: 'Not A Name' }] }, 'keys[0].namespace: must be the name of a namespace'],
    [{ keys: [{ ...ENTRY, namespace: '' }] }, 'keys[0].namespace: '],
    [{ keys: [{ ...ENTRY, key: undefined }] }, 'keys[0]: must have exactly one of key, sha256, certificate'],
    [{ keys: [{ ...ENTRY, sha256: sha256('b') }] }, 'keys[0]: must have exactly one of'],
    [{ keys: [{ ...ENTRY, key: ` ${SECRET}` }] }, 'keys[0].key: must be a text without blanks at its ends'],
    [{ keys: [{ ...ENTRY, key: 1 }] }, 'keys[0].key: '],
    [{ keys: [{ ...ENTRY, key: undefined, sha256: 'abc' }] }, 'keys[0].sha256: must be the SHA-256'],
    [{ keys: [{ ...ENTRY, key: undefined, certificate: 'host' }] }, 'keys[0].certificate: '],
    [{ keys: [{ ...ENTRY, expires_at: '2026-12-31' }] }, 'keys[0].expires_at: must be a time with a zone'],
    [{ keys: [{ ...ENTRY, expires_at: '2026-13-31T00:00:00Z' }] }, 'keys[0].expires_at: '],
    [{ keys: [{ ...ENTRY, expires_at: 1_800_000_000 }] }, 'keys[0].expires_at: '],
    [{ keys: [{ ...ENTRY, agents: [] }] }, 'keys[0].agents: must be a list of agent names'],
    [{ keys: [{ ...ENTRY, agents: 'a' }] }, 'keys[0].agents: must be a list'],
    [{ keys: [{ ...ENTRY, agents: ['ok-name-ok', '*a*'] }] }, 'keys[0].agents[1]: must be the name'],
    [{ keys: [{ ...ENTRY, agents: ['a b'] }] }, 'keys[0].agents[0]: '],
    [{ keys: [{ ...ENTRY, expire_at: 'x' }] }, 'keys[0]: has an unknown member; did you mean expires_at?'],
    [{ keys: [{ ...ENTRY, [SECRET]: 'x' }] }, 'keys[0]: has an unknown member'],
    [{ keys: [ENTRY, { ...ENTRY, name: 'other' }] }, 'keys[1]: the same key is in keys[0]'],
    ['{"keys": [{"name": "a", "name": "b", "key": "k", "role": "admin"}]}', 'keys[0]: a member occurs twice'],
  ])('is refused with entry and member, and no key: %#', (value, problem) => {
    const message = problemOf(value);
    expect(message).toContain(problem);
    expect(message).not.toContain(SECRET);
    expect(message).not.toContain('a-key');
  });

  it('names all its problems, at most twenty', () => {
    const bad = { ...ENTRY, role: 'x' };
    expect(problemOf({ keys: [bad, { ...bad, key: 'b', name: 1 }] })?.split('; ')).toHaveLength(3);
    const many = Array.from({ length: 30 }, (_, index) => ({ ...bad, key: `k${index}` }));
    expect(problemOf({ keys: many })).toMatch(/; and 10 more$/);
  });

  it('must not repeat a key of a variable, whose rights would be unclear', () => {
    const { fixed } = new KeyRing({ keys: ['twice'], adminKeys: [] });
    expect(problemOf({ keys: [{ ...ENTRY, key: 'twice' }] }, fixed)).toContain(
      'keys[0]: the same key is in SERVICE_API_KEYS or SERVICE_ADMIN_API_KEYS',
    );
  });

  it('is refused or used, never an error of another kind, whatever it holds', () => {
    const entry = fc.record(
      {
        name: fc.oneof(fc.string(), fc.jsonValue()),
        key: fc.oneof(fc.string(), fc.jsonValue()),
        sha256: fc.oneof(fc.constant(sha256('x')), fc.jsonValue()),
        certificate: fc.oneof(fc.constant('DNS:a'), fc.jsonValue()),
        role: fc.oneof(fc.constant('admin'), fc.jsonValue()),
        expires_at: fc.oneof(fc.constant('2030-01-01T00:00:00Z'), fc.jsonValue()),
        agents: fc.oneof(fc.array(fc.string()), fc.jsonValue()),
      },
      { requiredKeys: [] },
    );
    fc.assert(
      fc.property(fc.oneof(fc.jsonValue(), fc.record({ keys: fc.array(entry) })), (value) => {
        const text = JSON.stringify(value);
        if (problemOf(text) !== undefined) return;
        // What is accepted has a role, a name and one credential in every entry.
        for (const { principal } of read(text)) {
          expect(['key', 'admin']).toContain(principal.level);
          expect(principal.name).not.toBe('');
        }
      }),
    );
  });
});

describe('the keys of a ring', () => {
  it('keep their principals while nothing about them changes', () => {
    const ring = ringOf({ keys: [ENTRY] });
    const principal = ring.find('a-key')?.principal;
    ring.replace(read({ keys: [{ ...ENTRY, name: 'new', key: 'other' }, ENTRY] }));
    expect(ring.find('a-key')?.principal).toBe(principal);
    expect(principal !== undefined && ring.isCurrent(principal)).toBe(true);
    ring.replace(read({ keys: [{ ...ENTRY, agents: ['some-agent-1'] }] }));
    expect(principal !== undefined && ring.isCurrent(principal)).toBe(false);
    expect(ring.wasValid('a-key')).toBe(false);
    ring.replace(read({ keys: [] }));
    expect(ring.find('a-key')).toBeUndefined();
    // Who sends it now has not guessed it.
    expect([ring.wasValid('a-key'), ring.wasValid('of-a-variable'), ring.wasValid('guess')]).toEqual([
      true,
      false,
      false,
    ]);
    expect(ring.find('of-a-variable')).toBeDefined();
  });

  it('expire at their time, and those who watch the ring are called then', () => {
    vi.useFakeTimers({ now: Date.parse('2026-01-01T00:00:00Z') });
    const ring = ringOf({ keys: [{ ...ENTRY, expires_at: '2026-01-01T00:01:00+00:00' }] });
    let changes = 0;
    ring.onChange(() => {
      changes += 1;
    });
    const principal = ring.find('a-key')?.principal;
    vi.advanceTimersByTime(59_999);
    expect([ring.find('a-key')?.principal, changes]).toEqual([principal, 0]);
    vi.advanceTimersByTime(1);
    expect([ring.find('a-key'), changes]).toEqual([undefined, 1]);
    expect(ring.wasValid('a-key')).toBe(true);
    expect(principal !== undefined && ring.isCurrent(principal)).toBe(false);
    ring.close();
  });

  it('may expire later than the longest timer', () => {
    vi.useFakeTimers({ now: Date.parse('2026-01-01T00:00:00Z') });
    const ring = ringOf({ keys: [{ ...ENTRY, expires_at: '2027-01-01T00:00:00Z' }] });
    vi.advanceTimersByTime(364 * 24 * 3_600_000);
    expect(ring.find('a-key')).toBeDefined();
    vi.advanceTimersByTime(24 * 3_600_000);
    expect(ring.find('a-key')).toBeUndefined();
    ring.close();
  });

  it('are not found by the name of a certificate, nor the other way round', () => {
    const ring = ringOf({ keys: [{ name: 'host', certificate: 'DNS:Host.test', role: 'regular' }] });
    expect(ring.findCertificate([certificateId('DNS:host.TEST')])?.principal.name).toBe('host');
    expect(
      ring.findCertificate([certificateId('URI:host.test'), certificateId('CN:Host.test')]),
    ).toBeUndefined();
    expect(ring.find('DNS:Host.test')).toBeUndefined();
    expect(ring.find('certificate DNS:host.test')).toBeUndefined();
  });
});

describe('the names of a certificate', () => {
  it.each([
    ['', []],
    ['DNS:a.test', ['DNS:a.test']],
    [
      'URI:spiffe://x/y, DNS:a.test, IP Address:127.0.0.1',
      ['URI:spiffe://x/y', 'DNS:a.test', 'IP Address:127.0.0.1'],
    ],
    // A name that contains what separates names.
    ['DNS:"a.test, DNS:b.test"', ['DNS:a.test, DNS:b.test']],
    ['URI:"x\\"y", DNS:c', ['URI:x"y', 'DNS:c']],
    ['DNS:a"b', []],
    ['nothing', []],
  ])('are read from %j', (text, names) => {
    expect(alternativeNames(text)).toEqual(names);
  });
});
