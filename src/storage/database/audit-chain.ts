/** The chain of hashes over the entries of the audit log. docs/audit.md describes it for other programs. */
import { createHash } from 'node:crypto';
import { DEFAULT_NAMESPACE } from '../../contract/call/namespace.js';

/** Who made a change. */
export interface AuditActor {
  /** Callers by their access level, the commands of the service, and the service itself. */
  readonly kind: 'anonymous' | 'key' | 'admin' | 'command' | 'service';
  /** Name of the key, subject of the token, or user of the operating system. */
  readonly name: string | null;
  readonly keyFingerprint: string | null;
}

/** What the hash of an entry covers, besides the hash of the entry before. */
export interface AuditContent {
  /** From 1, without gaps. */
  readonly position: number;
  /** Null for a change without a revision. */
  readonly revision: number | null;
  /** Milliseconds since 1970. */
  readonly timeMs: number;
  readonly actor: AuditActor;
  readonly address: string | null;
  readonly requestId: string | null;
  readonly action: string;
  readonly resource: string;
  readonly resourceId: string | null;
  readonly resourceName: string | null;
  /** JSON texts as stored. */
  readonly before: string | null;
  readonly after: string | null;
  /** Name of the namespace whose admins may read it. */
  readonly namespace: string;
}

/** A stored entry. */
export interface AuditEntry extends AuditContent {
  readonly previousHash: string;
  readonly hash: string;
}

/** A place in the chain: the position of an entry and its hash. */
export interface ChainPlace {
  readonly position: number;
  readonly hash: string;
}

/** Before the first entry. */
export const CHAIN_START: ChainPlace = { position: 0, hash: '0'.repeat(64) };

/**
 * The text of which an entry has the hash: the hash of the entry before, and a JSON array without blanks, in which
 * only what JSON demands is escaped. The namespace is its last member, unless it is `default`: then it is left out, so
 * that entries from before there were namespaces have the same text.
 */
export function canonicalText(previousHash: string, entry: AuditContent): string {
  const { actor } = entry;
  const members = [
    entry.position,
    entry.revision,
    new Date(entry.timeMs).toISOString(),
    actor.kind,
    actor.name,
    actor.keyFingerprint,
    entry.address,
    entry.requestId,
    entry.action,
    entry.resource,
    entry.resourceId,
    entry.resourceName,
    entry.before,
    entry.after,
    ...(entry.namespace === DEFAULT_NAMESPACE.name ? [] : [entry.namespace]),
  ];
  return `${previousHash}\n${JSON.stringify(members)}`;
}

/** SHA-256 of the canonical text in UTF-8, in hexadecimal. */
export function entryHash(previousHash: string, entry: AuditContent): string {
  return createHash('sha256').update(canonicalText(previousHash, entry), 'utf8').digest('hex');
}

/** Where a chain is broken. */
export interface ChainProblem {
  /** Position of the first entry that is changed, missing or inserted. */
  readonly position: number;
  /** A sentence about that entry, without a full stop. */
  readonly message: string;
}

/** Says what is wrong with an entry. */
export function problemAt(position: number, predicate: string): ChainProblem {
  return { position, message: `entry ${position} ${predicate}` };
}

/** The problem that entries are missing; both positions are among them. */
export function missingEntries(first: number, last: number): ChainProblem {
  return problemAt(first, first === last ? 'is missing' : `is missing, like all others up to ${last}`);
}

/** Why an entry cannot follow `last` in an intact chain; null when it does. */
export function chainProblem(last: ChainPlace, entry: AuditEntry): ChainProblem | null {
  const next = last.position + 1;
  const { position } = entry;
  if (position > next) return missingEntries(next, position - 1);
  if (position < next) return problemAt(position, 'was inserted');
  if (entry.previousHash !== last.hash) {
    return problemAt(position, 'does not have the hash of the entry before as previous_hash');
  }
  const isOwnHash = entry.hash === entryHash(entry.previousHash, entry);
  return isOwnHash ? null : problemAt(position, 'has another content than its hash');
}
