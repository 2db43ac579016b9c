import { ServiceError } from '../../contract/errors/service-error.js';
import { addressGroup } from './client-address.js';

/** Where a key was shown. */
export type KeyPlace = 'login' | 'call';

/** Different wrong keys that one address may show within a window: at the login, where people type them, and in all. */
const MAX_PER_ADDRESS: Readonly<Record<KeyPlace, number>> = { login: 10, call: 50 };
/** The same for all addresses together. */
const MAX_IN_ALL: Readonly<Record<KeyPlace, number>> = { login: 100, call: 1_000 };
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
  check(place: KeyPlace, address: string, key: string): void;
  /** A key with this fingerprint was shown, and is configured. */
  right(address: string, fingerprint: string): void;
  /** A key was looked at. */
  shown(place: KeyPlace, address: string, key: string, isRight: boolean): void;
}

export interface KeyGuessingOptions {
  /** Milliseconds of a clock that never goes back. */
  readonly now: () => number;
  /** Names a key without telling it. */
  readonly fingerprintOf: (key: string) => string;
  readonly onRefused: () => void;
}

export function createKeyGuessing({ now, fingerprintOf, onRefused }: KeyGuessingOptions): KeyGuessing {
  const windows = { login: new GuessWindow('login'), call: new GuessWindow('call') };
  /** Addresses with keys that were right there, the ones added first in front. */
  const proven = new Set<string>();

  function right(address: string, fingerprint: string): void {
    const pair = `${addressGroup(address)} ${fingerprint}`;
    if (proven.has(pair)) return;
    const [oldest] = proven.size >= MAX_PROVEN ? proven : [];
    if (oldest !== undefined) proven.delete(oldest);
    proven.add(pair);
  }

  return {
    check(place, address, key) {
      const window = windows[place];
      if (window.isEmpty) return;
      const group = addressGroup(address);
      const waitMs = window.waitMs(group, now());
      if (waitMs === 0 || proven.has(`${group} ${fingerprintOf(key)}`)) return;
      onRefused();
      throw tooManyWrongKeys(waitMs / 1000);
    },
    right,
    shown(place, address, key, isRight) {
      const fingerprint = fingerprintOf(key);
      if (isRight) right(address, fingerprint);
      else windows[place].count(addressGroup(address), fingerprint, now());
    },
  };
}

/** The wrong keys of one minute, which begins with the first of them. */
class GuessWindow {
  readonly #place: KeyPlace;
  /** Fingerprints by address; never more than `MAX_IN_ALL` in all. */
  readonly #wrong = new Map<string, Set<string>>();
  #inAll = 0;
  #endsAtMs = 0;

  constructor(place: KeyPlace) {
    this.#place = place;
  }

  get isEmpty(): boolean {
    return this.#inAll === 0;
  }

  /** Milliseconds until an address may show unknown keys again; 0 when it may. */
  waitMs(group: string, nowMs: number): number {
    if (this.#inAll > 0 && nowMs >= this.#endsAtMs) {
      this.#wrong.clear();
      this.#inAll = 0;
    }
    const ofAddress = this.#wrong.get(group)?.size ?? 0;
    const isFull = this.#inAll >= MAX_IN_ALL[this.#place] || ofAddress >= MAX_PER_ADDRESS[this.#place];
    return isFull ? this.#endsAtMs - nowMs : 0;
  }

  count(group: string, fingerprint: string, nowMs: number): void {
    if (this.waitMs(group, nowMs) > 0) return;
    if (this.#inAll === 0) this.#endsAtMs = nowMs + WINDOW_MS;
    const known = this.#wrong.get(group) ?? new Set();
    if (known.has(fingerprint)) return;
    this.#wrong.set(group, known.add(fingerprint));
    this.#inAll += 1;
  }
}

function tooManyWrongKeys(seconds: number): ServiceError {
  return new ServiceError('RATE_LIMITED', {
    detail: 'Too many wrong API keys came from this address.',
    hint: 'Wait as long as Retry-After says, then use a configured key.',
    retryAfterSeconds: Math.max(1, Math.ceil(seconds)),
  });
}
