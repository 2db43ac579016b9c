import { Prisma } from '../../../gen/prisma/sqlite/client.js';
import type { JsonObject } from '../../../packages/exact-json/src/index.js';
import { DEFAULT_NAMESPACE } from '../../contract/call/namespace.js';
import type { EvaluatorRegistry } from '../../kernel/core/evaluator.js';
import type { BulkReader } from '../../storage/database/bulk.js';
import { portionsOf } from '../../storage/database/in-portions.js';
import {
  columns,
  from,
  nullable,
  number,
  pages,
  type ReadRow,
  select,
  text,
} from '../../storage/database/rows.js';
import { isStorable } from '../../storage/database/text.js';
import { labelText } from '../agents/agent-labels.js';
import {
  AGENT,
  agentRecord,
  BINDING,
  CONTROL,
  controlRecord,
  DESTINATION,
  INSTALLATION,
  KEY,
  keyRecord,
  NAMESPACE,
  type NamespaceRecord,
  POLICY,
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
  yield [{ kind: 'namespace', record: namespace }];
  for await (const rows of agentPages(read, name)) {
    const links = await linksOf(read, 'agent_controls', 'agent_id', 'control_id', rows);
    const policies = await linksOf(read, 'agent_policies', 'agent_id', 'policy_id', rows);
    yield rows.map((row) => ({ kind: 'agent', record: agentRecord(row, links, policies) }));
  }
  /** From FROM on, a query for rows of the namespace; `and` is a further condition. */
  const own =
    (table: string, and = '') =>
    (last: Row | undefined) =>
      Prisma.sql`
    FROM ${Prisma.raw(table)} WHERE "namespace" = ${name} ${Prisma.raw(and)} AND "id" > ${last?.id ?? 0} ORDER BY "id"`;
  const living = own('"controls" c', 'AND "deleted_at_ms" IS NULL');
  for await (const rows of pages(CONTROL, read, LARGE_ROWS, living)) {
    yield rows.map((row) => ({ kind: 'control', record: controlRecord(row, registry) }));
  }
  for await (const rows of pages(POLICY, read, SMALL_ROWS, own('"policies" p'))) {
    const members = await linksOf(read, 'policy_controls', 'policy_id', 'control_id', rows);
    const labels = await labelsOf(read, rows);
    yield rows.map(({ id, name, ...policy }) => {
      const [control_ids, agent_labels] = [members.get(id) ?? [], labels.get(id) ?? []];
      return { kind: 'policy', record: { id, name, control_ids, ...policy, agent_labels } };
    });
  }
  for await (const rows of pages(BINDING, read, SMALL_ROWS, own('"control_bindings"'))) {
    yield rows.map((record) => ({ kind: 'control_binding', record }));
  }
  for await (const rows of pages(INSTALLATION, read, LARGE_ROWS, own('"pack_installations"'))) {
    const installed = await installedOf(read, rows);
    yield rows.map(({ id, ...pack }) => {
      // With the control of each key, null where there is none.
      const record = { installation_id: id, ...pack, controls: installed.get(id) ?? [] };
      return { kind: 'pack_installation', record };
    });
  }
  for await (const rows of pages(DESTINATION, read, SMALL_ROWS, own('"notification_destinations"'))) {
    yield rows.map(({ id, ...destination }) => {
      return { kind: 'notification_destination', record: { destination_id: id, ...destination } };
    });
  }
  for await (const rows of pages(KEY, read, SMALL_ROWS, own('"api_keys"'))) {
    yield rows.map((row) => ({ kind: 'key', record: keyRecord(row) }));
  }
}

interface Row {
  readonly id: number;
}

async function namespaceOf(read: BulkReader, name: string): Promise<JsonObject | undefined> {
  if (name === DEFAULT_NAMESPACE.name) {
    const [row] = await select(REVISION, read)`FROM "service_state" WHERE "id" = 1`;
    return row && { name, display_name: name, created_at: null, ...row };
  }
  if (!isStorable(name)) return undefined;
  const [row] = await select(NAMESPACE, read)`
    FROM "namespaces" WHERE "name" = ${name} AND "deleted_at_ms" IS NULL`;
  return row;
}

/** Their ids are read before: there is no index of the agents of a namespace by id. */
async function* agentPages(read: BulkReader, name: string): AsyncGenerator<ReadRow<typeof AGENT>[]> {
  const ids = await select(ID, read)`FROM "agents" WHERE "namespace" = ${name} ORDER BY "id"`;
  for (const page of portionsOf(ids, LARGE_ROWS)) {
    yield await select(AGENT, read)`FROM "agents" WHERE "id" IN (${idsOf(page)}) ORDER BY "id"`;
  }
}

/** The members of each owner among these rows, ascending. */
async function linksOf(read: BulkReader, table: string, owner: string, member: string, rows: readonly Row[]) {
  const [of, one = Prisma.empty, other = Prisma.empty] = [table, owner, member].map((name) =>
    Prisma.raw(`"${name}"`),
  );
  const pair = columns({ owner: from(one, number), member: from(other, number) });
  const found = await select(
    pair,
    read,
  )`FROM ${of} WHERE ${one} IN (${idsOf(rows)}) ORDER BY ${one}, ${other}`;
  return grouped(found);
}

async function labelsOf(read: BulkReader, rows: readonly Row[]) {
  const found = await select(LABEL, read)`
    FROM "policy_labels" WHERE "policy_id" IN (${idsOf(rows)}) ORDER BY "policy_id", "name"`;
  return grouped(found.map((row) => ({ owner: row.policyId, member: labelText(row) })));
}

async function installedOf(read: BulkReader, rows: readonly Row[]) {
  const found = await select(INSTALLED, read)`
    FROM "pack_controls" k LEFT JOIN "controls" c ON c."id" = k."control_id" AND c."deleted_at_ms" IS NULL
    WHERE k."installation_id" IN (${idsOf(rows)}) ORDER BY k."installation_id", k."key"`;
  return grouped(found.map(({ installationId: owner, ...member }) => ({ owner, member })));
}

const ID = columns({ id: number });
const REVISION = columns({ revision: number });
const LABEL = columns({ policyId: number, name: text, value: text });
const INSTALLED = columns(
  { installationId: number, key: text, control_id: from(Prisma.sql`c."id"`, nullable(number)) },
  'k',
);

function grouped<T>(found: readonly { readonly owner: number; readonly member: T }[]): Map<number, T[]> {
  const members = new Map<number, T[]>();
  for (const { owner, member } of found) {
    const others = members.get(owner);
    if (others === undefined) members.set(owner, [member]);
    else others.push(member);
  }
  return members;
}

function idsOf(rows: readonly Row[]): Prisma.Sql {
  return Prisma.join(rows.map(({ id }) => id));
}
