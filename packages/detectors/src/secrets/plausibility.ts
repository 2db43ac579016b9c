import { crc32 } from 'node:zlib';

/** Texts of documentation that stand for a secret. */
const PLACEHOLDER =
  /example|your[-_ ]|placeholder|change[-_ ]?me|redacted|insert[-_ ]|replace[-_ ]|my[-_](?:secret|token|key|password)|x{6}|\*{4}|\.\.\.|0123456789|123456789|abcdefgh|<[a-z]|\{\{|\$\{|deadbeef|(?:^|[^a-z])(?:todo|fake|dummy|sample)(?:[^a-z]|$)/i;
/** Characters of the end of a text that have to differ: prefixes are the same in all secrets of a kind. */
const BODY_LENGTH = 32;
const LEAST_DISTINCT = 6;
/** Share of its score that something with the look of a placeholder keeps: less than the default threshold for all kinds. */
export const PLACEHOLDER_SHARE = 0.3;

/** Whether a text looks like what documentation writes in place of a secret. */
export function looksLikePlaceholder(text: string): boolean {
  if (PLACEHOLDER.test(text)) return true;
  const body = text.slice(-BODY_LENGTH);
  return body.length >= 12 && new Set(body).size < LEAST_DISTINCT;
}

/** Shannon entropy of the characters of a text, in bits for each. */
export function entropyOf(text: string): number {
  const counts = new Map<string, number>();
  for (const unit of text) counts.set(unit, (counts.get(unit) ?? 0) + 1);
  let entropy = 0;
  for (const count of counts.values()) entropy -= (count / text.length) * Math.log2(count / text.length);
  return entropy;
}

/** Lower-case letters, upper-case letters, digits, others: how many of these a text has. */
export function characterClasses(text: string): number {
  return [/[a-z]/, /[A-Z]/, /[0-9]/, /[^A-Za-z0-9]/].filter((one) => one.test(text)).length;
}

const BASE_62 = '0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz';
const CHECKED_TOKEN = /^(?:gh[pousr]|npm)_([A-Za-z0-9]{30})([A-Za-z0-9]{6})$/;

/**
 * Whether a token of GitHub or npm ends with its checksum: the CRC-32 of the 30 characters before, in base 62
 * (github.blog, "Behind GitHub's new authentication token formats", 2021). By chance one in four thousand million does.
 */
export function hasChecksum(token: string): boolean {
  const [, body, checksum] = CHECKED_TOKEN.exec(token) ?? [];
  if (body === undefined) return false;
  let rest = crc32(body);
  let digits = '';
  for (let at = 0; at < 6; at += 1) {
    digits = (BASE_62[rest % 62] ?? '') + digits;
    rest = Math.floor(rest / 62);
  }
  return digits === checksum;
}

/** Text that is base64 or base64url, decoded as UTF-8; null when it is none. At most what is given is read. */
export function decodedBase64(text: string): string | null {
  if (!/^[A-Za-z0-9+/_-]+={0,2}$/.test(text)) return null;
  return Buffer.from(text, 'base64').toString('utf8');
}
