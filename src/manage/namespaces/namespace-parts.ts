import { Prisma } from '../../../gen/prisma/sqlite/client.js';
import type { JsonObject } from '../../../packages/exact-json/src/index.js';
import { DEFAULT_NAMESPACE } from '../../contract/call/namespace.js';
import type { EvaluatorRegistry } from '../../kernel/core/evaluator.js';
import type { BulkReader, BulkRow } from '../../storage/database/bulk.js';
import { isStorable } from '../../storage/database/text.js';
import { labelText } from '../agents/agent-labels.js';
import {
  agentRecord,
  bindingRecord,
  controlRecord,
  destinationRecord,
  installationRecord,
  keyRecord,
  type NamespaceRecord,
  namespaceRecord,
  policyRecord,
} from './namespace-records.js';

/** Rows per reading: definitions and registrations may be large. */
const LARGE_ROWS = 50;
const SMALL_ROWS = 500;

/** The records of a namespace, in parts, as `read` sees it; nothing if there is no such namespace. */
export async function* exportedParts(
  read: BulkReader,
  name: string,
  registry: EvaluatorRegistry,
): AsyncGenerator<readonly NamespaceRecord[]> {
  const namespace = await namespaceOf(read, name);
  if (namespace === undefined) return;
  yield [{ kind: 'namespace', record: namespaceRecord(name, namespace) }];
  for await (const rows of agentPages(read, name)) {
    const links = await linksOf(read, 'agent_controls', 'agent_id', 'control_id', rows);
    const policies = await linksOf(read, 'agent_policies', 'agent_id', 'policy_id', rows);
    yield rows.map((row) => ({ kind: 'agent', record: agentRecord(row, links, policies) }));
  }
  for await (const rows of pages(read, LARGE_ROWS, controls(name))) {
    yield rows.map((row) => ({ kind: 'control', record: controlRecord(row, registry) }));
  }
  for await (const rows of pages(read, SMALL_ROWS, policiesQuery(name))) {
    const members = await linksOf(read, 'policy_controls', 'policy_id', 'control_id', rows);
    const labels = await labelsOf(read, rows);
    yield rows.map((row) => ({ kind: 'policy', record: policyRecord(row, members, labels) }));
  }
  for await (const rows of pages(read, SMALL_ROWS, bindings(name))) {
    yield rows.map((row) => ({ kind: 'control_binding', record: bindingRecord(row) }));
  }
  for await (const rows of pages(read, LARGE_ROWS, installations(name))) {
    const installed = await installedOf(read, rows);
    yield rows.map((row) => ({ kind: 'pack_installation', record: installationRecord(row, installed) }));
  }
  for await (const rows of pages(read, SMALL_ROWS, destinations(name))) {
    yield rows.map((row) => ({ kind: 'notification_destination', record: destinationRecord(row) }));
  }
  for await (const rows of pages(read, SMALL_ROWS, keys(name))) {
    yield rows.map((row) => ({ kind: 'key', record: keyRecord(row) }));
  }
}

type Rows = readonly BulkRow[];
/** A query for rows whose first column is their id, after an id, ascending by it. */
type PageQuery = (afterId: number, limit: number) => Prisma.Sql;

async function* pages(read: BulkReader, limit: number, query: PageQuery): AsyncGenerator<Rows> {
  for (let after = 0; ; ) {
    const rows = await read(query(after, limit));
    if (rows.length > 0) yield rows;
    if (rows.length < limit) return;
    after = Number(rows.at(-1)?.[0]);
  }
}

/** Its display name, its time of creation, and the revision. */
async function namespaceOf(read: BulkReader, name: string): Promise<BulkRow | undefined> {
  if (name === DEFAULT_NAMESPACE.name) {
    const [row] = await read(Prisma.sql`SELECT "revision" FROM "service_state" WHERE "id" = 1`);
    return row && [name, null, ...row];
  }
  if (!isStorable(name)) return undefined;
  const [row] = await read(Prisma.sql`
    SELECT n."display_name", n."created_at_ms", s."revision" FROM "namespaces" n CROSS JOIN "service_state" s
    WHERE n."name" = ${name} AND n."deleted_at_ms" IS NULL AND s."id" = 1`);
  return row;
}

/** Their ids are read before: there is no index of the agents of a namespace by id. */
async function* agentPages(read: BulkReader, name: string): AsyncGenerator<Rows> {
  const ids = await read(Prisma.sql`SELECT "id" FROM "agents" WHERE "namespace" = ${name} ORDER BY "id"`);
  for (let at = 0; at < ids.length; at += LARGE_ROWS) {
    yield await read(Prisma.sql`
      SELECT "id", "name", "data", "version", "step_schemas" FROM "agents"
      WHERE "id" IN (${idsOf(ids.slice(at, at + LARGE_ROWS))}) ORDER BY "id"`);
  }
}

