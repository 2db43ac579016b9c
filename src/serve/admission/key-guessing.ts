import { ServiceError } from '../../contract/errors/service-error.js';
import { BoundedMap } from '../../contract/runtime/bounded-map.js';
import { addressGroup } from './client-address.js';

/** Where a key was sent; `token` for bearer tokens that were not seen before, wherever they are sent. */
export type KeyPlace = 'login' | 'call' | 'token';
/** What wrong keys are counted for: a place at an address, or a subject of tokens at one. */
type Counted = KeyPlace | 'subject';

/** Different wrong keys allowed per address and window: at the login, where keys are typed, and in calls. */
const MAX_PER_ADDRESS: Readonly<Record<Counted, number>> = { login: 10, call: 50, token: 50, subject: 50 };
/**
 * The same for all addresses together. Signatures cannot be guessed, and clients renew their tokens: the limit of tokens
 * only bounds memory.
 */
const MAX_IN_ALL: Readonly<Record<Counted, number>> = {
  login: 100,
  call: 1_000,
  token: 20_000,
  subject: 20_000,
};
const WINDOW_MS = 60_000;
/** Most pairs of address and correct key that are remembered. */
const MAX_PROVEN = 20_000;

/**
 * Slows down guessing of keys wherever a key can be sent. It counts different wrong keys per address, so a
 * client configured with one wrong key is not affected. An address above the limit may only use keys that
 * were correct there before; others are refused without a check, so that a correct guess is indistinguishable
 * from a wrong one. Subjects whose tokens were correct at an address have a limit of their own there: their new tokens
 * are checked whatever others send.
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
  /** The fingerprint of the subject that a token names, which proves nothing; undefined if it names none. */
  readonly claimedSubject?: (token: string) => string | undefined;
  readonly onRefused: () => void;
}

export function createKeyGuessing({
  now,
  fingerprintOf,
  claimedSubject = () => undefined,
  onRefused,
}: KeyGuessingOptions): KeyGuessing {
  const windows = {
    login: new GuessWindow('login'),
    call: new GuessWindow('call'),
    token: new GuessWindow('token'),
    subject: new GuessWindow('subject'),
  };
  /** Addresses with keys that were correct there. */
  const proven = new BoundedMap<string, true>({ entries: MAX_PROVEN });

  function right(address: string, fingerprint: string): void {
    const pair = `${addressGroup(address)} ${fingerprint}`;
    if (!proven.has(pair)) proven.set(pair, true);
  }

  /** A token's subject with its address, if tokens of it were correct there. */
  function provenSubject(place: KeyPlace, group: string, token: string): string | undefined {
    const subject = place === 'token' ? claimedSubject(token) : undefined;
    const pair = `${group} ${subject}`;
    return subject !== undefined && proven.has(pair) ? pair : undefined;
  }

  return {
    check(place, address, key) {
      const ofPlace = windows[place];
      if (ofPlace.isEmpty && (place !== 'token' || windows.subject.isEmpty)) return;
      const group = addressGroup(address);
      const subject = provenSubject(place, group, key);
      const waitMs =
        subject === undefined ? ofPlace.waitMs(group, now()) : windows.subject.waitMs(subject, now());
      if (waitMs === 0 || proven.has(`${group} ${fingerprintOf(key)}`)) return;
      onRefused();
      throw tooManyWrongKeys(waitMs / 1000);
    },
    right,
    shown(place, address, key, isRight) {
      const fingerprint = fingerprintOf(key);
      if (isRight) {
        right(address, fingerprint);
        return;
      }
      const group = addressGroup(address);
      const subject = provenSubject(place, group, key);
      if (subject === undefined) windows[place].count(group, fingerprint, now());
      else windows.subject.count(subject, fingerprint, now());
    },
  };
}

/** The wrong keys of one minute, starting with the first of them. */
class GuessWindow {
  readonly #counted: Counted;
  /** Fingerprints by address; at most `MAX_IN_ALL` in total. */
  readonly #wrong = new Map<string, Set<string>>();
  #inAll = 0;
  #endsAtMs = 0;

  constructor(counted: Counted) {
    this.#counted = counted;
  }

  get isEmpty(): boolean {
    return this.#inAll === 0;
  }

  /** Milliseconds until an address, or a subject there, may send unknown keys again; 0 if it may now. */
  waitMs(group: string, nowMs: number): number {
    if (this.#inAll > 0 && nowMs >= this.#endsAtMs) {
      this.#wrong.clear();
      this.#inAll = 0;
    }
    const ofAddress = this.#wrong.get(group)?.size ?? 0;
    const isFull = this.#inAll >= MAX_IN_ALL[this.#counted] || ofAddress >= MAX_PER_ADDRESS[this.#counted];
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
