import { createHash, timingSafeEqual } from 'node:crypto';
import type { Principal } from '../../contract/call/handler.js';

/** A configured key: its principal and its digest. The key itself is not kept. */
export interface KnownKey {
  readonly digest: Buffer;
  readonly principal: Principal;
}

/** The configured keys. */
export interface KeyRing {
  readonly keys: readonly KnownKey[];
  /** The key that equals this text exactly. */
  find(apiKey: string): KnownKey | undefined;
}

export interface KeyLists {
  readonly keys: readonly string[];
  readonly adminKeys: readonly string[];
}

/** The keys of both lists; a key in both is an admin key. */
export function createKeyRing(lists: KeyLists): KeyRing {
  // Admin keys come last: the last match counts.
  const keys = [
    ...lists.keys.map((key) => knownKey(key, 'key')),
    ...lists.adminKeys.map((key) => knownKey(key, 'admin')),
  ];
  return { keys, find: (apiKey) => lookUp(keys, apiKey) };
}

function knownKey(key: string, level: 'key' | 'admin'): KnownKey {
  return { digest: sha256(key), principal: { level, keyFingerprint: fingerprintOf(key) } };
}

/** First 12 hex digits of the SHA-256 of a key: identifies it without revealing it. */
export function fingerprintOf(key: string): string {
  return sha256(key).toString('hex').slice(0, 12);
}

/** Compares digests of equal length, and always all of them, so that timing reveals nothing about keys. */
function lookUp(keys: readonly KnownKey[], apiKey: string): KnownKey | undefined {
  const digest = sha256(apiKey);
  let found: KnownKey | undefined;
  for (const candidate of keys) {
    if (timingSafeEqual(candidate.digest, digest)) found = candidate;
  }
  return found;
}

function sha256(text: string): Buffer {
  return createHash('sha256').update(text).digest();
}
