import { Prisma } from '../../../gen/prisma/sqlite/client.js';
import { type AgentKey, namespaceNamed } from '../../contract/call/namespace.js';
import { activeHaltsQuery, haltOf } from '../../decide/halts/halt-store.js';
import { liveKeyOf, liveKeysQuery } from '../../manage/keys/live-keys.js';
import type { BulkReader } from '../../storage/database/bulk.js';
import { agentLine, controlLine, haltLine, keyLine, policyLine, type StateHeader } from './file-format.js';
import type { StateWriter } from './state-file.js';
import { createStepsRecords, type KnownSchemas } from './steps-records.js';

/** Rows of ids and names per query: a few milliseconds of work on the main thread. */
const ROWS_AT_ONCE = 500;
/** Definitions per query; each may be large. */
const CONTROLS_AT_ONCE = 50;
/** Characters per write. */
const TEXT_AT_ONCE = 256 * 1024;

/**
 * Writes the state that verdicts depend on, as read from the database by `read`. `timeMs` must not be after
 * that moment. Works in small parts, so as not to block other work.
 */
export async function writeDatabaseState(
  read: BulkReader,
  timeMs: number,
  writer: StateWriter,
  known: KnownSchemas = new Map(),
): Promise<void> {
  const steps = createStepsRecords(read, known);
  await writer.header(await headerOf(read, timeMs));
  const lines = new LineBuffer(writer);
  /** Whether some control may read the metadata of agents. */
  let withMetadata = false;
  const targetsOf = groups(read, bindings, targetOfRow);
  for await (const rows of pages(read, controls, CONTROLS_AT_ONCE)) {
    for (const [key, name, data] of rows) {
      const id = Number(key);
      const targets = await targetsOf(id);
      withMetadata ||= mayReadMetadata(String(data));
      lines.add(controlLine({ id, name: String(name), data: String(data), targets }));
    }
    await lines.drain();
  }
  const controlsOfPolicy = groups(read, pairsOf('policy_controls', 'policy_id', 'control_id'), memberOf);
  for await (const rows of pages(read, policies)) {
    for (const [key] of rows) {
      const id = Number(key);
      lines.add(policyLine({ id, controlIds: await controlsOfPolicy(id) }));
    }
    await lines.drain();
  }
  const controlsOfAgent = groups(read, pairsOf('agent_controls', 'agent_id', 'control_id'), memberOf);
  const policiesOfAgent = groups(read, pairsOf('agent_policies', 'agent_id', 'policy_id'), memberOf);
  for await (const rows of pages(read, agents)) {
    const stepsOf = await steps.ofPage(rows, withMetadata);
    for (const row of rows) {
      const id = Number(row[0]);
      const controlIds = await controlsOfAgent(id);
      const policyIds = await policiesOfAgent(id);
      lines.add(agentLine({ key: String(row[1]) as AgentKey, controlIds, policyIds, steps: stepsOf(row) }));
    }
    await lines.drain();
  }
  steps.forgetOthers();
  const keys: PageQuery = (last, limit) => liveKeysQuery(timeMs, idAfter(last), limit);
  for await (const rows of pages(read, keys)) {
    for (const row of rows) lines.add(keyLine(liveKeyOf(row)));
    await lines.drain();
  }
  const halts: PageQuery = (last, limit) => activeHaltsQuery(timeMs, idAfter(last), limit);
  for await (const rows of pages(read, halts)) {
    for (const row of rows) lines.add(haltLine(haltOf(row)));
    await lines.drain();
  }
  await lines.flush();
}

async function headerOf(read: BulkReader, timeMs: number): Promise<StateHeader> {
  const [row] = await read(Prisma.sql`
    SELECT s."revision", s."instance_id",
      (SELECT COUNT(*) FROM "controls" WHERE "deleted_at_ms" IS NULL),
      (SELECT COUNT(*) FROM "policies"), (SELECT COUNT(*) FROM "agents"),
      (SELECT COUNT(*) FROM "control_bindings" WHERE "enabled" = ${true}),
      (SELECT COUNT(*) FROM (${liveKeysQuery(timeMs)}) k),
      (SELECT COUNT(*) FROM (${activeHaltsQuery(timeMs)}) a)
    FROM "service_state" s WHERE s."id" = 1`);
  if (row === undefined) throw new Error('the row of the revision is missing');
  const [revision, instanceId, controlCount, policyCount, agentCount, bindingCount, keyCount, haltCount] =
    row;
  return {
    revision: Number(revision),
    instanceId: String(instanceId),
    timeMs,
    controls: Number(controlCount),
    policies: Number(policyCount),
    agents: Number(agentCount),
    keys: Number(keyCount),
    halts: Number(haltCount),
    bindings: Number(bindingCount),
  };
}

