import { createHash, randomBytes } from 'node:crypto';
import { crc32 } from 'node:zlib';

/** What every secret of a key begins with, so that scanners for secrets recognise one. */
export const SECRET_PREFIX = 'cek_';
/** The form of a secret: prefix, random characters, checksum. */
export const SECRET_FORM = /^cek_[0-9A-Za-z]{46}$/;

const DIGITS = '0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz';
/** 40 of 62 characters: more than 238 bits. */
const RANDOM_LENGTH = 40;
/** Enough for 32 bits. */
const CHECKSUM_LENGTH = 6;
/** Characters by which a person recognises a secret; they are stored and shown. */
const SHOWN_LENGTH = SECRET_PREFIX.length + 4;
/** Largest multiple of the number of digits within a byte: larger bytes would make some digits more likely. */
const FAIR_BYTES = 256 - (256 % DIGITS.length);

/** A new secret: nothing of it can be guessed. */
export function newSecret(): string {
  let random = '';
  while (random.length < RANDOM_LENGTH) {
    for (const byte of randomBytes(RANDOM_LENGTH)) {
      if (byte < FAIR_BYTES && random.length < RANDOM_LENGTH) random += DIGITS[byte % DIGITS.length];
    }
  }
  return withChecksum(SECRET_PREFIX + random);
}

/** Whether a text is a secret that was copied completely: its checksum is right. */
export function isSecret(text: string): boolean {
  return SECRET_FORM.test(text) && withChecksum(text.slice(0, -CHECKSUM_LENGTH)) === text;
}

/** What is stored of a secret: its SHA-256 in hexadecimal. */
export function hashOfSecret(secret: string): string {
  return createHash('sha256').update(secret).digest('hex');
}

/** The start of a secret, which tells it from others. */
export function shownPrefix(secret: string): string {
  return secret.slice(0, SHOWN_LENGTH);
}

/** The checksum is the CRC-32 (IEEE 802.3) of everything before it, most significant digit first. */
function withChecksum(text: string): string {
  let rest = crc32(text);
  let checksum = '';
  for (let digit = 0; digit < CHECKSUM_LENGTH; digit += 1) {
    checksum = DIGITS[rest % DIGITS.length] + checksum;
    rest = Math.floor(rest / DIGITS.length);
  }
  return text + checksum;
}
