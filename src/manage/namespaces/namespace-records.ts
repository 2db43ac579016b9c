import type { JsonObject, JsonValue } from '../../../packages/exact-json/src/index.js';
import { nameOfKey } from '../../contract/call/namespace.js';
import { roleNamed, scopesOf } from '../../contract/call/scopes.js';
import type { EvaluatorRegistry } from '../../kernel/core/evaluator.js';
import type { BulkRow, BulkValue } from '../../storage/database/bulk.js';
import { readStoredRegistration } from '../agents/agent-schemas.js';
import { readStoredDefinition } from '../controls/definition-presentation.js';

const FINGERPRINT_DIGITS = 12;

/** One record of an exported namespace: as the JSON routes print what it is about. */
export interface NamespaceRecord {
  readonly kind:
    | 'namespace'
    | 'agent'
    | 'control'
    | 'policy'
    | 'control_binding'
    | 'pack_installation'
    | 'notification_destination'
    | 'key';
  readonly record: JsonObject;
}

export function namespaceRecord(name: string, [displayName, createdAtMs, revision]: BulkRow): JsonObject {
  return {
    name,
    display_name: String(displayName),
    created_at: timeOrNull(createdAtMs),
    revision: Number(revision),
  };
}

/** A registration that cannot be read is exported as its text. */
export function agentRecord(
  [id, key, data, version, stepSchemas]: BulkRow,
  links: ReadonlyMap<number, number[]>,
  policies: ReadonlyMap<number, number[]>,
): JsonObject {
  const registration = readStoredRegistration(String(data));
  const content: JsonObject =
    registration === undefined
      ? { agent: { agent_name: nameOfKey(String(key)) }, unreadable: String(data) }
      : { ...registration };
  return {
    ...content,
    version: Number(version),
    linked_control_ids: links.get(Number(id)) ?? [],
    policy_ids: policies.get(Number(id)) ?? [],
    step_schemas: textOrNull(stepSchemas) ?? 'default',
  };
}

/** A definition that cannot be read is exported as its text. */
export function controlRecord(
  [id, name, data, clonedFrom, version]: BulkRow,
  registry: EvaluatorRegistry,
): JsonObject {
  const stored = readStoredDefinition(String(data), registry);
  const definition = stored.ok ? stored.definition : null;
  return {
    id: Number(id),
    name: String(name),
    data: definition as JsonValue,
    ...(stored.ok ? {} : { unreadable: String(data) }),
    cloned_from_control_id: clonedFrom === null || clonedFrom === undefined ? null : Number(clonedFrom),
    version: Number(version ?? 0),
  };
}

export function policyRecord(
  [id, name, version, everyAgent, createdAtMs, updatedAtMs, agents]: BulkRow,
  members: ReadonlyMap<number, number[]>,
  labels: ReadonlyMap<number, string[]>,
): JsonObject {
  return {
    id: Number(id),
    name: nameOfKey(String(name)),
    control_ids: members.get(Number(id)) ?? [],
    version: Number(version),
    update_time: timeOrNull(updatedAtMs ?? createdAtMs),
    agent_count: Number(agents),
    create_time: timeOrNull(createdAtMs),
    every_agent: isTrue(everyAgent),
    agent_labels: labels.get(Number(id)) ?? [],
  };
}

export function bindingRecord(row: BulkRow): JsonObject {
  const [id, namespace, targetType, targetId, controlId, enabled, createdAtMs, updatedAtMs] = row;
  return {
    id: Number(id),
    namespace_key: String(namespace),
    target_type: String(targetType),
    target_id: String(targetId),
    control_id: Number(controlId),
    enabled: isTrue(enabled),
    created_at: timeOrNull(createdAtMs),
    updated_at: timeOrNull(updatedAtMs),
  };
}

/** With the control of each key, null where there is none. */
export function installationRecord(
  [id, pack, version, policyId, installedAtMs, updatedAtMs]: BulkRow,
  controls: ReadonlyMap<number, JsonObject[]>,
): JsonObject {
  return {
    installation_id: Number(id),
    pack_name: String(pack),
    version: String(version),
    policy_id: Number(policyId),
    installed_at: timeOrNull(installedAtMs),
    updated_at: timeOrNull(updatedAtMs),
    controls: controls.get(Number(id)) ?? [],
  };
}

/** Neither its URL nor its secret, with which messages could be sent. */
export function destinationRecord([
  id,
  name,
  type,
  recipients,
  kinds,
  enabled,
  createdAtMs,
  createdBy,
]: BulkRow): JsonObject {
  return {
    destination_id: Number(id),
    name: String(name),
    type: String(type),
    recipients: listOf(recipients),
    kinds: listOf(kinds),
    enabled: isTrue(enabled),
    created_at: timeOrNull(createdAtMs),
    created_by: textOrNull(createdBy),
  };
}

/** Neither a secret nor its hash, but for the fingerprint that all lists show. */
export function keyRecord(row: BulkRow): JsonObject {
  const [id, name, prefix, hash, owner, role, scopes, namespace, agents] = row;
  const [createdAtMs, createdBy, expiresAtMs, lastUsedS, rotatedAtMs, previousUntilMs, revokedAtMs] =
    row.slice(9);
  return {
    id: Number(id),
    name: String(name),
    prefix: String(prefix),
    fingerprint: String(hash).slice(0, FINGERPRINT_DIGITS),
    owner: textOrNull(owner),
    role: textOrNull(role),
    scopes: role === null ? listOf(scopes) : scopesOf(roleNamed(String(role))?.scopes ?? 0n),
    namespace: String(namespace),
    agents: listOf(agents),
    created_at: timeOrNull(createdAtMs),
    created_by: textOrNull(createdBy),
    expires_at: timeOrNull(expiresAtMs),
    last_used_at: lastUsedS === null ? null : timeOrNull(Number(lastUsedS) * 1000),
    rotated_at: timeOrNull(rotatedAtMs),
    previous_secret_until: timeOrNull(previousUntilMs),
    revoked_at: timeOrNull(revokedAtMs),
  };
}

type Value = BulkValue | undefined;

function textOrNull(value: Value): string | null {
  return value === null || value === undefined ? null : String(value);
}

function timeOrNull(ms: Value): string | null {
  return ms === null || ms === undefined ? null : new Date(Number(ms)).toISOString();
}

/** The sorted texts of a stored list. */
function listOf(stored: Value): string[] {
  return stored === null || stored === undefined ? [] : (JSON.parse(String(stored)) as string[]).sort();
}

/** A boolean of PostgreSQL; SQLite has numbers. */
function isTrue(value: Value): boolean {
  return value === true || value === 't' || value === 'true' || Number(value) === 1;
}
