import { Prisma } from '../../../gen/prisma/sqlite/client.js';
import { namespaceNamed } from '../../contract/call/namespace.js';
import { activeHaltsQuery, haltOf } from '../../decide/halts/halt-store.js';
import { liveKeyOf, liveKeysQuery } from '../../manage/keys/live-keys.js';
import type { BulkReader, BulkRow } from '../../storage/database/bulk.js';
import { columns, from, number, type ReadRow, text } from '../../storage/database/rows.js';
import { agentLine, controlLine, haltLine, keyLine, policyLine, type StateHeader } from './file-format.js';
import type { StateWriter } from './state-file.js';
import { AGENT, createStepsRecords, type KnownSchemas } from './steps-records.js';

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
  const targetsOf = groups(read, BINDING.read, bindings);
  for await (const rows of pages(read, CONTROL.read, controls, CONTROLS_AT_ONCE)) {
    for (const control of rows) {
      const targets = await targetsOf(control.id);
      withMetadata ||= mayReadMetadata(control.data);
      lines.add(controlLine({ ...control, targets: targets.map(targetOf) }));
    }
    await lines.drain();
  }
  const controlsOfPolicy = groups(read, PAIR.read, pairsOf('policy_controls', 'policy_id', 'control_id'));
  for await (const rows of pages(read, POLICY.read, policies)) {
    for (const { id } of rows) {
      lines.add(policyLine({ id, controlIds: (await controlsOfPolicy(id)).map(memberOf) }));
    }
    await lines.drain();
  }
  const controlsOfAgent = groups(read, PAIR.read, pairsOf('agent_controls', 'agent_id', 'control_id'));
  const policiesOfAgent = groups(read, PAIR.read, pairsOf('agent_policies', 'agent_id', 'policy_id'));
  for await (const rows of pages(read, AGENT.read, agents)) {
    const stepsOf = await steps.ofPage(rows, withMetadata);
    for (const row of rows) {
      const controlIds = (await controlsOfAgent(row.id)).map(memberOf);
      const policyIds = (await policiesOfAgent(row.id)).map(memberOf);
      lines.add(agentLine({ key: row.name, controlIds, policyIds, steps: stepsOf(row) }));
    }
    await lines.drain();
  }
  steps.forgetOthers();
  const keys: PageQuery = (last, limit) => liveKeysQuery(timeMs, last?.id, limit);
  for await (const rows of pages(read, liveKeyOf, keys)) {
    for (const key of rows) lines.add(keyLine(key));
    await lines.drain();
  }
  const halts: PageQuery = (last, limit) => activeHaltsQuery(timeMs, last?.id, limit);
  for await (const rows of pages(read, haltOf, halts)) {
    for (const halt of rows) lines.add(haltLine(halt));
    await lines.drain();
  }
  await lines.flush();
}

async function headerOf(read: BulkReader, timeMs: number): Promise<StateHeader> {
  const count = (of: Prisma.Sql) => from(Prisma.sql`(SELECT COUNT(*) FROM ${of})`, number);
  const header = columns({
    revision: number,
    instanceId: text,
    controls: count(Prisma.sql`"controls" WHERE "deleted_at_ms" IS NULL`),
    policies: count(Prisma.sql`"policies"`),
    agents: count(Prisma.sql`"agents"`),
    bindings: count(Prisma.sql`"control_bindings" WHERE "enabled" = ${true}`),
    keys: count(Prisma.sql`(${liveKeysQuery(timeMs)}) k`),
    halts: count(Prisma.sql`(${activeHaltsQuery(timeMs)}) a`),
  });
  const [row] = await read(Prisma.sql`SELECT ${header.list} FROM "service_state" WHERE "id" = 1`);
  if (row === undefined) throw new Error('the row of the revision is missing');
  return { ...header.read(row), timeMs };
}

/** Whether a definition may have an expression with metadata of the agent; only its evaluator knows. */
function mayReadMetadata(definition: string): boolean {
  return definition.includes('"cel"') && definition.includes('agent');
}

