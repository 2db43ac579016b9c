import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { maskSecrets } from '../../../src/contract/secrets/mask-secrets.js';
import { isSecretName } from '../../../src/contract/secrets/secret-names.js';

const HEX = '0123456789abcdef0123456789abcdef';
const BASE64 = 'dGhpcyBpcyBhIHNlY3JldCBrZXkgMTIz';
const TOKEN = 'eyJhbGciOiJIUzI1NiJ9.eyJzdWIiOiIxMjM0In0.c2lnbmF0dXJl-_x';

describe('the masking of a text', () => {
  it.each([
    ['a bearer token', 'sent Bearer abcdefgh.ijk-lm', 'sent Bearer ***'],
    ['a basic login', 'basic dXNlcjpwYXNz', 'basic ***'],
    ['a header', 'Authorization: Custom a b c\nHost: x', 'Authorization: ***\nHost: x'],
    ['a cookie', 'Cookie: a=1; b=2\r\nHost: x', 'Cookie: ***\r\nHost: x'],
    ['a JSON web token', `got ${TOKEN}.`, 'got ***'],
    ['a hex key', `key ${HEX} end`, 'key *** end'],
    ['a base64 key', `is ${BASE64}== end`, 'is *** end'],
    ['a vendor key', 'use sk-abcdefghijklmnop now', 'use *** now'],
    ['a PEM block', 'a -----BEGIN RSA PRIVATE KEY-----\nMIIE\n-----END RSA PRIVATE KEY----- b', 'a *** b'],
    ['a PEM block that is cut off', 'a -----BEGIN PRIVATE KEY-----\nMIIE', 'a ***'],
    ['a login in a URL', 'postgres://bob:hunter2@host/db', 'postgres://***@host/db'],
    ['an assigned password', 'password=hunter2 user=bob', 'password=*** user=bob'],
    ['a secret of a query', 'GET /?api_key=abc&x=1', 'GET /?api_key=***&x=1'],
    ['a quoted secret', `{"password":"a \\"b\\" c","x":1}`, `{"password":"***","x":1}`],
    [
      'a secret in quoted JSON',
      `"{\\"password\\":\\"a b\\",\\"x\\":1}"`,
      `"{\\"password\\":\\"***\\",\\"x\\":1}"`,
    ],
    ['an unfinished quotation', `{"secret":"a b c`, `{"secret":"***"`],
    ['a secret in the value of another name', 'text="my password: hunter2"', 'text="my password: ***"'],
    ['a card number', 'card 4111111111111111.', 'card ***.'],
    ['a card number in groups', 'card 4111 1111 1111 1111 end', 'card *** end'],
    ['a card number before its check value', '5500-0000-0000-0004 123', '***'],
  ])('hides %s', (_what, text, masked) => {
    expect(maskSecrets(text)).toBe(masked);
  });

  it.each([
    'Please refund order 1234 for Bob, 25.50 EUR.',
    'the number 4111111111111112 is no card',
    'id 123e4567-e89b-12d3-a456-426614174000',
    'SELECT name FROM users WHERE id = 17',
    'see https://example.com/some/long/path/to/a/page',
    'internationalisation-and-localisation-everywhere',
    'the author of the secretariat',
    '',
  ])('leaves %j alone', (text) => {
    expect(maskSecrets(text)).toBe(text);
  });

  it('hides every assigned secret, whatever it is', () => {
    const secret = fc.stringMatching(/^[A-Za-z0-9!#$%]{4,40}$/);
    const names = fc.constantFrom('password', 'client_secret', 'API-KEY', 'accessToken');
    const signs = fc.constantFrom('=', ': ', '": "', "='");
    fc.assert(
      fc.property(names, signs, secret, (name, sign, value) => {
        fc.pre(!`${name}${sign}`.toLowerCase().includes(value.toLowerCase()));
        expect(maskSecrets(`x ${name}${sign}${value}`)).not.toContain(value);
      }),
    );
  });

  it('hides every card number', () => {
    fc.assert(
      fc.property(
        fc.stringMatching(/^[1-9]\d{11,17}$/),
        fc.constantFrom('', ' ', '-'),
        (digits, separator) => {
          const number = [...(digits + checkDigit(digits))].join('');
          const grouped = number.replace(/(\d{4})(?=\d)/g, `$1${separator}`);
          expect(maskSecrets(`<${grouped}>`)).toBe('<***>');
        },
      ),
    );
  });

  it('takes no longer than linear time on texts that tempt to try again and again', () => {
    // A quadratic pattern would take minutes for these, and the test run out of its time.
    const tempting = [
      '-----BEGIN ',
      '://a:',
      'password',
      'password="',
      '\\"',
      "='",
      '1 ',
      'eyJ',
      'a',
      'aB1',
      '-',
      'x: "\\',
    ];
    for (const piece of tempting) {
      const text = piece.repeat(200_000 / piece.length);
      expect(typeof maskSecrets(text)).toBe('string');
    }
  });
});

describe('the name of a secret', () => {
  it.each([
    'password',
    'userPassword',
    'X-Api-Key',
    'api_key',
    'clientSecret',
    'access_token',
    'Authorization',
    'Set-Cookie',
    'pin',
    'card_pin',
    'privateKey',
    'aws-secret-access-key',
    'x'.repeat(300),
  ])('is %s', (name) => {
    expect(isSecretName(name)).toBe(true);
  });
  it.each([
    'query',
    'author',
    'shipping',
    'expander',
    'keyboard',
    'monkey',
    'name',
    'input',
    '',
    'passenger',
  ])('is not %j', (name) => {
    expect(isSecretName(name)).toBe(false);
  });
});

/** The digit that makes a number pass, found by trying. */
function checkDigit(digits: string): string {
  const passes = (number: string) =>
    [...number].reverse().reduce((sum, digit, index) => {
      const value = Number(digit) * (index % 2 === 0 ? 1 : 2);
      return sum + Math.floor(value / 10) + (value % 10);
    }, 0) %
      10 ===
    0;
  return [...'0123456789'].find((last) => passes(digits + last)) ?? '';
}