type Rows = Awaited<ReturnType<BulkReader>>;
/** Whether a definition may have an expression with metadata of the agent; only its evaluator knows. */
function mayReadMetadata(definition: string): boolean {
  return definition.includes('"cel"') && definition.includes('agent');
}

/** A query for the rows after `last`, in a fixed order; from the start without it. */
type PageQuery = (last: Rows[number] | undefined, limit: number) => Prisma.Sql;

/** The rows of a query, page by page. */
async function* pages(
  read: BulkReader,
  query: PageQuery,
  limit: number = ROWS_AT_ONCE,
): AsyncGenerator<Rows, void> {
  for (let last: Rows[number] | undefined; ; ) {
    const rows = await read(query(last, limit));
    if (rows.length > 0) yield rows;
    if (rows.length < limit) return;
    last = rows.at(-1);
  }
}

const controls: PageQuery = (last, limit) => Prisma.sql`
  SELECT "id", "name", "data" FROM "controls"
  WHERE "id" > ${idAfter(last)} AND "deleted_at_ms" IS NULL ORDER BY "id" LIMIT ${limit}`;

const agents: PageQuery = (last, limit) => Prisma.sql`
  SELECT "id", "name", "step_schemas", "version", "created_at_ms" FROM "agents"
  WHERE "id" > ${idAfter(last)} ORDER BY "id" LIMIT ${limit}`;

const policies: PageQuery = (last, limit) => Prisma.sql`
  SELECT "id" FROM "policies" WHERE "id" > ${idAfter(last)} ORDER BY "id" LIMIT ${limit}`;

/** Enabled bindings by control, in order. */
const bindings: PageQuery = (last, limit) => Prisma.sql`
  SELECT "control_id", "id", "namespace", "target_type", "target_id" FROM "control_bindings"
  WHERE ("control_id", "id") > (${idAfter(last)}, ${Number(last?.[1] ?? 0)}) AND "enabled" = ${true}
  ORDER BY "control_id", "id" LIMIT ${limit}`;

function targetOfRow([, , namespace, type, id]: Rows[number]) {
  return namespaceNamed(String(namespace)).targetKey({ type: String(type), id: String(id) });
}

/** Pairs of ids, in order. */
function pairsOf(table: string, owner: string, member: string): PageQuery {
  const [from, one, other] = [table, owner, member].map((name) => Prisma.raw(`"${name}"`));
  return (last, limit) => Prisma.sql`
    SELECT ${one}, ${other} FROM ${from}
    WHERE (${one}, ${other}) > (${idAfter(last)}, ${Number(last?.[1] ?? 0)})
    ORDER BY ${one}, ${other} LIMIT ${limit}`;
}

function idAfter(last: Rows[number] | undefined): number {
  return Number(last?.[0] ?? 0);
}

const memberOf = (pair: Rows[number]): number => Number(pair[1]);

/** Returns the members of each owner; must be called with ascending ids. */
function groups<Member>(
  read: BulkReader,
  query: PageQuery,
  toMember: (row: Rows[number]) => Member,
): (owner: number) => Promise<Member[]> {
  const parts = pages(read, query);
  let rows: Rows = [];
  let at = 0;
  let ended = false;
  /** The next pair, without consuming it. */
  async function next(): Promise<Rows[number] | undefined> {
    while (at >= rows.length && !ended) {
      const part = await parts.next();
      ended = part.done === true;
      rows = part.done === true ? [] : part.value;
      at = 0;
    }
    return rows[at];
  }
  return async (owner) => {
    const members: Member[] = [];
    for (;;) {
      const pair = rows[at] ?? (await next());
      if (pair === undefined || Number(pair[0]) > owner) return members;
      at += 1;
      if (Number(pair[0]) === owner) members.push(toMember(pair));
    }
  };
}

/** Buffers lines, because each write goes through the thread pool of Node.js. */
class LineBuffer {
  readonly #writer: StateWriter;
  #text = '';

  constructor(writer: StateWriter) {
    this.#writer = writer;
  }

  add(line: string): void {
    this.#text += line;
  }

  /** Writes the buffer if it is large enough. */
  async drain(): Promise<void> {
    if (this.#text.length >= TEXT_AT_ONCE) await this.flush();
  }

  async flush(): Promise<void> {
    const text = this.#text;
    this.#text = '';
    if (text !== '') await this.#writer.lines(text);
  }
}
