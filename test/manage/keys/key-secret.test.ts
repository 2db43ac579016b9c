import { crc32 } from 'node:zlib';
import { expect, it } from 'vitest';
import {
  hashOfSecret,
  isSecret,
  newSecret,
  SECRET_FORM,
  shownPrefix,
} from '../../../src/manage/keys/key-secret.js';

const DIGITS = '0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz';

/** The checksum as docs/security.md describes it. */
function checksumOf(text: string): string {
  let value = BigInt(crc32(text));
  let digits = '';
  for (; value > 0n; value /= 62n) digits = DIGITS[Number(value % 62n)] + digits;
  return digits.padStart(6, '0');
}

it('secrets have a prefix, random characters and a checksum of both', () => {
  const secrets = Array.from({ length: 200 }, newSecret);
  expect(new Set(secrets).size).toBe(secrets.length);
  for (const secret of secrets) {
    expect(secret).toMatch(SECRET_FORM);
    expect(secret.slice(-6)).toBe(checksumOf(secret.slice(0, -6)));
    expect(isSecret(secret)).toBe(true);
  }
  // Every digit occurs among 8,000 random ones.
  const used = new Set(secrets.flatMap((secret) => [...secret.slice(4, 44)]));
  expect(used.size).toBe(62);
});

it('a secret that was copied wrongly is none', () => {
  const secret = newSecret();
  const other = secret[10] === 'a' ? 'b' : 'a';
  for (const wrong of [
    `${secret.slice(0, 10)}${other}${secret.slice(11)}`,
    secret.slice(0, -1),
    `${secret}0`,
    secret.toUpperCase(),
    secret.replace('cek_', 'key_'),
    '',
  ])
    expect(isSecret(wrong)).toBe(false);
});

it('what is shown and stored of a secret does not reveal it', () => {
  const secret = newSecret();
  expect(shownPrefix(secret)).toBe(secret.slice(0, 8));
  expect(hashOfSecret(secret)).toMatch(/^[0-9a-f]{64}$/);
});
