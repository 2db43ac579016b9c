/**
 * The audit log: who changed what, written in the transaction of the change. The row of the revision, which that
 * transaction has locked, holds the end of the chain, so entries of all processes form one chain.
 */
import { createHash } from 'node:crypto';
import { Prisma } from '../../../gen/prisma/sqlite/client.js';
import { type JsonValue, parseStoredJson, stringifyJson } from '../../../packages/exact-json/src/index.js';
import type { CallContext, Principal } from '../../contract/call/handler.js';
import { DEFAULT_NAMESPACE, nameOfKey } from '../../contract/call/namespace.js';
import { maskMembers } from '../../contract/secrets/mask-members.js';
import { type AuditActor, type AuditContent, type ChainPlace, entryHash } from './audit-chain.js';
import type { DbClient } from './client.js';
import type { DatabaseLocation } from './database-url.js';

/** Longest JSON text of a state that is stored, in bytes of UTF-8. */
export const MAX_STATE_BYTES = 256 * 1024;
/** Most agents that an entry names; it tells the number of all. */
export const MAX_NAMED_AGENTS = 1_000;

/** What a change did. */
export interface AuditFact {
  /** A stable word: the resource, a dot and what was done, such as `control.create`. */
  readonly action: string;
  readonly resource:
    | 'agent'
    | 'control'
    | 'control_binding'
    | 'policy'
    | 'pack'
    | 'key'
    | 'namespace'
    | 'halt'
    | 'notification_destination'
    | 'notification_delivery'
    | 'approval'
    | 'configuration'
    | 'sampling_rule'
    | 'database';
  /** Name of an agent or a namespace, id of anything else: of the installation of a pack. */
  readonly id: string | null;
  /** Name of a control or policy after the change, or of a pack. */
  readonly name?: string;
  /** What was there before; null for nothing. Secrets are masked here. */
  readonly before: JsonValue;
  readonly after: JsonValue;
}

/** Who made a change, from where and when. */
export interface AuditOrigin {
  readonly actor: AuditActor;
  readonly address: string | null;
  readonly requestId: string | null;
  /** Name of the namespace of the caller; `default` for the service and its commands. */
  readonly namespace: string;
  /** Milliseconds since 1970. */
  readonly timeMs: number;
}

/** A change to be recorded. */
export interface AuditRecord extends AuditFact {
  readonly origin: AuditOrigin;
}

/** The actor of a call. */
export function actorOf({ level, name, keyFingerprint }: Principal): AuditActor {
  return { kind: level, name, keyFingerprint };
}

/** The origin of a change made by a call. */
export function originOfCall(
  { principal, address, requestId }: Pick<CallContext, 'principal' | 'address' | 'requestId'>,
  timeMs: number,
): AuditOrigin {
  return { actor: actorOf(principal), address, requestId, namespace: principal.namespace.name, timeMs };
}

/** The origin of a change that the service makes by itself. */
export function originOfService(timeMs: number): AuditOrigin {
  const actor = { kind: 'service', name: null, keyFingerprint: null } as const;
  return { actor, address: null, requestId: null, namespace: DEFAULT_NAMESPACE.name, timeMs };
}

/** A stored JSON text as a state. A text that cannot be parsed is replaced by its size: it cannot be masked. */
export function storedState(text: string): JsonValue {
  try {
    return parseStoredJson(text);
  } catch {
    return { unreadable: { bytes: Buffer.byteLength(text) } };
  }
}

/** The names that an entry lists of these agents, which are given by their names or keys. */
export function namedAgents(names: readonly string[]): { agents: string[]; agent_count: number } {
  return { agents: names.slice(0, MAX_NAMED_AGENTS).map(nameOfKey), agent_count: names.length };
}

/**
 * Adds the entry of a change that made `revision`, in its transaction, at the end of the chain; returns the new end. Null for
 * what made none.
 */
export async function appendEntry(
  tx: DbClient,
  kind: DatabaseLocation['kind'],
  end: ChainPlace,
  revision: number | null,
  record: AuditRecord,
): Promise<ChainPlace> {
  const { action, resource, origin } = record;
  const content: AuditContent = {
    position: end.position + 1,
    revision,
    ...origin,
    action,
    resource,
    // As the namespace of the entry knows it.
    resourceId: resource === 'agent' && record.id !== null ? nameOfKey(record.id) : record.id,
    resourceName: record.name ?? null,
    before: stateText(record.before),
    after: stateText(record.after),
  };
  const hash = entryHash(end.hash, content);
  const { actor } = content;
  const row = Prisma.sql`
    INSERT INTO "audit_entries" ("position", "revision", "time_ms", "actor_kind", "actor_name", "key_fingerprint",
      "address", "request_id", "action", "resource", "resource_id", "resource_name", "previous_hash", "hash",
      "namespace", "before", "after")
    VALUES (${BigInt(content.position)}, ${revision === null ? null : BigInt(revision)}, ${BigInt(content.timeMs)}, ${actor.kind}, ${actor.name},
      ${actor.keyFingerprint}, ${content.address}, ${content.requestId}, ${action}, ${resource},
      ${content.resourceId}, ${content.resourceName}, ${end.hash}, ${hash}, ${content.namespace}, ${content.before}, ${content.after})`;
  const head = Prisma.sql`
    UPDATE "service_state" SET "audit_position" = ${BigInt(content.position)}, "audit_hash" = ${hash} WHERE "id" = 1`;
  const place = { position: content.position, hash };
  if (kind === 'postgresql') {
    // One statement: each waits for the server.
    await tx.$executeRaw`WITH written AS (${row}) ${head}`;
    return place;
  }
  await tx.$executeRaw(row);
  await tx.$executeRaw(head);
  return place;
}

/** The JSON text of a state to be stored, masked; beyond the limit, its SHA-256 and size instead. */
function stateText(state: JsonValue): string | null {
  if (state === null) return null;
  const text = stringifyJson(maskMembers(state));
  const bytes = Buffer.byteLength(text);
  if (bytes <= MAX_STATE_BYTES) return text;
  return stringifyJson({ too_large: { sha256: createHash('sha256').update(text).digest('hex'), bytes } });
}
