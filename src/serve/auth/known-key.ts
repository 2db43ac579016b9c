import { createHash } from 'node:crypto';
import type { AgentLimit } from '../../contract/call/agent-limit.js';
import type { Principal } from '../../contract/call/handler.js';
import { DEFAULT_NAMESPACE, type Namespace } from '../../contract/call/namespace.js';
import { levelOfScopes, type Role, type ScopeMask } from '../../contract/call/scopes.js';

/** What a key allows, and until when. */
export interface KeyRights {
  readonly namespace: Namespace;
  readonly scopes: ScopeMask;
  /** Null if it lists its scopes itself. */
  readonly role: string | null;
  /** Null for a key of a variable. */
  readonly name: string | null;
  /** Null for all agents. */
  readonly agents: AgentLimit | null;
  /** Milliseconds since 1970; infinite for never. */
  readonly expiresAtMs: number;
}

/** The rights of a key that has a role, and no further limits. */
export function rightsOfRole({ name, scopes }: Role): KeyRights {
  return {
    namespace: DEFAULT_NAMESPACE,
    scopes,
    role: name,
    name: null,
    agents: null,
    expiresAtMs: Number.POSITIVE_INFINITY,
  };
}

/** A configured key: its principal and its digest. The key itself is not kept. */
export interface KnownKey {
  /** Digest of the key; of a certificate, of its name. */
  readonly digest: Buffer;
  /** Equal for equal keys: the digest as text. Keys and certificates never have the same. */
  readonly id: string;
  readonly isCertificate: boolean;
  readonly principal: Principal;
  readonly expiresAtMs: number;
  /** Id of the key in the database; null for a configured one. */
  readonly storedId: number | null;
}

/** A key given as text. */
export function knownKey(key: string, rights: KeyRights): KnownKey {
  return hashedKey(sha256(key), rights);
}

/** A key given as its SHA-256. */
export function hashedKey(digest: Buffer, rights: KeyRights, storedId: number | null = null): KnownKey {
  return withDigest(digest, false, rights, storedId);
}

/** The holder of a client certificate with this name, for example `DNS:agent.example`. */
export function certificateKey(name: string, rights: KeyRights): KnownKey {
  return withDigest(certificateDigest(name), true, rights);
}

/** The id of the entry for a name of a certificate. */
export function certificateId(name: string): string {
  return idOf(certificateDigest(name), true);
}

/** DNS names are compared in lower case, other names exactly. */
function certificateDigest(name: string): Buffer {
  return sha256(`certificate ${name.startsWith('DNS:') ? name.toLowerCase().replace('dns:', 'DNS:') : name}`);
}

function idOf(digest: Buffer, isCertificate: boolean): string {
  return `${isCertificate ? 'certificate' : 'key'} ${digest.toString('hex')}`;
}

function withDigest(
  digest: Buffer,
  isCertificate: boolean,
  rights: KeyRights,
  storedId: number | null = null,
): KnownKey {
  const { namespace, scopes, role, name, agents, expiresAtMs } = rights;
  const id = idOf(digest, isCertificate);
  const principal: Principal = {
    level: levelOfScopes(scopes),
    keyFingerprint: digest.toString('hex').slice(0, FINGERPRINT_DIGITS),
    name,
    agents,
    namespace,
    scopes,
    role,
    target: null,
  };
  return { digest, id, isCertificate, principal, expiresAtMs, storedId };
}

const FINGERPRINT_DIGITS = 12;

/** First 12 hex digits of the SHA-256 of a key: identifies it without revealing it. */
export function fingerprintOf(key: string): string {
  return sha256(key).toString('hex').slice(0, FINGERPRINT_DIGITS);
}

/** Whether two entries are the same key with the same rights. */
export function isSameKey(one: KnownKey, other: KnownKey): boolean {
  return one.id === other.id && rightsText(one) === rightsText(other);
}

function rightsText({ principal, expiresAtMs, storedId }: KnownKey): string {
  const { namespace, scopes, role, name, agents } = principal;
  const rights = [namespace.name, String(scopes), role, name, agents?.patterns ?? null];
  return JSON.stringify([...rights, String(expiresAtMs), storedId]);
}

export function sha256(text: string): Buffer {
  return createHash('sha256').update(text).digest();
}
