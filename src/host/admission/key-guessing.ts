import { ServiceError } from '../../errors/service-error.js';
import { addressGroup } from './client-address.js';

/** Different wrong keys that one address may show within a window, and all addresses together. */
const MAX_WRONG_KEYS_PER_ADDRESS = 20;
const MAX_WRONG_KEYS = 1_000;
const WINDOW_MS = 60_000;
/** Pairs of an address and a key that are remembered because the key was right. */
const MAX_PROVEN = 20_000;

/**
 * Slows down guessing of keys, in every place where a key can be shown. What counts are different wrong keys of one
 * address: a client that is configured with one wrong key is no guesser. An address that has shown too many may only use
 * keys that were right there before; others are refused without being looked at, so that a right guess looks like a
 * wrong one.
 */
export interface KeyGuessing {
  /** Fails with RATE_LIMITED when this key must not even be looked at. Costs nothing while nothing was guessed. */
  check(address: string, key: string): void;
  /** A key with this fingerprint was shown, and is configured. */
  right(address: string, fingerprint: string): void;
  /** A key was looked at. */
  shown(address: string, key: string, isRight: boolean): void;
}

export interface KeyGuessingOptions {
  /** Milliseconds of a clock that never goes back. */
  readonly now: () => number;
  /** Names a key without telling it. */
  readonly fingerprintOf: (key: string) => string;
  readonly onRefused: () => void;
}

export function createKeyGuessing({ now, fingerprintOf, onRefused }: KeyGuessingOptions): KeyGuessing {
  /** Fingerprints of the wrong keys of this window, by address. */
  const wrongKeys = new Map<string, Set<string>>();
  let inAll = 0;
  let endsAtMs = 0;
  /** Addresses with keys that were right there, the ones added first in front. */
  const proven = new Set<string>();

  function isLocked(group: string): boolean {
    if (inAll === 0) return false;
    if (now() >= endsAtMs) {
      wrongKeys.clear();
      inAll = 0;
      return false;
    }
    return inAll >= MAX_WRONG_KEYS || (wrongKeys.get(group)?.size ?? 0) >= MAX_WRONG_KEYS_PER_ADDRESS;
  }

  function right(address: string, fingerprint: string): void {
    const pair = `${addressGroup(address)} ${fingerprint}`;
    if (proven.has(pair)) return;
    const [oldest] = proven.size >= MAX_PROVEN ? proven : [];
    if (oldest !== undefined) proven.delete(oldest);
    proven.add(pair);
  }

  function wrong(address: string, fingerprint: string): void {
    const group = addressGroup(address);
    if (isLocked(group)) return;
    if (inAll === 0) endsAtMs = now() + WINDOW_MS;
    const known = wrongKeys.get(group) ?? new Set();
    if (known.has(fingerprint)) return;
    wrongKeys.set(group, known.add(fingerprint));
    inAll += 1;
  }

  return {
    check(address, key) {
      if (inAll === 0) return;
      const group = addressGroup(address);
      if (!isLocked(group) || proven.has(`${group} ${fingerprintOf(key)}`)) return;
      onRefused();
      throw tooManyWrongKeys((endsAtMs - now()) / 1000);
    },
    right,
    shown(address, key, isRight) {
      if (isRight) right(address, fingerprintOf(key));
      else wrong(address, fingerprintOf(key));
    },
  };
}

function tooManyWrongKeys(seconds: number): ServiceError {
  return new ServiceError('RATE_LIMITED', {
    detail: 'Too many wrong API keys came from this address.',
    hint: 'Wait as long as Retry-After says, then use a configured key.',
    retryAfterSeconds: Math.max(1, Math.ceil(seconds)),
  });
}
