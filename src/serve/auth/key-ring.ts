import { timingSafeEqual } from 'node:crypto';
import type { Principal } from '../../contract/call/handler.js';
import type { Namespace } from '../../contract/call/namespace.js';
import { DEFAULT_ROLES, type RoleTable, scopeMask } from '../../contract/call/scopes.js';
import { LONGEST_TIMER_MS } from '../../contract/call/time-limited.js';
import { BoundedMap } from '../../contract/runtime/bounded-map.js';
import { isSameKey, type KeyRights, type KnownKey, knownKey, rightsOfRole, sha256 } from './known-key.js';

/** The keys of the variables, by their role. */
export interface KeyLists {
  readonly keys: readonly string[];
  readonly adminKeys: readonly string[];
  readonly operatorKeys?: readonly string[];
}

/** Most withdrawn keys that are remembered. */
const MAX_WITHDRAWN = 10_000;

/**
 * The keys that are valid now: those of the variables, and until they expire those of the keys file and of the database.
 */
export class KeyRing {
  /** The keys of the variables; a key in several lists has the role that may do most. */
  readonly fixed: readonly KnownKey[];
  readonly #now: () => number;
  readonly #listeners = new Set<() => void>();
  readonly #used = new Set<number>();
  #given: readonly KnownKey[] = [];
  #stored: readonly KnownKey[] = [];
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
  constructor(lists: KeyLists, now: () => number = () => Date.now(), roles: RoleTable = DEFAULT_ROLES) {
    this.#now = now;
    const { keys, adminKeys, operatorKeys = [] } = lists;
    // The last of two equal ones counts.
    const fixed = [
      ...keys.map((key) => knownKey(key, rightsOf('regular', roles))),
      ...adminKeys.map((key) => knownKey(key, rightsOf('admin', roles))),
      ...operatorKeys.map((key) => knownKey(key, rightsOf('operator', roles))),
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
    const before = this.#all;
    this.#given = withKnown(this.#given, keys);
    this.#refresh(before);
  }

  /** The same for the keys of the database. */
  replaceStored(keys: readonly KnownKey[]): void {
    const stored = withKnown(this.#stored, keys);
    const isSame =
      stored.length === this.#stored.length && stored.every((key, index) => key === this.#stored[index]);
    if (isSame) return;
    const before = this.#all;
    this.#stored = stored;
    this.#refresh(before);
  }

  /** The ids of the keys of the database that were used since the last call. */
  takeUsed(): number[] {
    const used = [...this.#used];
    this.#used.clear();
    return used;
  }

  /** Notes the use of a key by its session. */
  noteUse({ keyFingerprint }: Principal): void {
    const key = keyFingerprint === null ? undefined : this.byFingerprint(keyFingerprint);
    if (key !== undefined) this.#noteUse(key);
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
      if (!timingSafeEqual(key.digest, digest)) continue;
      if (this.#isExpired(key)) return undefined;
      this.#noteUse(key);
      return key;
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
    const { keyFingerprint, scopes, role, name, agents, sessionId } = principal;
    if (keyFingerprint === null) return true;
    const current = this.byFingerprint(keyFingerprint)?.principal;
    if (sessionId === undefined || current === undefined) return current === principal;
    // A session has the rights of its key in an object of its own, and possibly another namespace.
    return (
      current.scopes === scopes &&
      current.role === role &&
      current.name === name &&
      current.agents === agents &&
      mayBeIn(current, principal.namespace)
    );
  }

  /** Stops the timer for the next expiry. */
  close(): void {
    clearTimeout(this.#expiry);
  }

  get #all(): readonly KnownKey[] {
    return [...this.#live.values(), ...this.#given, ...this.#stored];
  }

  #noteUse({ storedId }: KnownKey): void {
    if (storedId !== null) this.#used.add(storedId);
  }

  #isExpired({ expiresAtMs }: KnownKey): boolean {
    return expiresAtMs !== Number.POSITIVE_INFINITY && expiresAtMs <= this.#now();
  }

  #refresh(before: readonly KnownKey[] = this.#all): void {
    // The last of two equal ones counts.
    const live = [...this.#stored, ...this.#given, ...this.fixed].filter((key) => !this.#isExpired(key));
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
    const group = groups.get(start);
    if (group === undefined) groups.set(start, [key]);
    else group.push(key);
  }
  return groups;
}

function rightsOf(name: string, roles: RoleTable): KeyRights {
  const role = roles.get(name);
  if (role === undefined) throw new Error(`there is no role ${name}`);
  return rightsOfRole(role);
}

/** Those of `keys`, as the objects in `before` where nothing about them has changed. */
function withKnown(before: readonly KnownKey[], keys: readonly KnownKey[]): readonly KnownKey[] {
  const known = new Map(before.map((key) => [key.id, key]));
  return keys.map((key) => {
    const same = known.get(key.id);
    return same !== undefined && (same === key || isSameKey(same, key)) ? same : key;
  });
}

const SWITCHING = scopeMask(['namespaces.write']);

/** Whether a session of a key can be in a namespace: in that of the key, with the scope for namespaces in any. */
export function mayBeIn(key: Principal, namespace: Namespace): boolean {
  return key.namespace.name === namespace.name || (key.scopes & SWITCHING) !== 0n;
}
