import { timingSafeEqual } from 'node:crypto';
import { BoundedMap } from '../../contract/bounded-map.js';
import type { Principal } from '../../contract/call/handler.js';
import { LONGEST_TIMER_MS } from '../../contract/call/time-limited.js';
import { isSameKey, type KeyRights, type KnownKey, knownKey, sha256 } from './known-key.js';

export interface KeyLists {
  readonly keys: readonly string[];
  readonly adminKeys: readonly string[];
}

/** Most withdrawn keys that are remembered. */
const MAX_WITHDRAWN = 10_000;

/** The keys that are valid now: those of the variables, and those of the keys file until they expire. */
export class KeyRing {
  /** The keys of the variables; a key in both lists is an admin key. */
  readonly fixed: readonly KnownKey[];
  readonly #now: () => number;
  readonly #listeners = new Set<() => void>();
  #given: readonly KnownKey[] = [];
  /** The valid keys by id. */
  #live: ReadonlyMap<string, KnownKey> = new Map();
  /** The valid keys that are texts, by the start of their digest. */
  #byDigest: ReadonlyMap<number, readonly KnownKey[]> = new Map();
  #fingerprints: ReadonlyMap<string, KnownKey> = new Map();
  /** Ids of keys that were withdrawn or have expired. */
  readonly #withdrawn = new BoundedMap<string, true>({ entries: MAX_WITHDRAWN });
  #revision = 0;
  #expiry: NodeJS.Timeout | undefined;

  /** `now` returns milliseconds since 1970. */
  constructor(lists: KeyLists, now: () => number = () => Date.now()) {
    this.#now = now;
    // Admin keys come last: the last of two equal ones counts.
    const fixed = [
      ...lists.keys.map((key) => knownKey(key, rightsOf('key'))),
      ...lists.adminKeys.map((key) => knownKey(key, rightsOf('admin'))),
    ];
    this.fixed = [...new Map(fixed.map((key) => [key.id, key])).values()];
    this.replace([]);
  }

  /** Increased whenever a key becomes valid, invalid or gets other rights. */
  get revision(): number {
    return this.#revision;
  }

  /** The valid keys. */
  get keys(): Iterable<KnownKey> {
    return this.#live.values();
  }

  /** Replaces the keys of the keys file. Those that did not change keep their principals. */
  replace(keys: readonly KnownKey[]): void {
    const known = new Map(this.#given.map((key) => [key.id, key]));
    this.#given = keys.map((key) => {
      const before = known.get(key.id);
      return before !== undefined && isSameKey(before, key) ? before : key;
    });
    this.#refresh();
  }

  /** Calls back after every change, which may end calls. */
  onChange(listener: () => void): void {
    this.#listeners.add(listener);
  }

  /** The valid key that equals this text exactly. */
  find(apiKey: string): KnownKey | undefined {
    // Which keys exist does not follow from the time this takes: a caller cannot choose the digest of a guess.
    const digest = sha256(apiKey);
    for (const key of this.#byDigest.get(startOf(digest)) ?? NO_KEYS) {
      if (timingSafeEqual(key.digest, digest)) return this.#isExpired(key) ? undefined : key;
    }
    return undefined;
  }

  /** Whether this text was a valid key that was withdrawn or has expired: its sender did not guess it. */
  wasValid(apiKey: string): boolean {
    return this.#withdrawn.has(`key ${sha256(apiKey).toString('hex')}`);
  }

  /** The valid entry for the first of these names of a certificate that has one. */
  findCertificate(ids: readonly string[]): KnownKey | undefined {
    for (const id of ids) {
      const found = this.#live.get(id);
      if (found !== undefined && !this.#isExpired(found)) return found;
    }
    return undefined;
  }

  /** The valid key with this fingerprint. */
  byFingerprint(fingerprint: string): KnownKey | undefined {
    return this.#fingerprints.get(fingerprint);
  }

  /** Whether the key of a principal is valid and has the same rights as when the principal was found. */
  isCurrent(principal: Principal): boolean {
    const { keyFingerprint, level, name, agents, sessionId } = principal;
    if (keyFingerprint === null) return true;
    const current = this.byFingerprint(keyFingerprint)?.principal;
    if (sessionId === undefined || current === undefined) return current === principal;
    // A session has the rights of its key in an object of its own.
    return current.level === level && current.name === name && current.agents === agents;
  }

  /** Stops the timer for the next expiry. */
  close(): void {
    clearTimeout(this.#expiry);
  }

  #isExpired({ expiresAtMs }: KnownKey): boolean {
    return expiresAtMs !== Number.POSITIVE_INFINITY && expiresAtMs <= this.#now();
  }

  #refresh(): void {
    const live = [...this.#given, ...this.fixed].filter((key) => !this.#isExpired(key));
    const before = [...this.#live.values(), ...this.#given];
    this.#live = new Map(live.map((key) => [key.id, key]));
    for (const id of this.#live.keys()) this.#withdrawn.delete(id);
    for (const { id } of before) if (!this.#live.has(id)) this.#withdrawn.set(id, true);
    this.#byDigest = groupedByDigest(live.filter(({ isCertificate }) => !isCertificate));
    this.#fingerprints = new Map(live.map((key) => [key.principal.keyFingerprint ?? '', key]));
    this.#revision += 1;
    this.#awaitExpiry();
    for (const listener of this.#listeners) listener();
  }

  /** Streams of a key that expires have to end. */
  #awaitExpiry(): void {
    clearTimeout(this.#expiry);
    let next = Number.POSITIVE_INFINITY;
    for (const { expiresAtMs } of this.#live.values()) next = Math.min(next, expiresAtMs);
    if (next === Number.POSITIVE_INFINITY) return;
    const waitMs = Math.min(LONGEST_TIMER_MS, Math.max(1, next - this.#now()));
    this.#expiry = setTimeout(() => this.#refresh(), waitMs).unref();
  }
}

const NO_KEYS: readonly KnownKey[] = [];

/** The first four bytes. */
function startOf(digest: Buffer): number {
  return digest.readUInt32LE(0);
}

function groupedByDigest(keys: readonly KnownKey[]): Map<number, KnownKey[]> {
  const groups = new Map<number, KnownKey[]>();
  for (const key of keys) {
    const start = startOf(key.digest);
    groups.set(start, [...(groups.get(start) ?? []), key]);
  }
  return groups;
}

function rightsOf(level: KeyRights['level']): KeyRights {
  return { level, name: null, agents: null, expiresAtMs: Number.POSITIVE_INFINITY };
}
