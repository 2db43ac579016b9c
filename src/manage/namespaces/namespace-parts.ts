import { Prisma } from '../../../gen/prisma/sqlite/client.js';
import type { JsonObject } from '../../../packages/exact-json/src/index.js';
import { DEFAULT_NAMESPACE } from '../../contract/call/namespace.js';
import type { EvaluatorRegistry } from '../../kernel/core/evaluator.js';
import type { BulkReader } from '../../storage/database/bulk.js';
import {
  type Columns,
  columns,
  from,
  nullable,
  number,
  type ReadRow,
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
  const own = Prisma.sql`WHERE "namespace" = ${name}`;
  const ofControls = Prisma.sql`"controls" c ${own} AND "deleted_at_ms" IS NULL`;
  for await (const rows of pages(read, LARGE_ROWS, CONTROL, ofControls)) {
    yield rows.map((row) => ({ kind: 'control', record: controlRecord(row, registry) }));
  }
  for await (const rows of pages(read, SMALL_ROWS, POLICY, Prisma.sql`"policies" p ${own}`)) {
    const members = await linksOf(read, 'policy_controls', 'policy_id', 'control_id', rows);
    const labels = await labelsOf(read, rows);
    yield rows.map(({ id, name, ...policy }) => {
      const [control_ids, agent_labels] = [members.get(id) ?? [], labels.get(id) ?? []];
      return { kind: 'policy', record: { id, name, control_ids, ...policy, agent_labels } };
    });
  }
  for await (const rows of pages(read, SMALL_ROWS, BINDING, Prisma.sql`"control_bindings" ${own}`)) {
    yield rows.map((record) => ({ kind: 'control_binding', record }));
  }
  for await (const rows of pages(read, LARGE_ROWS, INSTALLATION, Prisma.sql`"pack_installations" ${own}`)) {
    const installed = await installedOf(read, rows);
    yield rows.map(({ id, ...pack }) => {
      // With the control of each key, null where there is none.
      const record = { installation_id: id, ...pack, controls: installed.get(id) ?? [] };
      return { kind: 'pack_installation', record };
    });
  }
  for await (const rows of pages(
    read,
    SMALL_ROWS,
    DESTINATION,
    Prisma.sql`"notification_destinations" ${own}`,
  )) {
    yield rows.map(({ id, ...destination }) => {
      return { kind: 'notification_destination', record: { destination_id: id, ...destination } };
    });
  }
  for await (const rows of pages(read, SMALL_ROWS, KEY, Prisma.sql`"api_keys" ${own}`)) {
    yield rows.map((row) => ({ kind: 'key', record: keyRecord(row) }));
  }
}

type Rows = readonly { readonly id: number }[];

/** The rows of a table that pass a condition, ascending by id. `table` ends with the condition. */
async function* pages<Row extends Rows[number]>(
  read: BulkReader,
  limit: number,
  columns: Columns<Row>,
  table: Prisma.Sql,
): AsyncGenerator<Row[]> {
  for (let after = 0; ; ) {
    const found = await read(Prisma.sql`
      SELECT ${columns.list} FROM ${table} AND "id" > ${after} ORDER BY "id" LIMIT ${limit}`);
    const rows = found.map(columns.read);
    if (rows.length > 0) yield rows;
    if (rows.length < limit) return;
    after = rows.at(-1)?.id ?? after;
  }
}

async function namespaceOf(read: BulkReader, name: string): Promise<JsonObject | undefined> {
  if (name === DEFAULT_NAMESPACE.name) {
    const [row] = await read(Prisma.sql`SELECT "revision" FROM "service_state" WHERE "id" = 1`);
    return row && { name, display_name: name, created_at: null, revision: Number(row[0]) };
  }
  if (!isStorable(name)) return undefined;
  const [row] = await read(Prisma.sql`
    SELECT ${NAMESPACE.list} FROM "namespaces" WHERE "name" = ${name} AND "deleted_at_ms" IS NULL`);
  return row && NAMESPACE.read(row);
}

/** Their ids are read before: there is no index of the agents of a namespace by id. */
async function* agentPages(read: BulkReader, name: string): AsyncGenerator<ReadRow<typeof AGENT>[]> {
  const found = await read(Prisma.sql`SELECT "id" FROM "agents" WHERE "namespace" = ${name} ORDER BY "id"`);
  const ids = found.map(ID.read);
  for (let at = 0; at < ids.length; at += LARGE_ROWS) {
    const rows = await read(Prisma.sql`
      SELECT ${AGENT.list} FROM "agents" WHERE "id" IN (${idsOf(ids.slice(at, at + LARGE_ROWS))}) ORDER BY "id"`);
    yield rows.map(AGENT.read);
  }
}

/** The members of each owner among these rows, ascending. */
async function linksOf(read: BulkReader, table: string, owner: string, member: string, rows: Rows) {
  const [of, one, other] = [table, owner, member].map((column) => Prisma.raw(`"${column}"`));
  const pairs = await read(Prisma.sql`
    SELECT ${one}, ${other} FROM ${of} WHERE ${one} IN (${idsOf(rows)}) ORDER BY ${one}, ${other}`);
  return grouped(pairs.map(PAIR.read));
}

async function labelsOf(read: BulkReader, rows: Rows) {
  const found = await read(Prisma.sql`
    SELECT ${LABEL.list} FROM "policy_labels" WHERE "policy_id" IN (${idsOf(rows)}) ORDER BY "policy_id", "name"`);
  return grouped(found.map(LABEL.read).map((row) => ({ owner: row.policyId, member: labelText(row) })));
}

async function installedOf(read: BulkReader, rows: Rows) {
  const found = await read(Prisma.sql`
    SELECT ${INSTALLED.list} FROM "pack_controls" k
    LEFT JOIN "controls" c ON c."id" = k."control_id" AND c."deleted_at_ms" IS NULL
    WHERE k."installation_id" IN (${idsOf(rows)}) ORDER BY k."installation_id", k."key"`);
  return grouped(
    found.map(INSTALLED.read).map(({ installationId: owner, ...member }) => ({ owner, member })),
  );
}

const ID = columns({ id: number });
const PAIR = columns({ owner: number, member: number });
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

function idsOf(rows: Rows): Prisma.Sql {
  return Prisma.join(rows.map(({ id }) => id));
}