/** A query for the rows after `last`, in a fixed order; from the start without it. */
type PageQuery<Row = { readonly id: number }> = (last: Row | undefined, limit: number) => Prisma.Sql;

/** The rows of a query, page by page. */
async function* pages<Row>(
  read: BulkReader,
  rowOf: (row: BulkRow) => Row,
  query: PageQuery<Row>,
  limit: number = ROWS_AT_ONCE,
): AsyncGenerator<Row[], void> {
  for (let last: Row | undefined; ; ) {
    const rows = (await read(query(last, limit))).map(rowOf);
    if (rows.length > 0) yield rows;
    if (rows.length < limit) return;
    last = rows.at(-1);
  }
}

const CONTROL = columns({ id: number, name: text, data: text });
const controls: PageQuery = (last, limit) => Prisma.sql`
  SELECT ${CONTROL.list} FROM "controls"
  WHERE "id" > ${last?.id ?? 0} AND "deleted_at_ms" IS NULL ORDER BY "id" LIMIT ${limit}`;

const agents: PageQuery = (last, limit) => Prisma.sql`
  SELECT ${AGENT.list} FROM "agents" WHERE "id" > ${last?.id ?? 0} ORDER BY "id" LIMIT ${limit}`;

const POLICY = columns({ id: number });
const policies: PageQuery = (last, limit) => Prisma.sql`
  SELECT "id" FROM "policies" WHERE "id" > ${last?.id ?? 0} ORDER BY "id" LIMIT ${limit}`;

/** Pairs of ids, in order. */
const PAIR = columns({ owner: number, member: number });
type Pair = ReadRow<typeof PAIR>;

function pairsOf(table: string, owner: string, member: string): PageQuery<Pair> {
  const [of, one, other] = [table, owner, member].map((name) => Prisma.raw(`"${name}"`));
  return (last, limit) => Prisma.sql`
    SELECT ${one}, ${other} FROM ${of}
    WHERE (${one}, ${other}) > (${last?.owner ?? 0}, ${last?.member ?? 0})
    ORDER BY ${one}, ${other} LIMIT ${limit}`;
}

const memberOf = ({ member }: Pair): number => member;

/** Enabled bindings by control, in order. */
const BINDING = columns({
  owner: from(Prisma.sql`"control_id"`, number),
  member: from(Prisma.sql`"id"`, number),
  namespace: text,
  targetType: text,
  targetId: text,
});
const bindings: PageQuery<Pair> = (last, limit) => Prisma.sql`
  SELECT ${BINDING.list} FROM "control_bindings"
  WHERE ("control_id", "id") > (${last?.owner ?? 0}, ${last?.member ?? 0}) AND "enabled" = ${true}
  ORDER BY "control_id", "id" LIMIT ${limit}`;

function targetOf({ namespace, targetType: type, targetId: id }: ReadRow<typeof BINDING>) {
  return namespaceNamed(namespace).targetKey({ type, id });
}

/** Returns the rows of each owner; must be called with ascending ids. */
function groups<Row extends Pair>(
  read: BulkReader,
  rowOf: (row: BulkRow) => Row,
  query: PageQuery<Row>,
): (owner: number) => Promise<Row[]> {
  const parts = pages(read, rowOf, query);
  let rows: Row[] = [];
  let at = 0;
  let ended = false;
  /** The next row, without consuming it. */
  async function next(): Promise<Row | undefined> {
    while (at >= rows.length && !ended) {
      const part = await parts.next();
      ended = part.done === true;
      rows = part.done === true ? [] : part.value;
      at = 0;
    }
    return rows[at];
  }
  return async (owner) => {
    const found: Row[] = [];
    for (;;) {
      const row = rows[at] ?? (await next());
      if (row === undefined || row.owner > owner) return found;
      at += 1;
      if (row.owner === owner) found.push(row);
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
