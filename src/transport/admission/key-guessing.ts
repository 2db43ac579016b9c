import { ServiceError } from '../../contract/errors/service-error.js';
import { addressGroup } from './client-address.js';

/** Where a key was sent; `token` for bearer tokens that were not seen before, wherever they are sent. */
export type KeyPlace = 'login' | 'call' | 'token';

/** Different wrong keys allowed per address and window: at the login, where keys are typed, and in calls. */
const MAX_PER_ADDRESS: Readonly<Record<KeyPlace, number>> = { login: 10, call: 50, token: 50 };
/**
 * The same for all addresses together. Signatures cannot be guessed, and clients renew their tokens: the limit of tokens
 * only bounds memory.
 */
const MAX_IN_ALL: Readonly<Record<KeyPlace, number>> = { login: 100, call: 1_000, token: 20_000 };
const WINDOW_MS = 60_000;
/** Most pairs of address and correct key that are remembered. */
const MAX_PROVEN = 20_000;

/**
 * Slows down guessing of keys wherever a key can be sent. It counts different wrong keys per address, so a
 * client configured with one wrong key is not affected. An address above the limit may only use keys that
 * were correct there before; others are refused without a check, so that a correct guess is indistinguishable
 * from a wrong one.
 */
export interface KeyGuessing {
  /** Fails with RATE_LIMITED if this key must not be checked. Costs nothing while there are no guesses. */
  check(place: KeyPlace, address: string, key: string): void;
  /** Records that a configured key with this fingerprint was sent. */
  right(address: string, fingerprint: string): void;
  /** Records that a key was checked. */
  shown(place: KeyPlace, address: string, key: string, isRight: boolean): void;
}

export interface KeyGuessingOptions {
  /** Milliseconds of a monotonic clock. */
  readonly now: () => number;
  /** Identifies a key without revealing it. */
  readonly fingerprintOf: (key: string) => string;
  readonly onRefused: () => void;
}

export function createKeyGuessing({ now, fingerprintOf, onRefused }: KeyGuessingOptions): KeyGuessing {
  const windows = {
    login: new GuessWindow('login'),
    call: new GuessWindow('call'),
    token: new GuessWindow('token'),
  };
  /** Addresses with keys that were correct there, oldest first. */
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

/** The wrong keys of one minute, starting with the first of them. */
class GuessWindow {
  readonly #place: KeyPlace;
  /** Fingerprints by address; at most `MAX_IN_ALL` in total. */
  readonly #wrong = new Map<string, Set<string>>();
  #inAll = 0;
  #endsAtMs = 0;

  constructor(place: KeyPlace) {
    this.#place = place;
  }

  get isEmpty(): boolean {
    return this.#inAll === 0;
  }

  /** Milliseconds until an address may send unknown keys again; 0 if it may now. */
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
    quota: 'address',
    retryAfterSeconds: Math.max(1, Math.ceil(seconds)),
  });
}
