import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import type { JsonValue } from '../../../packages/exact-json/src/index.js';
import { maskMembers } from '../../../src/contract/secrets/mask-members.js';

const SECRET = 'hunter2-and-more';

describe('the masked form of a value', () => {
  it.each<[string, JsonValue]>([
    ['a member named like one', { api_token: SECRET }],
    ['a list of such a member', { passwords: [SECRET] }],
    ['a member of such a member', { credentials: { user: SECRET } }],
    ['the member key', { key: SECRET }],
    ['the member private', { Private: SECRET }],
    ['the member hmac', { hmac: SECRET }],
    ['the member dsn', { dsn: `postgres://user:${SECRET}@host/db` }],
    ['a value beside its name', { headers: [{ name: 'Authorization', value: `Bearer ${SECRET}` }] }],
    ['a value beside its key', { env: [{ key: 'DB_PASSWORD', value: SECRET }] }],
    ['values beside their header', { header: 'X-Api-Key', values: [SECRET] }],
    ['an address with a password', { url: `https://user:${SECRET}@host/path` }],
    ['an address with a password that has an @', { url: `https://user:p@${SECRET}@host/path` }],
    ['an address with a token', { url: `https://${SECRET}@host/path` }],
    ['a header in a text', { note: `curl -H "Authorization: ${SECRET}"` }],
    ['a bearer token in a text', { note: `send Bearer ${SECRET}` }],
    ['a text that quotes a masked one', { template_values: { token: SECRET }, pattern: `^${SECRET}$` }],
    [
      'a text that quotes the default of a parameter',
      { parameters: { api_key: { type: 'string', default: SECRET } }, values: [`x ${SECRET} y`] },
    ],
  ])('holds no secret of %s', (_what, value) => {
    expect(JSON.stringify(maskMembers({ outer: [value] }))).not.toContain(SECRET);
  });

  it.each<[string, JsonValue]>([
    ['names with parts of these words', { keyword: 'a', monkey: 'b', privately: 'c', keyboard_layout: 'd' }],
    ['a pair whose name is no secret', { name: 'Accept', value: 'text/html' }],
    ['a pair whose key is no secret', { key: 'region', value: 'eu' }],
    ['a control whose name is like that of a secret', { name: 'no-secrets', data: { enabled: true } }],
    [
      'an evaluator and its options',
      { evaluator: { name: 'list', config: { values: ['secret', 'token'] } } },
    ],
    ['a pattern that finds secrets', { pattern: '\\bsk-[A-Za-z0-9]{20,}|Bearer [\\w.-]+' }],
    ['an address without a user', { url: 'https://host:8080/path?to=a@b.example' }],
    ['numbers, words and null', [1, true, null, 'plain', 2n ** 70n]],
  ])('is the value itself for %s', (_what, value) => {
    expect(maskMembers(value)).toBe(value);
  });

  it('replaces no short secret inside of other words', () => {
    expect(maskMembers({ pin: 'abc', text: 'abc of the alphabet' })).toEqual({
      pin: '***',
      text: 'abc of the alphabet',
    });
  });

  it('never holds a text of a secret member, wherever that is quoted', () => {
    const secret = fc
      .string({ minLength: 8, maxLength: 20 })
      .filter((text) => !'{"outer":[***]}'.includes(text));
    const place = fc.constantFrom('pattern', 'values', 'note', '__proto__');
    fc.assert(
      fc.property(secret, fc.string(), fc.array(place, { maxLength: 4 }), (text, before, path) => {
        const quoted = path.reduce<JsonValue>((value, name) => ({ [name]: value }), `${before}${text}`);
        const masked = maskMembers({ quoted, inner: { client_secret: text } }) as Record<string, JsonValue>;
        const texts: string[] = [];
        JSON.stringify(masked, (_name, value) => {
          if (typeof value === 'string') texts.push(value);
          return value;
        });
        expect(texts.filter((found) => found.includes(text))).toEqual([]);
      }),
    );
  });

  it('takes linear time for hostile texts', () => {
    const hostile = ['://', 'a:', '@', '-----BEGIN ', 'bearer ', 'eyJ'].map((part) => part.repeat(40_000));
    expect(maskMembers({ hostile, token: 'some secret' })).toMatchObject({ token: '***' });
  });
});