function controls(name: string): PageQuery {
  return (after, limit) => Prisma.sql`
    SELECT c."id", c."name", c."data", c."cloned_from_id",
      (SELECT MAX(v."version_num") FROM "control_versions" v WHERE v."control_id" = c."id")
    FROM "controls" c WHERE c."namespace" = ${name} AND c."deleted_at_ms" IS NULL AND c."id" > ${after}
    ORDER BY c."id" LIMIT ${limit}`;
}

function policiesQuery(name: string): PageQuery {
  return (after, limit) => Prisma.sql`
    SELECT p."id", p."name", p."version", p."every_agent", p."created_at_ms", p."updated_at_ms",
      (SELECT COUNT(*) FROM "agent_policies" g WHERE g."policy_id" = p."id")
    FROM "policies" p WHERE p."namespace" = ${name} AND p."id" > ${after} ORDER BY p."id" LIMIT ${limit}`;
}

function bindings(name: string): PageQuery {
  return (after, limit) => Prisma.sql`
    SELECT "id", "namespace", "target_type", "target_id", "control_id", "enabled", "created_at_ms", "updated_at_ms"
    FROM "control_bindings" WHERE "namespace" = ${name} AND "id" > ${after} ORDER BY "id" LIMIT ${limit}`;
}

function installations(name: string): PageQuery {
  return (after, limit) => Prisma.sql`
    SELECT "id", "pack", "version", "policy_id", "installed_at_ms", "updated_at_ms"
    FROM "pack_installations" WHERE "namespace" = ${name} AND "id" > ${after} ORDER BY "id" LIMIT ${limit}`;
}

function destinations(name: string): PageQuery {
  return (after, limit) => Prisma.sql`
    SELECT "id", "name", "type", "recipients", "kinds", "enabled", "created_at_ms", "created_by"
    FROM "notification_destinations" WHERE "namespace" = ${name} AND "id" > ${after} ORDER BY "id" LIMIT ${limit}`;
}

function keys(name: string): PageQuery {
  return (after, limit) => Prisma.sql`
    SELECT "id", "name", "prefix", "hash", "owner", "role", "scopes", "namespace", "agents", "created_at_ms",
      "created_by", "expires_at_ms", "last_used_s", "rotated_at_ms", "previous_until_ms", "revoked_at_ms"
    FROM "api_keys" WHERE "namespace" = ${name} AND "id" > ${after} ORDER BY "id" LIMIT ${limit}`;
}

/** The members of each owner among these rows, ascending. */
async function linksOf(
  read: BulkReader,
  table: string,
  owner: string,
  member: string,
  rows: Rows,
): Promise<ReadonlyMap<number, number[]>> {
  const [from, one, other] = [table, owner, member].map((column) => Prisma.raw(`"${column}"`));
  const pairs = await read(Prisma.sql`
    SELECT ${one}, ${other} FROM ${from} WHERE ${one} IN (${idsOf(rows)}) ORDER BY ${one}, ${other}`);
  const members = new Map<number, number[]>();
  for (const [key, value] of pairs) {
    const found = members.get(Number(key));
    if (found === undefined) members.set(Number(key), [Number(value)]);
    else found.push(Number(value));
  }
  return members;
}

async function labelsOf(read: BulkReader, rows: Rows): Promise<ReadonlyMap<number, string[]>> {
  const found = await read(Prisma.sql`
    SELECT "policy_id", "name", "value" FROM "policy_labels" WHERE "policy_id" IN (${idsOf(rows)})
    ORDER BY "policy_id", "name"`);
  const labels = new Map<number, string[]>();
  for (const [policy, label, value] of found) {
    const text = labelText({ name: String(label), value: String(value) });
    labels.set(Number(policy), [...(labels.get(Number(policy)) ?? []), text]);
  }
  return labels;
}

async function installedOf(read: BulkReader, rows: Rows): Promise<ReadonlyMap<number, JsonObject[]>> {
  const found = await read(Prisma.sql`
    SELECT k."installation_id", k."key", c."id" FROM "pack_controls" k
    LEFT JOIN "controls" c ON c."id" = k."control_id" AND c."deleted_at_ms" IS NULL
    WHERE k."installation_id" IN (${idsOf(rows)}) ORDER BY k."installation_id", k."key"`);
  const installed = new Map<number, JsonObject[]>();
  for (const [installation, key, control] of found) {
    const id = Number(installation);
    const controlId = control === null || control === undefined ? null : Number(control);
    installed.set(id, [...(installed.get(id) ?? []), { key: String(key), control_id: controlId }]);
  }
  return installed;
}

function idsOf(rows: Rows): Prisma.Sql {
  return Prisma.join(rows.map(([id]) => Number(id)));
}
